internal import PolystoreObjects

/// The recorded data of a list's objects: their row locators, versions and sort values, in order. Columns, because a list can be long: 24
/// bytes for an object and 17 to 32 for each sort key, where an object takes hundreds.
struct ListRows {
    typealias Item = ListContents.Item

    /// The current row of one object in the store.
    struct Row {
        let item: Item
        let version: Int64
        /// The values, one for each sort key.
        let values: [Value]
    }

    /// The edits that result in the next state. Positions are those of the rows before.
    struct Edits {
        /// The positions of rows to remove, ascending.
        var removals: [Int] = []
        /// Rows to insert before positions, in their new order.
        var insertions: [(position: Int, row: Row)] = []
        /// New versions of rows that keep their position.
        var versions: [(position: Int, version: Int64)] = []

        var isEmpty: Bool { removals.isEmpty && insertions.isEmpty && versions.isEmpty }
    }

    private let sort: [CheckedSort]
    private(set) var items = ContiguousArray<Item>()
    private(set) var versions = ContiguousArray<Int64>()
    private var values = ContiguousArray<Value>()

    init(_ sort: [CheckedSort]) { self.sort = sort }

    var count: Int { items.count }

    mutating func append(_ row: Row) {
        items.append(row.item)
        versions.append(row.version)
        values.append(contentsOf: row.values)
    }

    /// Returns the first sort value of a row: that of its section, if there are sections.
    func sectionValue(_ position: Int) -> Value { values[position * sort.count] }

    func hasValues(_ row: Row, at position: Int) -> Bool {
        let start = position * sort.count
        return row.values.indices.allSatisfy { values[start + $0] == row.values[$0] }
    }

    /// Returns whether a row has the same sort values as a row of other ones.
    func hasValues(of others: ListRows, _ their: Int, at position: Int) -> Bool {
        let start = position * sort.count, theirStart = their * sort.count
        return sort.indices.allSatisfy { values[start + $0] == others.values[theirStart + $0] }
    }

    /// Returns the position before which a row belongs.
    func place(of row: Row) -> Int {
        var low = 0, high = count
        while low < high {
            let middle = (low + high) / 2
            if comesBefore(middle, row) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private func comesBefore(_ position: Int, _ row: Row) -> Bool {
        let start = position * sort.count
        for (index, key) in sort.enumerated() {
            let order = values[start + index].compare(to: row.values[index])
            if order != 0 { return (order < 0) == key.ascending }
        }
        return Self.precedes(items[position], row.item)
    }

    private static func precedes(_ a: Item, _ b: Item) -> Bool { (a.key, a.store) < (b.key, b.store) }

    /// Returns whether one row precedes another.
    func precedes(_ a: Row, _ b: Row) -> Bool {
        for (index, key) in sort.enumerated() {
            let order = a.values[index].compare(to: b.values[index])
            if order != 0 { return (order < 0) == key.ascending }
        }
        return Self.precedes(a.item, b.item)
    }

    /// Returns the positions of items, without those that are not in the list.
    ///
    /// - Complexity: O(*n*) comparisons of two numbers; for few items one pass each, which is faster on current processors than one lookup
    ///   for every row in a table.
    func positions(of wanted: Set<Item>) -> [Item: Int] {
        var found: [Item: Int] = [:]
        if wanted.count <= 8 {
            for item in wanted { if let position = items.firstIndex(of: item) { found[item] = position } }
            return found
        }
        for (position, item) in items.enumerated() where wanted.contains(item) { found[item] = position }
        return found
    }

    /// Returns the row locators after some edits.
    func items(after edits: Edits) -> ContiguousArray<Item> {
        if edits.removals.isEmpty, edits.insertions.isEmpty { return items }
        var result = ContiguousArray<Item>()
        result.reserveCapacity(items.count - edits.removals.count + edits.insertions.count)
        edits.forEachStretch(count) { kept, inserted in
            result.append(contentsOf: items[kept])
            if let inserted { result.append(inserted.item) }
        }
        return result
    }

    /// Applies edits.
    mutating func apply(_ edits: Edits) {
        for (position, version) in edits.versions { versions[position] = version }
        if edits.removals.count + edits.insertions.count <= 16 { return applyInPlace(edits) }
        var next = ListRows(sort)
        let width = sort.count
        edits.forEachStretch(count) { kept, inserted in
            next.items.append(contentsOf: items[kept])
            next.versions.append(contentsOf: versions[kept])
            next.values.append(contentsOf: values[(kept.lowerBound * width)..<(kept.upperBound * width)])
            if let inserted { next.append(inserted) }
        }
        self = next
    }

    /// Applies edits from the end, so that positions remain valid and only the rows after an edit are copied.
    private mutating func applyInPlace(_ edits: Edits) {
        let width = sort.count
        var removals = edits.removals[...], insertions = edits.insertions[...]
        while let position = [removals.last, insertions.last?.position].compactMap({ $0 }).max() {
            if removals.last == position {
                removals.removeLast()
                items.remove(at: position)
                versions.remove(at: position)
                values.removeSubrange((position * width)..<((position + 1) * width))
            }
            while let last = insertions.last, last.position == position {
                insertions.removeLast()
                items.insert(last.row.item, at: position)
                versions.insert(last.row.version, at: position)
                values.insert(contentsOf: last.row.values, at: position * width)
            }
        }
    }

    /// Removes the rows from a position on.
    mutating func truncate(to count: Int) {
        items.removeLast(self.count - count)
        versions.removeLast(versions.count - count)
        values.removeLast(values.count - count * sort.count)
    }
}

extension ListRows.Edits {
    /// The positions of all removed and inserted rows, before and after the edits, ascending.
    var loosePositions: (old: [Int], new: [Int]) {
        let stay = versions.map(\.position).sorted()
        var new: [Int] = [], gone = 0, come = 0
        func pass(_ position: Int) { while gone < removals.count, removals[gone] < position { gone += 1 } }
        for position in stay {
            // A row inserted before one that stays follows the one before it.
            while come < insertions.count, insertions[come].position <= position {
                pass(insertions[come].position)
                new.append(insertions[come].position - gone + come)
                come += 1
            }
            pass(position)
            new.append(position - gone + come)
        }
        while come < insertions.count {
            pass(insertions[come].position)
            new.append(insertions[come].position - gone + come)
            come += 1
        }
        return ((removals + stay).sorted(), new)
    }

    /// Calls a closure with each run of rows that stay, and the row inserted after it.
    fileprivate func forEachStretch(_ count: Int, _ body: (Range<Int>, ListRows.Row?) -> Void) {
        var start = 0, removals = removals[...], insertions = insertions[...]
        while true {
            let removal = removals.first ?? count, insertion = insertions.first
            if let insertion, insertion.position <= removal {
                insertions.removeFirst()
                body(start..<insertion.position, insertion.row)
                start = insertion.position
            } else {
                body(start..<removal, nil)
                if removals.isEmpty { return }
                removals.removeFirst()
                start = removal + 1
            }
        }
    }
}
