extension ListMatch {
    /// Creates the match of two lists without further information.
    init(from old: ListContents, to new: ListContents, pairs: SectionPairs? = nil) {
        self.init(
            old, new, loose: Self.difference(old.items, new.items), pairs: pairs ?? SectionPairs(old: old.sections, new: new.sections))
    }

    /// Returns the remainder of two lists without the parts that are easily found to be common: their ends, and from the beginning
    /// everything up to the point where the lists differ in more than a few items at once.
    ///
    /// Regardless of the parts found to be common here, the final number of moves is minimal.
    private static func difference(
        _ old: ContiguousArray<ListContents.Item>, _ new: ContiguousArray<ListContents.Item>
    ) -> (old: [Int], new: [Int]) {
        var oldEnd = old.count, newEnd = new.count
        while oldEnd > 0, newEnd > 0, old[oldEnd - 1] == new[newEnd - 1] { (oldEnd, newEnd) = (oldEnd - 1, newEnd - 1) }
        var looseOld: [Int] = [], looseNew: [Int] = [], nextOld = 0, nextNew = 0
        while nextOld < oldEnd, nextNew < newEnd {
            if old[nextOld] != new[nextNew] {
                guard let gap = gap(old[nextOld..<oldEnd], new[nextNew..<newEnd]) else { break }
                looseOld += nextOld..<nextOld + gap.old
                looseNew += nextNew..<nextNew + gap.new
                (nextOld, nextNew) = (nextOld + gap.old, nextNew + gap.new)
            }
            (nextOld, nextNew) = (nextOld + 1, nextNew + 1)
        }
        looseOld += nextOld..<oldEnd
        looseNew += nextNew..<newEnd
        return (looseOld, looseNew)
    }

    /// Returns the number of items to skip in each list until both continue with the same one; nil if these are more than a few.
    private static func gap(
        _ old: ArraySlice<ListContents.Item>, _ new: ArraySlice<ListContents.Item>
    ) -> (old: Int, new: Int)? {
        for sum in 1...8 {
            for passed in 0...sum where passed < old.count && sum - passed < new.count {
                if old[old.startIndex + passed] == new[new.startIndex + sum - passed] { return (passed, sum - passed) }
            }
        }
        return nil
    }
}
