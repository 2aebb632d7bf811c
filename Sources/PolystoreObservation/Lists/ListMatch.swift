/// The common items of two lists, and those of them that can stay in their position.
///
/// Items stay if they are in the same section of both and keep their order; as many as possible, so that the number of moves is minimal.
/// The items are divided into loose ones, of which nothing is known, and the row: all others, which are in both lists in the same order.
/// Only loose items are hashed, so a long row costs little.
struct ListMatch {
    /// The old list.
    let old: ListContents
    /// The new list.
    let new: ListContents
    /// The start positions of the sections of the old list.
    let oldStarts: SectionStarts
    /// The start positions of the sections of the new list.
    let newStarts: SectionStarts
    /// The sections of the old list that are not in the new one or cannot stay, ascending.
    private(set) var deletedSections: [Int] = []
    /// The sections of the new list that were not in the old one or could not stay, ascending.
    private(set) var insertedSections: [Int] = []
    /// The positions of the items that only the old list has, ascending.
    private(set) var deleted: [Int] = []
    /// The positions of the items that only the new list has, ascending.
    private(set) var inserted: [Int] = []
    /// The positions of items that are in both lists and cannot stay, ascending by the new one.
    private(set) var moved: [(from: Int, to: Int)] = []

    private let looseOld: LooseItems
    private let looseNew: LooseItems
    /// For each loose item of the new list, the index of the same loose item of the old list.
    private var origins: [Int?] = []

    /// Computes the match of two lists, given the positions of their loose items. Both must have the same other items in the same order.
    init(_ old: ListContents, _ new: ListContents, loose: (old: [Int], new: [Int]), pairs: SectionPairs) {
        self.old = old
        self.new = new
        oldStarts = SectionStarts(old.sections)
        newStarts = SectionStarts(new.sections)
        looseOld = LooseItems(positions: loose.old)
        looseNew = LooseItems(positions: loose.new)
        findOrigins()
        place(among: pairs)
    }

    private mutating func findOrigins() {
        let places = ItemTable(old.items, at: looseOld.positions)
        var isKnown = ContiguousArray(repeating: false, count: looseOld.positions.count)
        origins.reserveCapacity(looseNew.positions.count)
        for position in looseNew.positions {
            if let index = places.index(of: new.items[position]), !isKnown[index] {
                isKnown[index] = true
                origins.append(index)
            } else {
                inserted.append(position)
                origins.append(nil)
            }
        }
        for (index, position) in looseOld.positions.enumerated() where !isKnown[index] { deleted.append(position) }
    }

    /// Determines for each pair of sections the items that can stay in it, then the pairs that can stay, and records all other items as
    /// moved.
    private mutating func place(among pairs: SectionPairs) {
        let candidates = pairs.partners.enumerated().compactMap { section, partner in partner.map { Pair(self, old: $0, new: section) } }
        // The weight of a section is the number of items that stay in it. Of solutions with equal weight, the one with the most sections is
        // chosen.
        let order = HeaviestChain(
            candidates.map { HeaviestChain.Link(place: $0.old, weight: $0.chain.weight * (candidates.count + 1) + 1, low: 0, high: 0) },
            places: old.sections.count)
        let staying = order.kept.map { candidates[$0] }
        deletedSections = Self.gaps(between: staying.map(\.old), upTo: old.sections.count)
        insertedSections = Self.gaps(between: staying.map(\.new), upTo: new.sections.count)
        var stays = ContiguousArray(repeating: false, count: looseNew.positions.count)
        var rows: [Range<Int>] = []
        for pair in staying {
            for position in pair.chain.kept { stays[pair.loose[position]] = true }
            for part in pair.chain.keptRow { rows.append(part.lowerBound + pair.row.lowerBound..<part.upperBound + pair.row.lowerBound) }
        }
        collectMoves(stays, rows)
    }

    /// Two matching sections, and the items that can stay in them.
    private struct Pair {
        let old: Int
        let new: Int
        /// The part of the row that is in both.
        let row: Range<Int>
        /// The loose items of the new list that are in both.
        let loose: [Int]
        let chain: HeaviestChain

        init(_ match: borrowing ListMatch, old: Int, new: Int) {
            let before = match.oldStarts.range(old), after = match.newStarts.range(new)
            let row = match.looseOld.row(before).clamped(to: match.looseNew.row(after))
            let source = match.looseOld.indexes(before)
            var loose: [Int] = [], links: [HeaviestChain.Link] = []
            for index in match.looseNew.indexes(after) {
                guard let origin = match.origins[index], source.contains(origin) else { continue }
                let was = match.looseOld.row(before: origin).clamped(to: row) - row.lowerBound
                let becomes = match.looseNew.row(before: index).clamped(to: row) - row.lowerBound
                loose.append(index)
                links.append(
                    HeaviestChain.Link(
                        place: origin - source.lowerBound, weight: 1, low: min(was, becomes), high: max(was, becomes)))
            }
            self.old = old
            self.new = new
            self.row = row
            self.loose = loose
            chain = HeaviestChain(links, places: source.count, row: row.count)
        }
    }

    private mutating func collectMoves(_ stays: ContiguousArray<Bool>, _ rows: [Range<Int>]) {
        for index in stays.indices where !stays[index] {
            if let origin = origins[index] { moved.append((looseOld.positions[origin], looseNew.positions[index])) }
        }
        var next = 0
        for part in rows {
            for place in next..<part.lowerBound { moved.append((looseOld.position(ofRow: place), looseNew.position(ofRow: place))) }
            next = part.upperBound
        }
        let count = old.items.count - looseOld.positions.count
        if next < count {
            for place in next..<count { moved.append((looseOld.position(ofRow: place), looseNew.position(ofRow: place))) }
        }
        moved.sort { $0.to < $1.to }
    }

    private static func gaps(between staying: [Int], upTo count: Int) -> [Int] {
        var gaps: [Int] = [], next = 0
        for section in staying {
            gaps.append(contentsOf: next..<section)
            next = section + 1
        }
        gaps.append(contentsOf: next..<count)
        return gaps
    }
}

extension Int {
    fileprivate func clamped(to range: Range<Int>) -> Int { Swift.min(Swift.max(self, range.lowerBound), range.upperBound) }
}
