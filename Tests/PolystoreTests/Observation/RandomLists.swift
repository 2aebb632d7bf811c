@testable import PolystoreObjects
@testable import PolystoreObservation

/// Lists by chance, the same for the same seed.
struct RandomLists: RandomNumberGenerator {
    private var state: UInt64

    init(seed: Int) { state = UInt64(bitPattern: Int64(seed)) &* 0x9E37_79B9_7F4A_7C15 | 1 }

    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state &* 0x2545_F491_4F6C_DD1D
    }

    /// A number below a bound.
    mutating func number(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }

    /// Some of the items 0..<universe in any order, in as many sections with names of few letters.
    mutating func list(universe: Int, sections: Int?) -> ListContents {
        let keys = Array((0..<universe).shuffled(using: &self).prefix(number(universe + 1)))
        let items = ContiguousArray(keys.map { ListContents.Item(key: Int64($0), store: Int32($0 % 2)) })
        guard let sections else { return ListContents(items: items) }
        let names = Array(0..<sections).shuffled(using: &self).prefix(number(sections + 1)).map { "section \($0)" }
        if names.isEmpty { return ListContents(items: [], sections: []) }
        var counts = Array(repeating: 0, count: names.count)
        for _ in items { counts[number(names.count)] += 1 }
        return ListContents(items: items, sections: zip(names, counts).map { .init(name: $0, count: $1) })
    }

    /// What a commit makes of a list: some items leave, come or go elsewhere, the others keep section and order.
    mutating func commit(_ old: ListContents, count: Int) -> (
        new: ListContents, touched: Set<ListContents.Item>, updated: Set<ListContents.Item>
    ) {
        var touched: Set<ListContents.Item> = [], updated: Set<ListContents.Item> = []
        for _ in 0..<count {
            guard let item = old.items.randomElement(using: &self) else { break }
            touched.insert(item)
            if Bool.random(using: &self) { updated.insert(item) }
        }
        var rows = rows(old), homeless: [ListContents.Item] = []
        for row in rows.indices {
            for item in rows[row].items where touched.contains(item) {
                if number(3) > 0 { homeless.append(item) }
            }
            // Some are touched and stay where they are.
            if number(3) > 0 {
                rows[row].items.removeAll(where: touched.contains)
            } else {
                homeless.removeAll(where: rows[row].items.contains)
            }
        }
        for key in 0..<number(count + 1) {
            let item = ListContents.Item(key: Int64(1_000_000 + key), store: 0)
            touched.insert(item)
            homeless.append(item)
        }
        for item in homeless.shuffled(using: &self) {
            if old.sections.first?.name != "", rows.isEmpty || number(6) == 0 {
                let name = "section \(number(40))"
                if !rows.contains(where: { $0.name == name }) { rows.insert((name, []), at: number(rows.count + 1)) }
            }
            let row = number(rows.count)
            rows[row].items.insert(item, at: number(rows[row].items.count + 1))
        }
        if old.sections.first?.name != "" { rows.removeAll(where: \.items.isEmpty) }
        let new = ListContents(
            items: ContiguousArray(rows.flatMap(\.items)), sections: rows.map { .init(name: $0.name, count: $0.items.count) })
        return (new, touched, updated)
    }

    private func rows(_ list: ListContents) -> [(name: String, items: [ListContents.Item])] {
        let starts = SectionStarts(list.sections)
        return list.sections.indices.map { (list.sections[$0].name, Array(list.items[starts.range($0)])) }
    }
}
