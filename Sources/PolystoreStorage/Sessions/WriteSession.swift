public import PolystoreFoundation

/// A write transaction of an open store. It is confined to the thread that began it.
///
/// After a change that failed, the transaction can only be rolled back, either to a savepoint that was set before or as a whole. Until then
/// every other method, including `commit`, throws the error of that change. After a commit whose outcome is in doubt, every method throws
/// the error of that commit. After any other commit, and after `end`, every method throws `storeClosed`.
public final class WriteSession: ReadSession {
    /// The store's own transaction.
    package let writer: any StorageWriter
    private let limits: ValueLimits
    /// The changes so far, if there is an observer and the store does not collect them itself.
    private(set) var changes: SessionChanges?

    var recorders = SessionAbility<any ChangeRecordingWriter>.unknown
    var purgers = SessionAbility<any HistoryPurgingWriter>.unknown
    var batches = SessionAbility<any BatchWriter>.unknown
    var sqlWriters = SessionAbility<any SQLWriter>.unknown

    /// Creates a write transaction of a store.
    ///
    /// - Parameter isFollowed: Whether an observer needs the changes of the transaction.
    package init(_ writer: any StorageWriter, of store: OpenStore, isFollowed: Bool = false) {
        self.writer = writer
        limits = ValueLimits(store.capabilities.maximumValueBytes, store.schema)
        super.init(writer, of: store)
        if isFollowed, recorders.find(in: writer) == nil { changes = SessionChanges(store.schema) }
    }

    /// Reserves primary keys that no committed object ever had, for the hierarchy of an entity: at least one, at most `count`.
    ///
    /// The store may reserve the same keys again after the transaction was rolled back.
    public func reserveKeys(_ entity: EntityIndex, count: Int) throws(StorageError) -> Range<Int64> {
        try checkActive()
        return try writer.reserveKeys(entity, count: count)
    }

    /// Writes a change set. Deletes come first, then updates and inserts, so that the order within the change set never matters.
    ///
    /// - Throws: `uniqueConstraintViolated`, which names the entity and the constraint; `staleObject` for an update or a delete that finds
    ///   another version than expected; `notFound` for one that finds no row; `valueTooLarge`, which names the entity and the attribute.
    public func apply(_ changes: ChangeSet) throws(StorageError) {
        let checked = limits.checking(changes)
        try change { () throws(StorageError) in
            try writer.apply(checked)
            try self.changes?.add(changes)
        }
    }

    /// Inserts rows, or updates the rows that have the same values under a unique constraint, one after the other in their order.
    ///
    /// - Returns: The result of each row, in their order.
    public func upsert(_ upsert: RowUpsert) throws(StorageError) -> [UpsertedRow] {
        let checked = limits.checking(upsert)
        return try change { () throws(StorageError) in
            let result = try writer.upsert(checked)
            changes?.add(upsert, result)
            return result
        }
    }

    /// Inserts rows in bulk, with their primary keys and versions, all of entities of one hierarchy. The key counter rises above the
    /// greatest key.
    ///
    /// A bulk load leaves no entries in the history.
    /// - Throws: `alreadyExists` for a primary key that exists.
    public func load(_ root: EntityIndex, _ batch: RowBatch) throws(StorageError) {
        try change { () throws(StorageError) in
            try limits.check(batch)
            try writer.load(root, batch)
        }
    }

    /// Inserts pairs into a link table in bulk.
    public func load(link: Int, _ pairs: [LinkPair]) throws(StorageError) {
        try change { () throws(StorageError) in try writer.load(link: link, pairs) }
    }

    /// Stores bytes in a note with a name of at most 200 bytes. Nil removes the note.
    public func setNote(_ name: String, _ bytes: Data?) throws(StorageError) {
        try change { () throws(StorageError) in try writer.setNote(name, bytes) }
    }

    /// Creates a savepoint to which `rollback(to:)` returns. Savepoints can be nested.
    ///
    /// - Throws: `unsupported` for a store without the capability `savepoints`.
    public func savepoint() throws(StorageError) -> Int {
        try checkActive()
        guard store.capabilities.contains(.savepoints) else { throw .lacks(.savepoints) }
        let savepoint = try writer.savepoint()
        changes?.mark(savepoint)
        return savepoint
    }

    /// Undoes all changes since a savepoint, including a change that failed. The savepoint remains set.
    public func rollback(to savepoint: Int) throws(StorageError) {
        switch state {
        case .active, .doomed: break
        case .inDoubt, .ended: try checkActive()
        }
        try writer.rollback(to: savepoint)
        changes?.rollback(to: savepoint)
        state = .active
    }

    /// Releases a savepoint and those nested in it, keeping the changes.
    public func release(_ savepoint: Int) throws(StorageError) {
        try checkActive()
        try writer.release(savepoint)
    }

    /// Commits the transaction and writes one history entry if any changes were applied.
    ///
    /// - Returns: The token of the entry, or nil if there was nothing to record.
    /// - Throws: The error of a change that failed and was not undone. Nothing is committed then.
    public func commit(_ record: CommitRecord) throws(StorageError) -> HistoryToken? {
        try finish { () throws(StorageError) in try writer.commit(record) }
    }

    /// Runs an operation that ends the transaction.
    func finish<Result>(_ body: () throws(StorageError) -> Result) throws(StorageError) -> Result {
        try checkActive()
        do throws(StorageError) {
            let result = try body()
            state = .ended
            return result
        } catch {
            state = error.code == .commitOutcomeUnknown ? .inDoubt(error) : .ended
            throw error.naming(in: schema)
        }
    }

    /// Runs a change. If it throws, the transaction cannot continue until the change is undone.
    @inline(__always)
    func change<Result>(_ body: () throws(StorageError) -> Result) throws(StorageError) -> Result {
        try checkActive()
        do throws(StorageError) { return try body() } catch {
            let error = error.naming(in: schema)
            state = .doomed(error)
            throw error
        }
    }
}

extension StorageError {
    /// Returns the error of a violated constraint with its properties, and without the keys of objects, which not every engine reports.
    fileprivate func naming(in schema: Schema) -> StorageError {
        if code != .uniqueConstraintViolated { return self }
        var named = namingProperties(in: schema)
        named.details.keys = []
        return named
    }

    /// Returns the error of a violated constraint with its properties.
    package func namingProperties(in schema: Schema) -> StorageError {
        guard code == .uniqueConstraintViolated, details.properties.isEmpty, let name = details.constraint else { return self }
        for description in schema.descriptions {
            guard let rule = description.uniqueConstraints.first(where: { $0.name == name }) else { continue }
            var named = self
            named.details.properties = rule.slots.map { description.slots[$0].name }
            return named
        }
        return self
    }

    /// Returns the error of a store that lacks a capability.
    static func lacks(_ capability: StorageCapabilities.Capability) -> StorageError {
        StorageError(.unsupported, "the store lacks the capability \(capability)")
    }
}
