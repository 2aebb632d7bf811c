internal import PolystoreStorage

/// The rows of a hierarchy in key order, one at a time. Rows that cannot be decoded are skipped if the store can find the rows after them.
struct CheckedRows {
    /// A row that cannot be decoded.
    struct Unreadable {
        let key: Int64
        let sentence: String
    }

    private static let blockSize = 1024

    private let session: ReadSession
    private let root: EntityIndex
    /// The session that finds rows by their keys; nil if the store has none.
    private let stored: (any StoredFormReader)?
    /// The cursor over all rows; nil after it met a row that it could not decode.
    private var cursor: (any RowCursor)?
    private let batch = RowBatch(capacity: blockSize)
    private var index = 0
    private var isFinished = false
    private var last: Int64?
    private var unreadable: [Unreadable] = []

    init(_ session: ReadSession, _ root: EntityIndex) throws(StorageError) {
        self.session = session
        self.root = root
        stored = session.storedForms
        cursor = try session.cursor(for: FetchPlan(session.schema, root))
        try refill()
    }

    /// The key of the current row, or nil after the last row.
    var key: Int64? { isFinished ? nil : batch.key(index) }

    /// The entity of the current row.
    var entity: EntityIndex { batch.row(index).entity }

    /// The current row for a repair.
    var row: RepairStep.Row {
        let row = batch.row(index)
        return RepairStep.Row(entity: row.entity, key: row.key, version: row.version)
    }

    /// Returns a cell of the current row. It is valid until the next row.
    func cell(_ slot: Int) -> Cell { batch.row(index)[slot] }

    /// Advances to the next row.
    mutating func advance() throws(StorageError) {
        index += 1
        if index == batch.count { try refill() }
    }

    /// Returns the skipped rows before the current one, each once.
    mutating func takeUnreadable() -> [Unreadable] {
        if unreadable.isEmpty { return [] }
        let end = key.map { key in unreadable.firstIndex { $0.key > key } ?? unreadable.count } ?? unreadable.count
        defer { unreadable.removeFirst(end) }
        return Array(unreadable[..<end])
    }

    private mutating func refill() throws(StorageError) {
        index = 0
        repeat { isFinished = try !next() } while !isFinished && batch.count == 0
    }

    private mutating func next() throws(StorageError) -> Bool {
        if batch.count > 0 { last = max(last ?? .min, batch.key(batch.count - 1)) }
        guard let cursor else { return try nextByKey() }
        do throws(StorageError) { return try cursor.next(into: batch) } catch {
            guard error.code == .corrupted, stored != nil else { throw error }
            self.cursor = nil
            batch.clear()
            return try nextByKey()
        }
    }

    /// Reads the rows of the next keys, one by one if one of them cannot be decoded.
    private mutating func nextByKey() throws(StorageError) -> Bool {
        batch.clear()
        guard let keys = try stored?.storedKeys(root, after: last, limit: Self.blockSize), let newest = keys.last else { return false }
        last = newest
        do throws(StorageError) { return try read(keys) } catch  where error.code == .corrupted { batch.clear() }
        for key in keys {
            let count = batch.count
            do throws(StorageError) { _ = try read([key]) } catch  where error.code == .corrupted {
                while batch.count > count { batch.removeLastRow() }
                unreadable.append(Unreadable(key: key, sentence: "the row cannot be decoded"))
            }
        }
        return true
    }

    private func read(_ keys: [Int64]) throws(StorageError) -> Bool {
        try session.rows(root, keys: keys, into: batch)
        return true
    }
}

extension ReadSession {
    /// The session of the store as one that finds rows that cannot be decoded; nil for a store without such sessions, and for the database
    /// of another program.
    var storedForms: (any StoredFormReader)? {
        let isForeign = store.ability((any ForeignStorage).self)?.foreignAccess != nil
        return isForeign ? nil : ability((any StoredFormReader).self)
    }
}
