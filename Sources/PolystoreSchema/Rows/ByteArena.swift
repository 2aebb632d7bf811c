#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// Bytes with one life: they are copied in one by one and forgotten together. Addresses stay valid until `reset()`.
public struct ByteArena: ~Copyable {
    /// The size of a chunk that is kept for the next bytes, and up to which chunks grow.
    private static let usualSize = 64 << 10
    /// The bytes of the first chunk, unless more are asked for.
    private let firstSize: Int

    private var chunks: [UnsafeMutableRawBufferPointer] = []
    /// The free part of the last chunk.
    private var free: UnsafeMutableRawPointer
    private var end: UnsafeMutableRawPointer
    /// The bytes handed out since the last reset.
    public private(set) var used = 0

    /// An empty arena; nothing is allocated before the first byte.
    ///
    /// - Parameter expected: The number of bytes that are likely to come: those of few rows take little memory. Chunks double.
    public init(expecting expected: Int = 64 << 10) {
        firstSize = Swift.min(Swift.max(expected, 64), Self.usualSize)
        free = UnsafeMutableRawPointer(bitPattern: 16).unsafelyUnwrapped
        end = free
    }

    deinit { for chunk in chunks { chunk.deallocate() } }

    /// Forgets all bytes; the largest chunk of at most the usual size is kept.
    @inline(__always)
    public mutating func reset() {
        if used > 0 { forget() }
    }

    @inline(never)
    private mutating func forget() {
        // Nearly always there is one, and look-ups of single rows forget each time.
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

    /// Room for `count` bytes, aligned to 8.
    @inline(__always)
    public mutating func allocate(_ count: Int) -> UnsafeMutableRawPointer {
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

    /// A copy of `bytes`.
    @inline(__always)
    public mutating func copy(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawPointer {
        let target = allocate(bytes.count)
        if let source = bytes.baseAddress, bytes.count > 0 { memcpy(target, source, bytes.count) }
        return UnsafeRawPointer(target)
    }

    /// A cell whose bytes, if it has any, lie in the arena.
    public mutating func copy(_ cell: Cell) -> Cell {
        switch cell.kind {
        case .null, .int, .real: cell
        case .text, .blob: Cell(bits: UInt64(UInt(bitPattern: copy(cell.bytes))), length: cell.length, kind: cell.kind)
        }
    }
}
