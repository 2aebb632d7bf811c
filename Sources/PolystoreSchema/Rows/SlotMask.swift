/// A set of slots of one row layout, such as the attributes that an update writes.
@frozen
public struct SlotMask: Sendable, Hashable {
    /// The first 64 slots.
    public var low: UInt64
    /// Further slots, 64 in each word, without trailing zero words.
    public var high: [UInt64]

    /// Creates a set from its words.
    @inlinable
    public init(low: UInt64 = 0, high: [UInt64] = []) {
        self.low = low
        self.high = high
    }

    /// Creates a set of all slots below `count`.
    public init(all count: Int) {
        self.init()
        for slot in 0..<count { insert(slot) }
    }

    /// Creates a set of the given slots.
    public init(_ slots: some Sequence<Int>) {
        self.init()
        for slot in slots { insert(slot) }
    }

    /// Whether the set is empty.
    @inlinable public var isEmpty: Bool { low == 0 && high.isEmpty }

    /// Returns whether the set contains a slot.
    @inlinable
    public func contains(_ slot: Int) -> Bool {
        if slot < 64 { return low & (1 &<< UInt64(slot)) != 0 }
        let word = slot / 64 - 1
        return word < high.count && high[word] & (1 &<< UInt64(slot % 64)) != 0
    }

    /// Inserts a slot.
    public mutating func insert(_ slot: Int) {
        if slot < 64 {
            low |= 1 &<< UInt64(slot)
            return
        }
        let word = slot / 64 - 1
        while high.count <= word { high.append(0) }
        high[word] |= 1 &<< UInt64(slot % 64)
    }

    /// Inserts all slots of another set.
    public mutating func formUnion(_ other: SlotMask) {
        low |= other.low
        while high.count < other.high.count { high.append(0) }
        for word in other.high.indices { high[word] |= other.high[word] }
    }

    /// Removes all slots of another set.
    public mutating func subtract(_ other: SlotMask) {
        low &= ~other.low
        for word in high.indices where word < other.high.count { high[word] &= ~other.high[word] }
        while high.last == 0 { high.removeLast() }
    }

    /// The slots in ascending order.
    public var slots: [Int] { (0..<(64 * (high.count + 1))).filter(contains) }
}
