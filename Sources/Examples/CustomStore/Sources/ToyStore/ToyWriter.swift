internal import Foundation
internal import PolystoreStorage

/// A write transaction: it changes its copy, which a commit puts in the place of the database.
final class ToyWriter: ToyReader, StorageWriter {
    private let store: ToyStore
    private var savepoints = Savepoints<ToyDatabase>()
    private var isCommitted = false

    init(_ database: ToyDatabase, _ limit: WorkLimit?, of store: ToyStore) {
        self.store = store
        super.init(database, limit)
    }

    override func didEnd() { if !isCommitted { try? store.endWrite(nil) } }

    func reserveKeys(_ entity: EntityIndex, count: Int) throws(StorageError) -> Range<Int64> {
        let root = database.schema[entity].root, first = database.nextKeys[root, default: 1]
        let (end, isOver) = first.addingReportingOverflow(Int64(count))
        if isOver { throw failure(.limitExceeded, "has no keys left", entity, nil) }
        database.nextKeys[root] = end
        return first..<end
    }

    func apply(_ changes: ChangeSet) throws(StorageError) {
        for change in changes.entities {
            for deletion in change.deletes { try delete(deletion, change.entity) }
        }
        var changed: [(entity: EntityIndex, key: Int64)] = []
        for change in changes.entities {
            for update in change.updates { changed += try self.update(change.entity, update) }
            if let inserts = change.inserts { changed += try insert(inserts, change.entity) }
        }
        // Looked at when all have their values, so that unique values can change places.
        for (entity, key) in changed { try checkUnique(entity, key) }
        for change in changes.links {
            for pair in change.removed { database.links[change.link]?[ToyPair(owner: pair.owner, member: pair.member)] = nil }
            try load(link: change.link, change.added)
        }
    }

    private func delete(_ deletion: RowDeletion, _ entity: EntityIndex) throws(StorageError) {
        let row = try stored(entity, deletion.key)
        if let version = deletion.expectedVersion, version != row.version { throw stale(entity, deletion.key) }
        database[entity, deletion.key] = nil
    }

    private func update(_ entity: EntityIndex, _ update: RowUpdate) throws(StorageError) -> [(entity: EntityIndex, key: Int64)] {
        let slots = database.schema[entity].slots.count
        return try forEachRow(update.rows) { view throws(StorageError) in
            let new = ToyRow(view, slots: slots)
            var row = try stored(entity, view.key)
            if update.checksVersion, row.version != new.version { throw stale(entity, view.key) }
            let (version, isOver) = row.version.addingReportingOverflow(1)
            if isOver {
                throw failure(.limitExceeded, "cannot be changed any further: its version is the greatest possible one", entity, view.key)
            }
            row.version = version
            for slot in 0..<slots where update.mask.contains(slot) { row.values[slot] = new.values[slot] }
            database[entity, view.key] = row
        }
    }

    private func insert(_ rows: RowSource, _ entity: EntityIndex) throws(StorageError) -> [(entity: EntityIndex, key: Int64)] {
        try forEachRow(rows) { view throws(StorageError) in try add(view) }
    }

    /// Calls a closure with each row.
    ///
    /// - Returns: Their entities and keys.
    private func forEachRow(
        _ rows: RowSource, _ body: (borrowing RowView) throws(StorageError) -> Void
    ) throws(StorageError) -> [(entity: EntityIndex, key: Int64)] {
        var changed: [(entity: EntityIndex, key: Int64)] = []
        try rows.forEachBatch(RowBatch()) { batch throws(StorageError) in
            try limit?.check()
            for index in 0..<batch.count {
                let row = batch.row(index)
                try body(row)
                changed.append((row.entity, row.key))
            }
        }
        return changed
    }

    private func add(_ view: borrowing RowView) throws(StorageError) {
        let row = ToyRow(view, slots: database.schema[view.entity].slots.count), key = view.key
        if database[row.entity, key] != nil { throw failure(.alreadyExists, "already exists", row.entity, key) }
        database[row.entity, key] = row
    }

