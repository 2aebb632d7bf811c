/// The elements that can stay while the others are moved: the heaviest chain of links that ascend in both of two orders.
///
/// Beside the links there may be a row of elements that ascend in both orders anyway and weigh one each. A link that follows `low` of them
/// in one order and `high` in the other excludes those between. So the cost does not depend on the length of the row, only on the number of
/// links.
struct HeaviestChain {
    /// One element that may stay.
    struct Link {
        /// The position in the old order, from zero, unique.
        let place: Int
        /// The weight of the link.
        let weight: Int
        /// The number of elements of the row that precede it in both orders.
        let low: Int
        /// The number of elements of the row that precede it in at least one of the orders.
        let high: Int
    }

    /// The positions of the links that stay, ascending.
    private(set) var kept: [Int] = []
    /// The parts of the row that stay, ascending.
    private(set) var keptRow: [Range<Int>] = []
    /// The total weight of everything that stays.
    private(set) var weight: Int

    /// Computes the heaviest chain of links given in the new order, with positions below `places` and a row of `row` elements.
    init(_ links: [Link], places: Int, row: Int = 0) {
        weight = row
        if Self.ascends(links) {
            kept = Array(links.indices)
            weight += links.reduce(0) { $0 + $1.weight }
        } else if links.allSatisfy({ $0.weight == 1 && $0.low == $0.high }) {
            kept = Self.longest(links)
            weight += kept.count
        } else {
            kept = Self.search(links, places: places, row: row, &weight)
        }
        keepRow(links, row)
    }

    private static func ascends(_ links: [Link]) -> Bool {
        var last = -1
        for link in links {
            if link.place < last || link.low != link.high { return false }
            last = link.place
        }
        return true
    }

    /// Returns the longest ascending chain if nothing of the row is excluded: linear except for links that are out of order.
    private static func longest(_ links: [Link]) -> [Int] {
        // For each length, the link with the lowest position that ends a chain of this length.
        var ends: [Int] = [], before: [Int] = []
        before.reserveCapacity(links.count)
        for (position, link) in links.enumerated() {
            var length = ends.count
            if let last = ends.last, links[last].place > link.place {
                var low = 0
                while low < length {
                    let middle = (low + length) / 2
                    if links[ends[middle]].place < link.place { low = middle + 1 } else { length = middle }
                }
            }
            before.append(length > 0 ? ends[length - 1] : -1)
            if length == ends.count { ends.append(position) } else { ends[length] = position }
        }
        return chain(to: ends.last ?? -1, before)
    }

    private static func chain(to last: Int, _ before: [Int]) -> [Int] {
        var chain: [Int] = [], link = last
        while link >= 0 {
            chain.append(link)
            link = before[link]
        }
        chain.reverse()
        return chain
    }

    private static func search(_ links: [Link], places: Int, row: Int, _ weight: inout Int) -> [Int] {
        var plain = PrefixMaximum(places), reaching = PrefixMaximum(places)
        var before: [Int] = []
        before.reserveCapacity(links.count)
        var best = row, last = -1
        for (position, link) in links.enumerated() {
            // The row between two links counts if it is not empty: the greater of the two ways to express it.
            let direct = plain.best(below: link.place), over = reaching.best(below: link.place)
            var value = link.low, previous = -1
            if direct.link >= 0, direct.value > value { (value, previous) = (direct.value, direct.link) }
            if over.link >= 0, over.value + link.low > value { (value, previous) = (over.value + link.low, over.link) }
            value += link.weight
            before.append(previous)
            plain.note(value, position, at: link.place)
            reaching.note(value - link.high, position, at: link.place)
            let whole = value + max(0, row - link.high)
            if whole > best { (best, last) = (whole, position) }
        }
        weight = best
        return chain(to: last, before)
    }

    private mutating func keepRow(_ links: [Link], _ row: Int) {
        var start = 0
        for position in kept {
            let link = links[position]
            if link.low > start { keptRow.append(start..<link.low) }
            start = link.high
        }
        if row > start { keptRow.append(start..<row) }
    }
}

/// The maximum value recorded below a position. Recording and querying are logarithmic in the number of positions.
private struct PrefixMaximum {
    private var values: ContiguousArray<Int>
    private var links: ContiguousArray<Int>

    init(_ places: Int) {
        values = ContiguousArray(repeating: .min, count: places + 1)
        links = ContiguousArray(repeating: -1, count: places + 1)
    }

    func best(below place: Int) -> (value: Int, link: Int) {
        var best = (value: Int.min, link: -1), spot = place
        while spot > 0 {
            if values[spot] > best.value { best = (values[spot], links[spot]) }
            spot &= spot - 1
        }
        return best
    }

    mutating func note(_ value: Int, _ link: Int, at place: Int) {
        var spot = place + 1
        while spot < values.count {
            if value > values[spot] { (values[spot], links[spot]) = (value, link) }
            spot += spot & -spot
        }
    }
}
