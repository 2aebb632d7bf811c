#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// Bytes with one life: they are copied in one by one and forgotten together. Addresses stay valid until `reset()`.
public struct ByteArena: ~Copyable {
    private static let chunkSize = 64 << 10

    private var chunks: [UnsafeMutableRawBufferPointer] = []
    private var current = 0
    private var offset = 0
    /// The bytes handed out since the last reset.
    public private(set) var used = 0

    /// An empty arena; nothing is allocated before the first byte.
    public init() {}

    deinit { for chunk in chunks { chunk.deallocate() } }

    /// Forgets all bytes; one chunk of the usual size is kept.
    @inline(__always)
    public mutating func reset() {
        if used > 0 { forget() }
    }

    @inline(never)
    private mutating func forget() {
        while chunks.count > 1 || (chunks.first?.count ?? 0) > Self.chunkSize { chunks.removeLast().deallocate() }
        current = 0
        offset = 0
        used = 0
    }

    /// Room for `count` bytes, aligned to 8.
    public mutating func allocate(_ count: Int) -> UnsafeMutableRawPointer {
        let size = (Swift.max(count, 1) + 7) & ~7
        used += size
        if current < chunks.count, offset + size <= chunks[current].count, let base = chunks[current].baseAddress {
            defer { offset += size }
            return base + offset
        }
        let chunk = UnsafeMutableRawPointer.allocate(byteCount: Swift.max(size, Self.chunkSize), alignment: 16)
        chunks.append(UnsafeMutableRawBufferPointer(start: chunk, count: Swift.max(size, Self.chunkSize)))
        current = chunks.count - 1
        offset = size
        return chunk
    }

    /// A copy of `bytes`.
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
