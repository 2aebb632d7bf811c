package import PolystoreStorage

/// A write transaction over the tables of another program. Triggers maintain versions and history, so that they include the changes of
/// every writer.
///
/// Each requirement changes many rows of one table and throws the error that the engine reports.
package protocol SQLInPlaceWriter: SQLWriteSession, ChangeRecordingWriter where Mark == Void {
    /// Whether the engine checks references after each statement instead of at the end of the transaction.
    static var checksReferencesAtOnce: Bool { get }
    /// Whether the log has the changes of a row in the order in which they were made.
    static var logsInOrder: Bool { get }

    /// The tables as they are written.
    var written: InPlaceTables { get }
    /// A batch for the rows of one statement, or for as many as the engine takes at once.
    var rowBatch: RowBatch { get }
    /// The statement that reads the log of the transaction: source, key, kind and columns of each change, in order.
    var log: SQLText { get throws(StorageError) }

    /// Returns the versions of existing rows.
    func versions(_ entity: EntityIndex, _ keys: [Int64]) throws(StorageError) -> [Int64: Int64]
    /// Replaces the versions that the triggers have given to rows.
    func set(_ versions: [Int64: Int64], _ entity: EntityIndex) throws(StorageError)
    /// Deletes rows, unless the engine has already deleted them together with the rows that they refer to.
    func delete(_ entity: EntityIndex, _ keys: [Int64]) throws(StorageError)
    /// Sets columns of rows to nil.
    func clear(_ slots: [Int], _ entity: EntityIndex, _ keys: [Int64]) throws(StorageError)
    /// Returns the rows that currently have values which an update gives to other rows.
    ///
    /// - Parameter slots: The slots of the unique constraint.
    func holders(_ entity: EntityIndex, _ slots: [Int], _ update: RowUpdate) throws(StorageError) -> Set<Int64>
    /// Returns the references whose columns follow changes of a column automatically, as text for people to read.
    func followers(_ entity: EntityIndex, _ slot: Int) throws(StorageError) -> [String]
    func update(_ entity: EntityIndex, _ update: RowUpdate) throws(StorageError)
    func insert(_ entity: EntityIndex, _ rows: RowSource) throws(StorageError)
    func remove(_ pairs: [LinkPair], link: Int) throws(StorageError)
    func add(_ pairs: [LinkPair], link: Int) throws(StorageError)
}

extension SQLInPlaceWriter {
    /// Applies changes. Pairs are removed first and added last; referring rows are deleted before the rows that they refer to and inserted
    /// after them, because the engine enforces references itself.
    package func apply(_ changes: ChangeSet) throws(StorageError) {
        try checkOpen()
        let parts = written.order.compactMap { entity in changes.entities.first { $0.entity == entity } }
        let hasDeletes = parts.contains { !$0.deletes.isEmpty }
        var before: [EntityIndex: [Int64: Int64]] = [:]
        for change in parts { try check(change, &before, keeps: hasDeletes || !movable(change).isEmpty) }
        for change in changes.links where !change.removed.isEmpty { try remove(change.removed, link: change.link) }
        for change in parts.reversed() where !change.deletes.isEmpty { try delete(change.entity, change.deletes.map(\.key)) }
        for change in parts { try park(change) }
        try settle(before)
        // Updates that refer to a new object wait for its insertion.
        let waits = Self.checksReferencesAtOnce && parts.contains { $0.inserts != nil }
        try update(parts) { !waits || !refers($0, $1) }
        for change in parts { if let inserts = change.inserts { try insert(change.entity, inserts) } }
        if waits { try update(parts, where: refers) }
        for change in changes.links where !change.added.isEmpty { try add(change.added, link: change.link) }
        for change in parts { try settleUpdates(change) }
    }

    /// Sets the versions of rows to those that the caller expects, even where triggers and references of the database have changed the rows
    /// as well: all changes of a transaction count as one.
    private func settleUpdates(_ change: EntityChanges) throws(StorageError) {
        for update in change.updates where update.checksVersion {
            try update.rows.forEachBatch(rowBatch) { batch throws(StorageError) in
                let keys = (0..<batch.count).map(batch.key), now = try versions(change.entity, keys)
                var raised: [Int64: Int64] = [:]
                for index in keys.indices {
                    if let version = now[keys[index]], version > batch.row(index).version + 1 {
                        raised[keys[index]] = batch.row(index).version + 1
                    }
                }
                if !raised.isEmpty { try set(raised, change.entity) }
            }
        }
    }

    private func update(_ parts: [EntityChanges], where isMeant: (EntityIndex, SlotMask) -> Bool) throws(StorageError) {
        for change in parts {
            for update in change.updates where isMeant(change.entity, update.mask) { try self.update(change.entity, update) }
        }
    }

    private func refers(_ entity: EntityIndex, _ mask: SlotMask) -> Bool {
        mask.slots.contains { core.tables.schema[entity].slots[$0].destination != nil }
    }

    // MARK: Versions

    /// Checks all versions before any change, because rows that the engine deletes or clears automatically count as changed too.
    ///
    /// - Parameter keeps: Whether the versions are needed later, in `settle`.
    private func check(
        _ change: EntityChanges, _ before: inout [EntityIndex: [Int64: Int64]], keeps: Bool
    ) throws(StorageError) {
        let pairs = change.deletes.compactMap { deletion in deletion.expectedVersion.map { (deletion.key, $0) } }
        let expected = Dictionary(pairs, uniquingKeysWith: { first, _ in first })
        if !change.deletes.isEmpty { try check(change.entity, change.deletes.map(\.key), expected) }
        for update in change.updates where update.checksVersion || keeps {
            try update.rows.forEachBatch(rowBatch) { batch throws(StorageError) in
                let keys = (0..<batch.count).map(batch.key)
                var expected: [Int64: Int64] = [:]
                if update.checksVersion { for index in keys.indices { expected[keys[index]] = batch.row(index).version } }
                let versions = try check(change.entity, keys, expected)
                if keeps { before[change.entity, default: [:]].merge(versions) { first, _ in first } }
            }
        }
    }

