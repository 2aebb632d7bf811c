/// A set of items for queries that mostly ask for items outside the set: a bit pattern answers nearly all of those without hashing.
struct ItemFilter {
    private let items: Set<ListContents.Item>
    private let bits: ContiguousArray<UInt64>
    private let shift: UInt64

    /// Creates a filter for items.
    init(_ items: Set<ListContents.Item>) {
        self.items = items
        // At least sixteen bits per item, and a power of two in total.
        var exponent: UInt64 = 6
        while exponent < 30, 1 << exponent < UInt64(items.count) * 16 { exponent += 1 }
        shift = 64 - exponent
        var bits = ContiguousArray<UInt64>(repeating: 0, count: 1 << Int(exponent - 6))
        for item in items {
            let spot = Self.spread(item) >> shift
            bits[Int(spot >> 6)] |= 1 << (spot & 63)
        }
        self.bits = bits
    }

    /// Returns the positions of those items of a list that are in the set, ascending.
    func positions(in list: ContiguousArray<ListContents.Item>) -> [Int] {
        if items.isEmpty { return [] }
        var found: [Int] = []
        list.withUnsafeBufferPointer { list in
            bits.withUnsafeBufferPointer { bits in
                for position in list.indices {
                    let spot = Self.spread(list[position]) >> shift
                    if bits[Int(spot >> 6)] & (1 << (spot & 63)) != 0, items.contains(list[position]) { found.append(position) }
                }
            }
        }
        return found
    }

    /// Maps neighbouring keys to distant bits.
    private static func spread(_ item: ListContents.Item) -> UInt64 {
        (UInt64(bitPattern: item.key) ^ UInt64(truncatingIfNeeded: item.store) << 48) &* 0x9E37_79B9_7F4A_7C15
    }
}
