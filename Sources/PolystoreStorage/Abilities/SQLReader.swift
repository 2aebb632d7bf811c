/// A session that answers statements in SQL (capability `rawSQL`).
public protocol SQLReader: StorageReader {
    /// The answer to a statement in SQL that changes nothing.
    ///
    /// *Behavior*: sees what the session sees. A statement that is wrong, several at once and one that controls transactions or settings are
    /// `invalidPredicate`; one that would change something is `readOnly`, and nothing is changed. The session goes on after an error. Values
    /// are those of the engine's types: where it has no type of its own for a date, a date is what it is stored as.
    func rawRows(_ sql: RawSQL) throws(StorageError) -> RawRows
}

extension ReadSession {
    /// The answer to a statement in SQL that changes nothing; the session goes on after an error.
    ///
    /// - Throws: `unsupported` without the capability `rawSQL`; `invalidPredicate` for a statement that is wrong, several at once and one that
    ///   controls transactions or settings; `readOnly` for one that would change something.
    public final func rawRows(_ sql: RawSQL) throws(StorageError) -> RawRows {
        try checkActive()
        guard store.capabilities.contains(.rawSQL), let reader = sqlReaders.find(in: reader) else { throw .takesNoSQL }
        return try reader.rawRows(sql)
    }
}

extension StorageError {
    /// What a store without `rawSQL` answers.
    static var takesNoSQL: StorageError {
        StorageError(.unsupported, "the store takes no SQL (it lacks the capability \(StorageCapabilities.Capability.rawSQL))")
    }
}