    @discardableResult
    private func check(_ entity: EntityIndex, _ keys: [Int64], _ expected: [Int64: Int64]) throws(StorageError) -> [Int64: Int64] {
        let versions = try versions(entity, keys), name = core.tables.schema.entities[entity].name
        try checkAll(entity, keys, versions)
        let stale = keys.filter { expected[$0] != nil && expected[$0] != versions[$0] }
        guard let first = stale.first else { return versions }
        throw StorageError(
            .staleObject, "\(name) \(first) was changed by another transaction since it was read",
            details: .init(entity: name, keys: stale))
    }

    /// Throws if rows do not exist.
    ///
    /// - Throws: `notFound`.
    package func checkAll(_ entity: EntityIndex, _ keys: [Int64], _ versions: [Int64: Int64]) throws(StorageError) {
        let gone = keys.filter { versions[$0] == nil }, name = core.tables.schema.entities[entity].name
        guard let first = gone.first else { return }
        throw StorageError(.notFound, "\(name) \(first) no longer exists", details: .init(entity: name, keys: gone))
    }

    /// Returns the error for a statement that the database has silently not carried out.
    ///
    /// - Parameters:
    ///   - name: The entity, or the table of pairs.
    ///   - triggers: The triggers and rules that may be the cause.
    package func notDone(_ action: String, _ name: String, _ keys: [Int64], by triggers: [String]) -> StorageError {
        let names = triggers.isEmpty ? "a rule of the database" : "a trigger of the database (\(triggers.joined(separator: ", ")))"
        let message = "\(action) was prevented by \(names)"
        let failure = ValidationFailure(entity: name, property: nil, key: keys.first ?? 0, message)
        return StorageError(
            .validationFailed, "\(failure)", details: .init(entity: name, keys: keys, failures: [failure]))
    }

    /// Restores versions that the deletion of other rows has raised: the rows' own change raises them exactly once.
    private func settle(_ before: [EntityIndex: [Int64: Int64]]) throws(StorageError) {
        for (entity, versions) in before.sorted(by: { $0.key < $1.key }) {
            let now = try self.versions(entity, versions.keys.sorted())
            let raised = versions.filter { now[$0.key] != $0.value }
            if !raised.isEmpty { try set(raised, entity) }
        }
    }

    // MARK: Unique columns

    /// Returns the constraints whose columns several rows change, so that they could swap values, with the columns that can be nil.
    private func movable(_ change: EntityChanges) -> [(slots: [Int], nullable: [Int])] {
        if change.updates.reduce(0, { $0 + $1.rows.count }) < 2 { return [] }
        let table = written.tables[change.entity], changed = Set(change.updates.flatMap(\.mask.slots))
        return core.tables.schema[change.entity].uniqueConstraints.compactMap { constraint in
            let nullable = constraint.slots.filter { changed.contains($0) && !table.columns[$0].isRequired }
            return nullable.isEmpty ? nil : (constraint.slots, nullable)
        }
    }

    /// Sets the values of rows to nil that other rows receive within the same change, because engines check uniqueness row by row. Only
    /// these values are nil temporarily, because triggers and rules of the database observe it.
    ///
    /// - Throws: `unsupported` where rows of other tables would follow the change: a reference cannot be nil temporarily and then be
    ///   restored.
    private func park(_ change: EntityChanges) throws(StorageError) {
        for (slots, nullable) in movable(change) {
            var holders: Set<Int64> = []
            for update in change.updates where update.mask.slots.contains(where: slots.contains) {
                holders.formUnion(try self.holders(change.entity, slots, update))
            }
            if holders.isEmpty { continue }
            for update in change.updates {
                let parked = nullable.filter(update.mask.slots.contains)
                if parked.isEmpty { continue }
                var keys: [Int64] = []
                try update.rows.forEachBatch(rowBatch) { batch throws(StorageError) in
                    for index in 0..<batch.count where holders.contains(batch.key(index)) { keys.append(batch.key(index)) }
                }
                if keys.isEmpty { continue }
                try refuseFollowers(change.entity, parked)
                try clear(parked, change.entity, keys)
            }
        }
    }

    private func refuseFollowers(_ entity: EntityIndex, _ slots: [Int]) throws(StorageError) {
        for slot in slots {
            let followers = try followers(entity, slot)
            if followers.isEmpty { continue }
            let description = core.tables.schema[entity], name = description.name, property = description.slots[slot].name
            throw StorageError(
                .unsupported,
                "values of \(name).\(property) cannot be moved between objects in one transaction: \(followers.joined(separator: ", ")) "
                    + "follows each change by its ON UPDATE action; assign other values in a separate transaction first",
                details: .init(entity: name, property: property))
        }
    }

    // MARK: The log

    /// The changes that the triggers have logged, both of the transaction's own statements and of automatic actions of the engine.
    package var recordedChanges: HistoryChanges? {
        guard let rows = try? connection.rows(log, [.string, .int64, .string, .string]) else { return nil }
        var log = InPlaceLog(written, isInOrder: Self.logsInOrder)
        for row in rows { log.add([.int(0), .int(0), .string("")] + row) }
        return log.changes(core.metadata.history)
    }

    /// Returns the names of columns in the format of the log.
    package func columns(_ slots: [Int], _ entity: EntityIndex) -> String {
        slots.map { written.tables[entity].columns[$0].name }.joined(separator: String(InPlaceLog.separator))
    }
}
