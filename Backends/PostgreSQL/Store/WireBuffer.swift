#if PostgreSQL
internal import PolystoreFoundation
internal import PolystoreStorage

/// A buffer for bytes to send to the server, in raw memory: appending to an array byte by byte takes longer than the server needs for a
/// row.
final class WireBuffer {
    private var base: UnsafeMutableRawPointer
    private var capacity: Int
    private(set) var count = 0

    init(capacity: Int) {
        self.capacity = max(capacity, 64)
        base = .allocate(byteCount: self.capacity, alignment: 16)
    }

    deinit { base.deallocate() }

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

    /// Removes the bytes and keeps the memory.
    func clear() { count = 0 }

    /// Appends a number in network byte order.
    @inline(__always)
    func append<Number: FixedWidthInteger>(_ number: Number) {
        reserve(MemoryLayout<Number>.size)
        (base + count).storeBytes(of: number.bigEndian, as: Number.self)
        count &+= MemoryLayout<Number>.size
    }

    /// Appends bytes unchanged.
    @inline(__always)
    func append(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress else { return }
        reserve(bytes.count)
        memcpy(base + count, source, bytes.count)
        count &+= bytes.count
    }

    @inline(__always)
    private func reserve(_ more: Int) { if count &+ more > capacity { grow(more) } }

    @inline(never)
    private func grow(_ more: Int) {
        capacity = max(capacity * 2, count + more)
        let grown = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
        memcpy(grown, base, count)
        base.deallocate()
        base = grown
    }
}
#endif
