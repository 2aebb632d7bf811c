internal import PolystoreStorage

/// What a list remembers of its objects: their places, versions and sort values, in order. Columns, because a list can be long: 24 bytes for
/// an object and 17 to 32 for each sort key, where an object takes hundreds.
struct ListRows {
    typealias Item = ListContents.Item

    /// One object as the store has it now.
    struct Row {
        let item: Item
        let version: Int64
        /// One for each sort key.
        let values: [Value]
    }

    /// What is to be done to go on to the next state; positions are those of the rows before.
    struct Edits {
        /// The positions of rows to take out, ascending.
        var removals: [Int] = []
        /// Rows to put in before positions, in their new order.
        var insertions: [(position: Int, row: Row)] = []
        /// New versions of rows that stay where they are.
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

    /// The first sort value of a row: that of its section, where there are sections.
    func sectionValue(_ position: Int) -> Value { values[position * sort.count] }

    func hasValues(_ row: Row, at position: Int) -> Bool {
        let start = position * sort.count
        return row.values.indices.allSatisfy { values[start + $0] == row.values[$0] }
    }

    /// Whether a row has the sort values that a row of other ones has.
    func hasValues(of others: ListRows, _ their: Int, at position: Int) -> Bool {
        let start = position * sort.count, theirStart = their * sort.count
        return sort.indices.allSatisfy { values[start + $0] == others.values[theirStart + $0] }
    }

    /// The position before which a row belongs.
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

    /// Whether one row comes before another.
    func precedes(_ a: Row, _ b: Row) -> Bool {
        for (index, key) in sort.enumerated() {
            let order = a.values[index].compare(to: b.values[index])
            if order != 0 { return (order < 0) == key.ascending }
        }
        return Self.precedes(a.item, b.item)
    }

    /// The positions of items; those that are not there are left out.
    ///
    /// - Complexity: O(*n*) comparisons of two numbers; for few items one pass each, which the processor does faster than one look-up in a
    ///   table of all.
    func positions(of wanted: Set<Item>) -> [Item: Int] {
        var found: [Item: Int] = [:]
        if wanted.count <= 8 {
            for item in wanted { if let position = items.firstIndex(of: item) { found[item] = position } }
            return found
        }
        for (position, item) in items.enumerated() where wanted.contains(item) { found[item] = position }
        return found
    }

    /// The places after some edits.
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

    /// Takes over edits.
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

    /// From the end, so that positions stay what they are; nothing is copied but what lies behind.
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

    /// Forgets the rows from a position on.
    mutating func truncate(to count: Int) {
        items.removeLast(self.count - count)
        versions.removeLast(versions.count - count)
        values.removeLast(values.count - count * sort.count)
    }
}

extension ListRows.Edits {
    /// The positions of all rows that are named, before and after the edits, ascending.
    var loosePositions: (old: [Int], new: [Int]) {
        let stay = versions.map(\.position).sorted()
        var new: [Int] = [], gone = 0, come = 0
        func pass(_ position: Int) { while gone < removals.count, removals[gone] < position { gone += 1 } }
        for position in stay {
            // What comes in before a row that stays is behind the one before it.
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

    /// The rows that stay, stretch by stretch, each with the row that comes in behind it.
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
