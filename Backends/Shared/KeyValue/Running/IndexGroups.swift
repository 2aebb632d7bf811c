internal import PolystoreStorage

/// The row keys of an index in groups: values ascending or descending, row keys of equal values ascending.
struct IndexGroups {
    /// Consecutive row keys.
    struct Group {
        var keys: [Int64]
        /// Whether the rows of the group have to be sorted, by properties that the index lacks or values that it cuts.
        var needsSorting: Bool
    }

    private let order: IndexOrder
    private let layout: IndexEntry
    private let work: WorkMeter
    private let cursor: any OrderedCursor
    private var intervals: ArraySlice<KeyInterval>
    private var interval: KeyInterval?
    /// Whether the cursor is positioned at an entry that was not read yet.
    private var isPending = false

    /// The minimum size of a batch; smaller groups are returned together.
    private static let usual = 256

    init(_ order: IndexOrder, _ reader: KeyValueReader) throws(StorageError) {
        self.order = order
        layout = IndexEntry(order.use.index, reader.core)
        work = reader.work
        cursor = try reader.engine.cursor(order.use.index.map)
        intervals = order.use.intervals[...]
    }

    /// Returns the next keys, or nil when there are no more.
    mutating func next() throws(StorageError) -> Group? {
        var keys: [Int64] = []
        while keys.count < Self.usual, try isAtEntry() {
            let (prefix, isCut) = layout.prefix(cursor.key, slots: order.groupSlots)
            if isCut || order.sortsGroups {
                if !keys.isEmpty { break }
                return Group(keys: try group(Array(prefix)), needsSorting: true)
            }
            if order.isAscending, order.groupSlots == order.use.index.slots.count {
                keys.append(KeyBytes.lastKey(cursor.key))
                try step()
            } else {
                keys += try group(Array(prefix)).sorted()
            }
        }
        return keys.isEmpty ? nil : Group(keys: keys, needsSorting: false)
    }

    /// Returns the row keys of the entries that begin with a prefix.
    private mutating func group(_ prefix: [UInt8]) throws(StorageError) -> [Int64] {
        var keys: [Int64] = []
        while try isAtEntry(), cursor.key.starts(with: prefix) {
            keys.append(KeyBytes.lastKey(cursor.key))
            try step()
        }
        return keys
    }

    private mutating func step() throws(StorageError) {
        try work.step()
        isPending = try order.isAscending ? cursor.next() : cursor.previous()
    }

    /// Whether there is an entry to read. Moves to the next interval at the end of one.
    private mutating func isAtEntry() throws(StorageError) -> Bool {
        while true {
            if let interval, isPending {
                let key = cursor.key
                let isWithin =
                    order.isAscending
                    ? interval.high.withUnsafeBytes({ compareBytes(key, $0) }) < 0
                    : interval.low.withUnsafeBytes({ compareBytes(key, $0) }) >= 0
                if isWithin { return true }
            }
            guard let next = order.isAscending ? intervals.popFirst() : intervals.popLast() else { return false }
            interval = next
            if order.isAscending {
                isPending = try cursor.seek(next.low)
            } else {
                isPending = try cursor.seek(next.high) ? cursor.previous() : cursor.last()
            }
        }
    }
}
