internal import PolystoreFoundation

/// The start positions of the sections of a list, which convert between positions among all items and index paths.
///
/// The section of a position is found by bisection, the position of an index path in constant time.
struct SectionStarts: Sendable {
    /// The position of the first item of each section, followed by the number of all items.
    private let starts: ContiguousArray<Int>

    /// Computes the starts of sections.
    init(_ sections: [ListContents.Section]) {
        var starts = ContiguousArray<Int>()
        starts.reserveCapacity(sections.count + 1)
        var total = 0
        for section in sections {
            starts.append(total)
            total += section.count
        }
        starts.append(total)
        self.starts = starts
    }

    /// The number of sections.
    var sectionCount: Int { starts.count - 1 }
    /// The number of all items.
    var itemCount: Int { starts[sectionCount] }

    /// Returns the positions of the items of a section that exists.
    func range(_ section: Int) -> Range<Int> { starts[section]..<starts[section + 1] }

    /// Returns the section of the item at a position that exists.
    func section(at position: Int) -> Int {
        // The last start that is not greater than the position. Of sections that start at the same position, all except the last are empty.
        var low = 0, high = sectionCount - 1
        while low < high {
            let middle = (low + high + 1) / 2
            if starts[middle] <= position { low = middle } else { high = middle - 1 }
        }
        return low
    }

    /// Returns the index path of a position that exists.
    func path(at position: Int) -> IndexPath {
        let section = section(at: position)
        return IndexPath(index: section).appending(position - starts[section])
    }

    /// Returns the position of an item; nil if there is none.
    func position(section: Int, item: Int) -> Int? {
        guard section >= 0, section < sectionCount, item >= 0, item < range(section).count else { return nil }
        return starts[section] + item
    }

    /// Returns the position of an index path; nil if there is no item, and for paths with a length other than two.
    func position(of path: IndexPath) -> Int? { path.count == 2 ? position(section: path[0], item: path[1]) : nil }

    /// Returns the index paths of positions; fastest if they ascend.
    func paths(at positions: some Collection<Int>) -> [IndexPath] {
        var paths: [IndexPath] = [], current = 0, range = sectionCount > 0 ? range(0) : 0..<0
        paths.reserveCapacity(positions.count)
        for position in positions {
            if !range.contains(position) {
                current = section(at: position)
                range = self.range(current)
            }
            paths.append(IndexPath(index: current).appending(position - range.lowerBound))
        }
        return paths
    }
}
