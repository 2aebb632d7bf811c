internal import PolystoreStorage

/// Distinct values and their positions. The dictionary stores the hashes, so that a value is compared only with values of the same hash.
///
/// Swift's dictionary compares with every value in the probed slots, which requires counting and fetching texts and takes a tenth of an
/// import.
struct ValuePlaces {
    /// The values in the order of their addition.
    private(set) var values: [Value] = []
    private var hashes: [Int] = []
    /// Positions plus 1; 0 for a free slot. The number of slots is a power of two, and at most half of them are used.
    private var slots: [Int32]

    init(capacity: Int) {
        var size = 16
        while size < capacity * 2 { size *= 2 }
        slots = [Int32](repeating: 0, count: size)
        values.reserveCapacity(capacity)
        hashes.reserveCapacity(capacity)
    }

    /// Returns the position of a value, or nil.
    func find(_ value: Value) -> Int? {
        let place = slots[slot(value, value.hashValue)]
        return place > 0 ? Int(place) - 1 : nil
    }

    /// Returns the position of a value, and adds the value if it is missing.
    mutating func add(_ value: Value) -> (place: Int, isNew: Bool) {
        let hash = value.hashValue, slot = slot(value, hash)
        if slots[slot] > 0 { return (Int(slots[slot]) - 1, false) }
        values.append(value)
        hashes.append(hash)
        slots[slot] = Int32(truncatingIfNeeded: values.count)
        if values.count * 2 > slots.count { grow() }
        return (values.count - 1, true)
    }

    /// Returns the slot of a value, or the free slot where it belongs.
    @inline(__always)
    private func slot(_ value: Value, _ hash: Int) -> Int {
        var slot = hash & (slots.count - 1)
        while slots[slot] > 0 {
            let place = Int(slots[slot]) - 1
            if hashes[place] == hash, values[place] == value { return slot }
            slot = (slot + 1) & (slots.count - 1)
        }
        return slot
    }

    private mutating func grow() {
        slots = [Int32](repeating: 0, count: slots.count * 2)
        for (place, hash) in hashes.enumerated() {
            var slot = hash & (slots.count - 1)
            while slots[slot] > 0 { slot = (slot + 1) & (slots.count - 1) }
            slots[slot] = Int32(truncatingIfNeeded: place + 1)
        }
    }
}