    private func checkUnique(_ entity: EntityIndex, _ key: Int64) throws(StorageError) {
        let row = try stored(entity, key)
        for constraint in database.schema[row.entity].uniqueConstraints {
            guard let rival = database.rival(of: row, key, constraint) else { continue }
            let name = database.schema.entities[constraint.declaredIn].name
            throw StorageError(
                .uniqueConstraintViolated, "another object of \(name) has the same \(constraint.name)",
                details: .init(entity: name, constraint: constraint.name, keys: [rival]))
        }
    }

    func upsert(_ upsert: RowUpsert) throws(StorageError) -> [UpsertedRow] {
        var result: [UpsertedRow] = []
        let slots = database.schema[upsert.entity].slots.count
        _ = try forEachRow(upsert.rows) { view throws(StorageError) in
            let row = ToyRow(view, slots: slots), key = view.key
            guard let found = database.rival(of: row, key, upsert.constraint) else {
                try add(view)
                try checkUnique(upsert.entity, key)
                return result.append(UpsertedRow(key: key, entity: upsert.entity, isInserted: true))
            }
            var stored = try stored(upsert.entity, found)
            guard database.schema[upsert.entity].family.contains(stored.entity) else {
                throw .upsertOfAnotherEntity(upsert, database.schema)
            }
            stored.version += 1
            for slot in upsert.assigned { stored.values[slot] = row.values[slot] }
            database[upsert.entity, found] = stored
            try checkUnique(upsert.entity, found)
            result.append(UpsertedRow(key: found, entity: stored.entity, isInserted: false))
        }
        return result
    }

    func load(_ root: EntityIndex, _ batch: RowBatch) throws(StorageError) {
        var greatest: Int64 = 0
        for index in 0..<batch.count {
            try add(batch.row(index))
            greatest = max(greatest, batch.key(index))
        }
        for index in 0..<batch.count { try checkUnique(root, batch.key(index)) }
        let (next, isOver) = greatest.addingReportingOverflow(1)
        if isOver { throw failure(.limitExceeded, "has no keys left", root, nil) }
        database.nextKeys[database.schema[root].root] = max(database.nextKeys[database.schema[root].root, default: 1], next)
    }

    func load(link: Int, _ pairs: [LinkPair]) throws(StorageError) {
        for pair in pairs { database.links[link, default: [:]][ToyPair(owner: pair.owner, member: pair.member)] = pair.rank }
    }

    func setNote(_ name: String, _ bytes: Data?) throws(StorageError) { database.notes[name] = bytes }

    func savepoint() throws(StorageError) -> Int { savepoints.add(database) }

    func rollback(to savepoint: Int) throws(StorageError) {
        database = try savepoints.find(savepoint).state
        savepoints.rewind(to: savepoint)
    }

    func release(_ savepoint: Int) throws(StorageError) {
        try savepoints.find(savepoint)
        savepoints.release(savepoint)
    }

    func commit(_ record: CommitRecord) throws(StorageError) -> HistoryToken? {
        isCommitted = true
        defer { end() }
        try store.endWrite(database)
        return nil
    }

    private func stored(_ entity: EntityIndex, _ key: Int64) throws(StorageError) -> ToyRow {
        guard let row = database[entity, key] else { throw failure(.notFound, "no longer exists", entity, key) }
        return row
    }

    private func stale(_ entity: EntityIndex, _ key: Int64) -> StorageError {
        failure(.staleObject, "was changed by another transaction since it was read", entity, key)
    }

    private func failure(_ code: StorageError.Code, _ what: String, _ entity: EntityIndex, _ key: Int64?) -> StorageError {
        let name = database.schema.entities[entity].name
        return StorageError(
            code, "\(name) \(key.map(String.init) ?? "") \(what)", details: .init(entity: name, keys: key.map { [$0] } ?? []))
    }
}
