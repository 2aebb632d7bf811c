/// The loose items of a list, by their positions; the others are the row.
struct LooseItems {
    /// Ascending.
    let positions: [Int]

    /// How many loose items are before a position.
    func count(before position: Int) -> Int {
        var low = 0, high = positions.count
        while low < high {
            let middle = (low + high) / 2
            if positions[middle] < position { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Which of the loose items are among these positions.
    func indexes(_ range: Range<Int>) -> Range<Int> { count(before: range.lowerBound)..<count(before: range.upperBound) }

    /// Which part of the row is among these positions.
    func row(_ range: Range<Int>) -> Range<Int> {
        range.lowerBound - count(before: range.lowerBound)..<range.upperBound - count(before: range.upperBound)
    }

    /// How much of the row is before a loose item.
    func row(before index: Int) -> Int { positions[index] - index }

    /// The position of a thing of the row.
    func position(ofRow place: Int) -> Int {
        // It is behind all loose items that have at most `place` of the row before them.
        var low = 0, high = positions.count
        while low < high {
            let middle = (low + high) / 2
            if positions[middle] - middle <= place { low = middle + 1 } else { high = middle }
        }
        return place + low
    }
}
