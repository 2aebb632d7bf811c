public import Foundation

/// A write transaction of an open store. It is confined to the thread that began it.
///
/// After a change that failed, the transaction can only be rolled back: to a savepoint that was set before, or as a whole. Until then every
/// other verb, `commit` too, throws the error of that change. After a commit whose outcome is unknown every verb throws its error; after
/// any other commit, and after `end`, every verb is `storeClosed`.
public final class WriteSession: ReadSession {
    /// The transaction of the store itself.
    package let writer: any StorageWriter
    private let limits: ValueLimits
    /// What the store does not collect itself and somebody follows.
    private(set) var changes: SessionChanges?

    var recorders = SessionAbility<any ChangeRecordingWriter>.unknown
    var purgers = SessionAbility<any HistoryPurgingWriter>.unknown
    var batches = SessionAbility<any BatchWriter>.unknown
    var sqlWriters = SessionAbility<any SQLWriter>.unknown

    /// A write transaction of a store.
    ///
    /// - Parameter isFollowed: Whether somebody follows what the transaction changes.
    package init(_ writer: any StorageWriter, of store: OpenStore, isFollowed: Bool = false) {
        self.writer = writer
        limits = ValueLimits(store.capabilities.maximumValueBytes, store.schema)
        super.init(writer, of: store)
        if isFollowed, recorders.find(in: writer) == nil { changes = SessionChanges(store.schema) }
    }

    /// Keys that no committed object ever had, for the hierarchy of an entity: at least one, at most `count`.
    ///
    /// They may be given again when the transaction is rolled back.
    public func reserveKeys(_ entity: EntityIndex, count: Int) throws(StorageError) -> Range<Int64> {
        try checkActive()
        return try writer.reserveKeys(entity, count: count)
    }

    /// Writes a change set: deletes first, then updates and inserts, so that the order within it never matters.
    ///
    /// - Throws: `uniqueConstraintViolated` naming entity and constraint; `staleObject` for an update or a delete that finds another version
    ///   than expected; `notFound` for one that finds no row; `valueTooLarge` naming entity and attribute.
    public func apply(_ changes: ChangeSet) throws(StorageError) {
        let checked = limits.checking(changes)
        try change { () throws(StorageError) in
            try writer.apply(checked)
            try self.changes?.add(changes)
        }
    }

    /// Adds rows, or changes those that have the same values under a unique constraint: one after the other, in their order.
    ///
    /// - Returns: What became of each row, in their order.
    public func upsert(_ upsert: RowUpsert) throws(StorageError) -> [UpsertedRow] {
        let checked = limits.checking(upsert)
        return try change { () throws(StorageError) in
            let result = try writer.upsert(checked)
            changes?.add(upsert, result)
            return result
        }
    }

    /// Adds rows in bulk, with their keys and versions, all of entities of one hierarchy; the key counter rises above the greatest key.
    ///
    /// A bulk load leaves no entries in the history.
    /// - Throws: `alreadyExists` for a key that exists.
    public func load(_ root: EntityIndex, _ batch: RowBatch) throws(StorageError) {
        try change { () throws(StorageError) in
            try limits.check(batch)
            try writer.load(root, batch)
        }
    }

    /// Adds pairs to a link table in bulk.
    public func load(link: Int, _ pairs: [Link]) throws(StorageError) {
        try change { () throws(StorageError) in try writer.load(link: link, pairs) }
    }

    /// Keeps bytes beside the data under a name of at most 200 bytes; nil forgets them.
    public func setNote(_ name: String, _ bytes: Data?) throws(StorageError) {
        try change { () throws(StorageError) in try writer.setNote(name, bytes) }
    }

    /// Sets a savepoint to which `rollback(to:)` returns; savepoints nest.
    ///
    /// - Throws: `unsupported` by a store without the capability `savepoints`.
    public func savepoint() throws(StorageError) -> Int {
        try checkActive()
        guard store.capabilities.contains(.savepoints) else { throw .lacks(.savepoints) }
        let savepoint = try writer.savepoint()
        changes?.mark(savepoint)
        return savepoint
    }

    /// Undoes everything since a savepoint, which stays set, a change that failed since then too.
    public func rollback(to savepoint: Int) throws(StorageError) {
        switch state {
        case .active, .doomed: break
        case .inDoubt, .ended: try checkActive()
        }
        try writer.rollback(to: savepoint)
        changes?.rollback(to: savepoint)
        state = .active
    }

    /// Releases a savepoint and those inside it, keeping the changes.
    public func release(_ savepoint: Int) throws(StorageError) {
        try checkActive()
        try writer.release(savepoint)
    }

    /// Commits, writing one history entry when anything was applied.
    ///
    /// - Returns: The token of the entry, or nil when there was nothing to record.
    /// - Throws: The error of a change that failed and was not undone; nothing is committed then.
    public func commit(_ record: CommitRecord) throws(StorageError) -> HistoryToken? {
        try finish { () throws(StorageError) in try writer.commit(record) }
    }

    /// Runs what ends the transaction.
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

    /// Runs a change; what it throws dooms the transaction until it is undone.
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
    /// The error with the property of its constraint, where that is a single one.
    fileprivate func naming(in schema: Schema) -> StorageError {
        guard code == .uniqueConstraintViolated, details.property == nil, let name = details.constraint else { return self }
        for description in schema.descriptions {
            guard let rule = description.uniqueConstraints.first(where: { $0.name == name }), rule.slots.count == 1 else { continue }
            var named = self
            named.details.property = description.slots[rule.slots[0]].name
            return named
        }
        return self
    }

    /// What a store answers that lacks a capability.
    static func lacks(_ capability: StorageCapabilities.Capability) -> StorageError {
        StorageError(.unsupported, "the store lacks the capability \(capability)")
    }
}
