internal import Foundation

/// Where the sections of a list begin: made once for a list, it leads from positions among all items to index paths and back.
///
/// A position is found by bisection, an index path at once.
struct SectionStarts: Sendable {
    /// The position of the first item of each section, and behind the last the number of all items.
    private let starts: ContiguousArray<Int>

    /// The starts of these sections.
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

    /// The positions of the items of a section that exists.
    func range(_ section: Int) -> Range<Int> { starts[section]..<starts[section + 1] }

    /// The section that holds the item at a position that exists.
    func section(at position: Int) -> Int {
        // The last start that is not behind the position; of sections that start together all but the last are empty.
        var low = 0, high = sectionCount - 1
        while low < high {
            let middle = (low + high + 1) / 2
            if starts[middle] <= position { low = middle } else { high = middle - 1 }
        }
        return low
    }

    /// The index path of a position that exists.
    func path(at position: Int) -> IndexPath {
        let section = section(at: position)
        return IndexPath(index: section).appending(position - starts[section])
    }

    /// The position of an item; nil where there is none.
    func position(section: Int, item: Int) -> Int? {
        guard section >= 0, section < sectionCount, item >= 0, item < range(section).count else { return nil }
        return starts[section] + item
    }

    /// The position that an index path names; nil where there is no item, and for paths of another length than two.
    func position(of path: IndexPath) -> Int? { path.count == 2 ? position(section: path[0], item: path[1]) : nil }

    /// The index paths of positions; cheapest when they ascend.
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
