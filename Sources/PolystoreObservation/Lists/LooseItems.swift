/// The loose items of a list, by their positions. The others are the row.
struct LooseItems {
    /// Ascending.
    let positions: [Int]

    /// Returns the number of loose items before a position.
    func count(before position: Int) -> Int {
        var low = 0, high = positions.count
        while low < high {
            let middle = (low + high) / 2
            if positions[middle] < position { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Returns the indexes of the loose items among these positions.
    func indexes(_ range: Range<Int>) -> Range<Int> { count(before: range.lowerBound)..<count(before: range.upperBound) }

    /// Returns the part of the row among these positions.
    func row(_ range: Range<Int>) -> Range<Int> {
        range.lowerBound - count(before: range.lowerBound)..<range.upperBound - count(before: range.upperBound)
    }

    /// Returns the number of elements of the row before a loose item.
    func row(before index: Int) -> Int { positions[index] - index }

    /// Returns the position of an element of the row.
    func position(ofRow place: Int) -> Int {
        // It follows all loose items that have at most `place` elements of the row before them.
        var low = 0, high = positions.count
        while low < high {
            let middle = (low + high) / 2
            if positions[middle] - middle <= place { low = middle + 1 } else { high = middle }
        }
        return place + low
    }
}
