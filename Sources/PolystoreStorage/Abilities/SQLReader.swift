/// A session that answers statements in SQL (capability `rawSQL`).
public protocol SQLReader: StorageReader {
    /// The answer to a statement in SQL that changes nothing.
    ///
    /// *Behavior*: sees what the session sees. A statement that is wrong, several at once and one that controls transactions or settings are
    /// `invalidPredicate`; one that would change something is `readOnly`, and nothing is changed. The session goes on after an error. Values
    /// are those of the engine's types: where it has no type of its own for a date, a date is what it is stored as.
    func rawRows(_ sql: RawSQL) throws(StorageError) -> RawRows
}

extension StorageError {
    /// What a store without `rawSQL` answers.
    static var takesNoSQL: StorageError {
        StorageError(.unsupported, "the store takes no SQL (it lacks the capability \(StorageCapabilities.Capability.rawSQL))")
    }
}

extension StorageReader {
    /// The answer to a statement in SQL; `unsupported` without the ability.
    public func rawRows(_ sql: RawSQL) throws(StorageError) -> RawRows {
        guard let reader = ability((any SQLReader).self) else { throw .takesNoSQL }
        return try reader.rawRows(sql)
    }
}
