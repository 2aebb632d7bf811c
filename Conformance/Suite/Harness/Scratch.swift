internal import Foundation
internal import PolystoreStorage

/// A row in terms of names and values.
struct Row: Hashable, CustomStringConvertible {
    var key: Int64
    var entity: String
    var version: Int64
    var values: [String: Value]

    var description: String { "\(entity) \(key) v\(version) \(values.filter { !$0.value.isNull })" }
}

/// A store under test, with operations in terms of names and values.
final class Scratch {
    private let place: StorePlace
    let schema: Schema
    private(set) var store: OpenStore
    /// Whether other cases read the store at the same time.
    private let isShared: Bool

    init(_ place: StorePlace, _ schema: Schema) throws {
        self.place = place
        self.schema = schema
        isShared = false
        store = try OpenStore(opening: place.store(nil), OpenRequest(schema: schema))
    }

    /// Creates a scratch of an open store that other cases read at the same time.
    init(reading store: OpenStore, _ schema: Schema, _ place: StorePlace) {
        self.place = place
        self.schema = schema
        self.store = store
        isShared = true
    }

    /// Creates a scratch of the same store after its migration to another version of the model.
    init(migrated other: Scratch, to schema: Schema) {
        place = other.place
        isShared = other.isShared
        store = other.store.keeping(schema)
        self.schema = schema
        newest = other.newest
    }

    /// Creates a scratch of the same location with another store, opened with the version of the model that it must have.
    init(beside other: Scratch, _ schema: Schema) throws {
        place = other.place
        isShared = other.isShared
        self.schema = schema
        store = try other.another(OpenRequest(schema: schema, createIfMissing: false))
        newest = other.newest
    }

    /// Creates a scratch of the same location with another open store.
    init(_ other: Scratch, _ store: OpenStore) {
        place = other.place
        isShared = other.isShared
        schema = other.schema
        self.store = store
    }

    /// Closes the store and opens the same location again.
    func reopen() throws {
        try store.close()
        try open()
    }

    /// Opens the same location again.
    func open() throws {
        store = try OpenStore(opening: place.store(nil), OpenRequest(schema: schema))
    }

    /// Returns another store object for the same location.
    func another() throws -> any StorageInterface { try place.store(nil) }

    /// Returns another store object for the same location, opened.
    func another(_ request: OpenRequest) throws -> OpenStore { try OpenStore(opening: another(), request) }

    func entity(_ name: String) throws -> EntityIndex {
        guard let index = schema.index(of: name) else { throw StorageError(.notFound, "the suite has no entity \(name)") }
        return index
    }

    // MARK: Writing

    /// Runs `body` in a write transaction that commits.
    @discardableResult
    func write(author: String = "", time: Int64? = nil, _ body: (WriteSession) throws -> Void) throws -> HistoryToken? {
        if isShared { throw StorageError(.readOnly, "other cases read this store; a case that writes needs a store of its own") }
        let writer = try store.beginWrite(WriteOptions(timeout: 10))
        defer { writer.end() }
        try body(writer)
        let token = try writer.commit(CommitRecord(author: author, time: time))
        newest = token ?? newest
        return token
    }

    private var newest: HistoryToken?

    /// Waits until the history includes the newest commit: a server returns only entries that no running transaction can precede any more.
    ///
    /// - Returns: The token that a session had then. A later session can have an earlier one, if transactions of other stores end meanwhile.
    @discardableResult
    private func settle() throws -> HistoryToken? {
        for _ in 0..<2000 {
            let token = try read { try $0.currentToken() }
            guard let newest, (token?.position ?? 0) < newest.position else { return token }
            Thread.sleep(forTimeInterval: 0.01)
        }
        return nil
    }

    /// Returns the token of the newest transaction after the history has settled.
    func token() throws -> HistoryToken? { try settle() }

    /// Loads rows with given keys, by a bulk load.
    func load(_ name: String, _ rows: [(Int64, [String: Value])]) throws {
        try write { writer in try load(name, rows, writer) }
    }

    /// Loads rows with given keys, by a bulk load in a transaction.
    func load(_ name: String, _ rows: [(Int64, [String: Value])], _ writer: WriteSession) throws {
        let index = try entity(name)
        try writer.load(index, batch(index, rows.map { Row(key: $0.0, entity: name, version: 1, values: $0.1) }))
    }

    /// Inserts rows with keys that the store reserves, and returns the keys.
    @discardableResult
    func insert(_ name: String, _ rows: [[String: Value]], _ writer: WriteSession) throws -> [Int64] {
        let index = try entity(name)
        var keys: [Int64] = []
        while keys.count < rows.count { keys += Array(try writer.reserveKeys(index, count: rows.count - keys.count)) }
        try writer.apply(ChangeSet(entities: [EntityChanges(entity: index, inserts: source(index, zip(keys, rows).map { ($0, 1, $1) }))]))
        return keys
    }

    /// Inserts rows in a separate transaction.
    @discardableResult
    func insert(_ name: String, _ rows: [[String: Value]]) throws -> [Int64] {
        var keys: [Int64] = []
        try write { keys = try insert(name, rows, $0) }
        return keys
    }

    /// Returns changes that set attributes of rows.
    func updates(
        _ name: String, _ rows: [(key: Int64, version: Int64, values: [String: Value])], checksVersion: Bool = false
    ) throws -> EntityChanges {
        let index = try entity(name)
        let groups = Dictionary(grouping: rows) { Set($0.values.keys) }
        var changes = EntityChanges(entity: index)
        for (names, members) in groups {
            var mask = SlotMask()
            for name in names { if let slot = schema[index].slot(name) { mask.insert(slot) } }
            changes.updates.append(
                RowUpdate(mask: mask, checksVersion: checksVersion, rows: source(index, members.map { ($0.key, $0.version, $0.values) })))
        }
        return changes
    }

