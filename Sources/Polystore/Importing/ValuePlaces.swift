internal import PolystoreStorage

/// Different values and their positions: a dictionary that keeps the hashes, so that a value is compared only with its likes.
///
/// Swift's own compares with every value that it passes; texts are counted and fetched for that, which is a tenth of an import.
struct ValuePlaces {
    /// The values in the order in which they came.
    private(set) var values: [Value] = []
    private var hashes: [Int] = []
    /// Positions plus 1, a power of two of them, at most half of them taken; 0 where there is none.
    private var slots: [Int32]

    init(capacity: Int) {
        var size = 16
        while size < capacity * 2 { size *= 2 }
        slots = [Int32](repeating: 0, count: size)
        values.reserveCapacity(capacity)
        hashes.reserveCapacity(capacity)
    }

    /// The position of a value, if it is there.
    func find(_ value: Value) -> Int? {
        let place = slots[slot(value, value.hashValue)]
        return place > 0 ? Int(place) - 1 : nil
    }

    /// The position of a value, which is added where it is missing.
    mutating func add(_ value: Value) -> (place: Int, isNew: Bool) {
        let hash = value.hashValue, slot = slot(value, hash)
        if slots[slot] > 0 { return (Int(slots[slot]) - 1, false) }
        values.append(value)
        hashes.append(hash)
        slots[slot] = Int32(truncatingIfNeeded: values.count)
        if values.count * 2 > slots.count { grow() }
        return (values.count - 1, true)
    }

    /// The slot of a value, or the free one where it belongs.
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
