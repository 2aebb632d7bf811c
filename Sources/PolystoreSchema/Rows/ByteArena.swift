#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// An allocator for bytes with a common lifetime: they are copied in one by one and freed together. Addresses remain valid until `reset()`.
@usableFromInline package struct ByteArena: ~Copyable {
    /// The size of the chunk that is kept for reuse, and the size up to which chunks grow.
    private static let usualSize = 64 << 10
    /// The size of the first chunk in bytes, unless a larger allocation is requested.
    private let firstSize: Int

    private var chunks: [UnsafeMutableRawBufferPointer] = []
    /// The free part of the last chunk.
    private var free: UnsafeMutableRawPointer
    private var end: UnsafeMutableRawPointer
    /// The number of bytes allocated since the last reset.
    package private(set) var used = 0

    /// Creates an empty arena. No memory is allocated before the first byte is.
    ///
    /// - Parameter expected: The expected number of bytes. A small number saves memory for batches with few rows. Chunks double in size.
    package init(expecting expected: Int = 64 << 10) {
        firstSize = Swift.min(Swift.max(expected, 64), Self.usualSize)
        free = UnsafeMutableRawPointer(bitPattern: 16).unsafelyUnwrapped
        end = free
    }

    deinit { for chunk in chunks { chunk.deallocate() } }

    /// Frees all bytes. The largest chunk that does not exceed the usual size is kept.
    @inline(__always)
    package mutating func reset() {
        if used > 0 { forget() }
    }

    @inline(never)
    private mutating func forget() {
        // There is nearly always a single chunk, and lookups of single rows reset the arena each time.
        if chunks.count > 1 || chunks[0].count > Self.usualSize { keepOne() }
        free = chunks.first?.baseAddress ?? end
        end = free + (chunks.first?.count ?? 0)
        used = 0
    }

    private mutating func keepOne() {
        let kept = chunks.indices.filter { chunks[$0].count <= Self.usualSize }.max { chunks[$0].count < chunks[$1].count }
        for index in chunks.indices where index != kept { chunks[index].deallocate() }
        chunks = kept.map { [chunks[$0]] } ?? []
    }

    /// Allocates `count` bytes, aligned to 8.
    @inline(__always)
    package mutating func allocate(_ count: Int) -> UnsafeMutableRawPointer {
        let size = (count &+ 7) & ~7
        used &+= size
        if size > end - free { addChunk(size) }
        defer { free += size }
        return free
    }

    @inline(never)
    private mutating func addChunk(_ size: Int) {
        let count = Swift.max(size, chunks.isEmpty ? firstSize : Swift.min((chunks.last?.count ?? 0) * 2, Self.usualSize))
        free = .allocate(byteCount: count, alignment: 16)
        end = free + count
        chunks.append(UnsafeMutableRawBufferPointer(start: free, count: count))
    }

    /// Copies `bytes` into the arena.
    @inline(__always)
    package mutating func copy(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawPointer {
        let target = allocate(bytes.count)
        if let source = bytes.baseAddress, bytes.count > 0 { memcpy(target, source, bytes.count) }
        return UnsafeRawPointer(target)
    }

    /// Copies a cell, with its bytes, if it has any, copied into the arena.
    package mutating func copy(_ cell: Cell) -> Cell {
        switch cell.kind {
        case .null, .int, .real: cell
        case .text, .blob: Cell(bits: UInt64(UInt(bitPattern: copy(cell.bytes))), length: cell.length, kind: cell.kind)
        }
    }
}
