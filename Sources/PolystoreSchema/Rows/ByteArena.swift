#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// Bytes with one life: they are copied in one by one and forgotten together. Addresses stay valid until `reset()`.
public struct ByteArena: ~Copyable {
    private static let chunkSize = 64 << 10

    private var chunks: [UnsafeMutableRawBufferPointer] = []
    /// The free part of the last chunk.
    private var free: UnsafeMutableRawPointer
    private var end: UnsafeMutableRawPointer
    /// The bytes handed out since the last reset.
    public private(set) var used = 0

    /// An empty arena; nothing is allocated before the first byte.
    public init() {
        free = UnsafeMutableRawPointer(bitPattern: 16).unsafelyUnwrapped
        end = free
    }

    deinit { for chunk in chunks { chunk.deallocate() } }

    /// Forgets all bytes; one chunk of the usual size is kept.
    @inline(__always)
    public mutating func reset() {
        if used > 0 { forget() }
    }

    @inline(never)
    private mutating func forget() {
        while chunks.count > 1 || (chunks.first?.count ?? 0) > Self.chunkSize { chunks.removeLast().deallocate() }
        guard let base = chunks.first?.baseAddress else { return }
        free = base
        end = base + chunks[0].count
        used = 0
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
        let count = Swift.max(size, Self.chunkSize)
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
