internal import PolystoreStorage

/// The entries of an index in an order, in groups of keys: forwards or backwards by their values, the keys of equal values ascending.
struct IndexGroups {
    /// Keys one after the other.
    struct Group {
        var keys: [Int64]
        /// Whether their rows have to be sorted: by what the index does not hold, or holds only the beginning of.
        var needsSorting: Bool
    }

    private let order: IndexOrder
    private let layout: IndexEntry
    private let work: WorkMeter
    private let cursor: any OrderedCursor
    private var intervals: ArraySlice<KeyInterval>
    private var interval: KeyInterval?
    /// Whether the cursor stands on an entry that was not read.
    private var isPending = false

    /// Groups smaller than this are given out together.
    private static let usual = 256

    init(_ order: IndexOrder, _ reader: KeyValueReader) throws(StorageError) {
        self.order = order
        layout = IndexEntry(order.use.index, reader.core)
        work = reader.work
        cursor = try reader.engine.cursor(order.use.index.map)
        intervals = order.use.intervals[...]
    }

    /// The next keys; nil when there are no more.
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

    /// The keys of the entries that begin with a prefix.
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

    /// Whether there is an entry to read, going on to the next interval where one ends.
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
