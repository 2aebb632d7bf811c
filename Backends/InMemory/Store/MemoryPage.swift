internal import PolystoreStorage

/// A sequence of pairs in key order, with adjacent bytes.
///
/// A page belongs to the generation of the write transaction that created it. Only that transaction changes it. Once published, it never
/// changes, so snapshots share it with the store and with each other.
///
/// Unchecked: the only thread that holds the write lock writes a page, before publishing it through the store's lock.
final class MemoryPage: @unchecked Sendable {
    static let usualBytes = 16 << 10

    struct Entry {
        var offset: UInt32
        var keyLength: UInt32
        var valueLength: UInt32
    }

    let generation: Int
    private let bytes: UnsafeMutableRawPointer
    private let capacity: Int
    @exclusivity(unchecked) private var used = 0
    /// The number of bytes that removed pairs occupy.
    @exclusivity(unchecked) private var wasted = 0
    @exclusivity(unchecked) private(set) var entries: ContiguousArray<Entry> = []

    init(generation: Int, capacity: Int) {
        self.generation = generation
        // Pairs end at multiples of 8, including the last one.
        let capacity = (capacity + 7) & ~7
        self.capacity = capacity
        bytes = .allocate(byteCount: capacity, alignment: 16)
    }

    deinit { bytes.deallocate() }

    @inline(__always)
    func key(_ index: Int) -> UnsafeRawBufferPointer {
        let entry = entries[index]
        return UnsafeRawBufferPointer(start: bytes + Int(entry.offset), count: Int(entry.keyLength))
    }

    @inline(__always)
    func value(_ index: Int) -> UnsafeRawBufferPointer {
        let entry = entries[index]
        return UnsafeRawBufferPointer(start: bytes + Int(entry.offset) + Int(entry.keyLength), count: Int(entry.valueLength))
    }

    /// Returns the position of the first key that is not below `key`, and whether it is equal.
    func find(_ key: UnsafeRawBufferPointer) -> (index: Int, isEqual: Bool) {
        var low = 0, high = entries.count
        while low < high {
            let middle = (low + high) / 2
            let order = compareBytes(self.key(middle), key)
            if order == 0 { return (middle, true) }
            if order < 0 { low = middle + 1 } else { high = middle }
        }
        return (low, false)
    }

    /// Whether a pair fits.
    @inline(__always)
    func fits(_ keyCount: Int, _ valueCount: Int) -> Bool { used + keyCount + valueCount <= capacity }

    /// Inserts a pair at a position and returns the space for its value.
    @inline(__always)
    func insert(_ key: UnsafeRawBufferPointer, _ valueCount: Int, at index: Int) -> UnsafeMutableRawPointer {
        let start = bytes + used
        if let source = key.baseAddress { start.copyMemory(from: source, byteCount: key.count) }
        let entry = Entry(
            offset: UInt32(truncatingIfNeeded: used), keyLength: UInt32(truncatingIfNeeded: key.count),
            valueLength: UInt32(truncatingIfNeeded: valueCount))
        // Pairs are aligned to 8, so that a single load reads a number in a record.
        used = (used + key.count + valueCount + 7) & ~7
        if index == entries.count { entries.append(entry) } else { entries.insert(entry, at: index) }
        return start + key.count
    }

    func remove(at index: Int) {
        let entry = entries.remove(at: index)
        wasted += Int(entry.keyLength) + Int(entry.valueLength)
    }

    /// Returns a copy for another transaction. It copies all bytes at once, which takes a hundredth of the time of copying each pair,
    /// unless a quarter of the page is wasted space: then it compacts the pairs.
    func copy(generation: Int) -> MemoryPage {
        if wasted > capacity / 4 { return copy(0..<entries.count, generation: generation) }
        let page = MemoryPage(generation: generation, capacity: capacity)
        page.bytes.copyMemory(from: bytes, byteCount: used)
        page.used = used
        page.wasted = wasted
        page.entries = entries
        return page
    }

    /// Returns copies of the pairs in a range, without the space of removed pairs.
    func copy(_ range: Range<Int>, generation: Int) -> MemoryPage {
        let needed = range.reduce(0) { $0 + Int(entries[$1].keyLength) + Int(entries[$1].valueLength) + 8 }
        let page = MemoryPage(generation: generation, capacity: max(Self.usualBytes, needed))
        for index in range {
            let value = value(index)
            let target = page.insert(key(index), value.count, at: page.entries.count)
            if let source = value.baseAddress { target.copyMemory(from: source, byteCount: value.count) }
        }
        return page
    }
}