    /// Sets attributes of a row in a separate transaction.
    func update(_ name: String, _ key: Int64, _ values: [String: Value]) throws {
        try write { try $0.apply(ChangeSet(entities: [updates(name, [(key, 0, values)])])) }
    }

    /// Deletes rows in a separate transaction.
    func delete(_ name: String, _ keys: [Int64]) throws {
        let index = try entity(name)
        try write { try $0.apply(ChangeSet(entities: [EntityChanges(entity: index, deletes: keys.map { RowDeletion(key: $0) })])) }
    }

    func source(_ index: EntityIndex, _ rows: [(Int64, Int64, [String: Value])]) -> RowSource {
        let name = schema.entities[index].name
        return RowSource(count: rows.count) { range, batch in
            for position in range {
                self.append(index, Row(key: rows[position].0, entity: name, version: rows[position].1, values: rows[position].2), to: batch)
            }
        }
    }

    private func batch(_ index: EntityIndex, _ rows: [Row]) -> RowBatch {
        let batch = RowBatch(capacity: rows.count)
        for row in rows { append(index, row, to: batch) }
        return batch
    }

    private func append(_ index: EntityIndex, _ row: Row, to batch: RowBatch) {
        let slots = schema[index].slots
        let cells = slots.map { batch.cell(for: row.values[$0.name] ?? .null) }
        let target = batch.appendRow(key: row.key, version: row.version, entity: index, slots: slots.count)
        for (slot, cell) in cells.enumerated() { target[slot] = cell }
    }

    // MARK: Reading

    func read<R>(_ body: (ReadSession) throws -> R) throws -> R {
        let reader = try store.beginRead()
        defer { reader.end() }
        return try body(reader)
    }

    /// Returns the rows of a request, from the newest state.
    func fetch(_ request: ObjectRequest) throws -> [Row] { try read { try fetch(request, $0) } }

    /// Returns the rows of a request, from a session.
    func fetch(_ request: ObjectRequest, _ reader: ReadSession) throws -> [Row] {
        let plan = try request.plan(in: schema)
        return try rows(reader.cursor(for: plan))
    }

    func rows(_ cursor: any RowCursor) throws -> [Row] {
        var rows: [Row] = []
        let batch = RowBatch(capacity: 7)
        while try cursor.next(into: batch) { for index in 0..<batch.count { rows.append(try row(batch, index)) } }
        return rows
    }

    /// Returns a row of a batch as values.
    private func row(_ batch: RowBatch, _ index: Int) throws -> Row {
        let view = try batch.checkedRow(index, schema)
        var values: [String: Value] = [:]
        for (slot, description) in schema[view.entity].slots.enumerated() {
            guard let value = Value(view[slot], as: description.type) else { throw StorageError(.corrupted, "an ill-formed cell") }
            values[description.name] = value
        }
        return Row(key: view.key, entity: schema.entities[view.entity].name, version: view.version, values: values)
    }

    /// Returns the keys of a request.
    func keys(_ request: ObjectRequest) throws -> [Int64] { try fetch(request).map(\.key) }

    /// Returns the rows with the given keys, in their order.
    func rows(_ name: String, keys: [Int64]) throws -> [Row] {
        try read { reader in
            let batch = RowBatch(capacity: 16)
            try reader.rows(try entity(name), keys: keys, into: batch)
            return try (0..<batch.count).map { try row(batch, $0) }
        }
    }

    /// Returns an array with the row that has the key, or an empty one.
    func row(_ name: String, key: Int64, _ session: ReadSession? = nil) throws -> [Row] {
        func ask(_ reader: ReadSession) throws -> [Row] {
            let batch = RowBatch(capacity: 1)
            try reader.row(try entity(name), key: key, into: batch)
            return try (0..<batch.count).map { try row(batch, $0) }
        }
        return if let session { try ask(session) } else { try read(ask) }
    }

    /// Returns the answer of a query, from the newest state.
    func query(_ request: QueryRequest) throws -> [[Value]] {
        let plan = try request.plan(in: schema)
        return try read { try $0.values(for: plan) }
    }

    /// Returns one aggregate over all rows of an entity.
    func aggregate(_ name: String, _ function: AggregateFunction, _ path: String?, where predicate: QueryPredicate? = nil) throws -> Value {
        let aggregate = Aggregate(function, path.map { PropertyPath($0) })
        return try query(QueryRequest(ObjectRequest(name, where: predicate), outputs: [.aggregate(aggregate)]))[0][0]
    }

    func links(_ name: String, _ side: LinkSide, _ keys: [Int64]?) throws -> [LinkPair] {
        guard let link = schema.links.firstIndex(where: { $0.name == name }) else { throw StorageError(.notFound, "no link \(name)") }
        return try read { reader in
            var found: [LinkPair] = []
            try reader.links(link, side: side, keys: keys) { pairs throws(StorageError) in found += pairs }
            return found
        }
    }

    var keepsHistory: Bool { store.capabilities.contains(.history) }

    /// Returns the entries after a token; none for a store without a history.
    func history(since token: HistoryToken? = nil, limit: Int = 1000) throws -> [HistoryEntry] {
        guard keepsHistory else { return [] }
        while true {
            try settle()
            // Other sessions on the same server begin and end: the session that reads determines whether it can see all entries.
            let entries = try read { try $0.hasUnsettledHistory() ? nil : $0.history(since: token, limit: limit) }
            if let entries { return entries }
        }
    }
}
