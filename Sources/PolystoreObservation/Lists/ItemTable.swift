/// Finds the loose items of a list. Of duplicates, the first is found.
///
/// An open-addressed table, because items are two small numbers: a dictionary takes several times as long.
struct ItemTable {
    private let items: ContiguousArray<ListContents.Item>
    private let positions: [Int]
    /// Indexes into the positions, or -1.
    private var slots: ContiguousArray<Int32>
    private let shift: UInt64
    /// Different in each process, so that no caller can choose keys that collide.
    private static let seed = UInt64.random(in: 0...UInt64.max) | 1

    /// Creates a table of the items at these positions, fewer than 2³¹.
    init(_ items: ContiguousArray<ListContents.Item>, at positions: [Int]) {
        self.items = items
        self.positions = positions
        var exponent: UInt64 = 3
        while 1 << exponent < positions.count * 2 { exponent += 1 }
        shift = 64 - exponent
        slots = ContiguousArray(repeating: -1, count: 1 << Int(exponent))
        for index in positions.indices {
            let slot = slot(of: items[positions[index]])
            if slots[slot] < 0 { slots[slot] = Int32(truncatingIfNeeded: index) }
        }
    }

    /// Returns the index of the position that has an item.
    func index(of item: ListContents.Item) -> Int? {
        let index = slots[slot(of: item)]
        return index < 0 ? nil : Int(index)
    }

    /// Returns the slot of an item, or the free slot for it. At least one slot is always free.
    private func slot(of item: ListContents.Item) -> Int {
        let mixed = (UInt64(bitPattern: item.key) ^ UInt64(truncatingIfNeeded: item.store) << 48) &* Self.seed
        var slot = Int(((mixed ^ mixed >> 32) &* Self.seed) >> shift)
        while slots[slot] >= 0, items[positions[Int(slots[slot])]] != item { slot = (slot + 1) & (slots.count - 1) }
        return slot
    }
}
