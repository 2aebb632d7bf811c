/// A read session that executes SQL statements (capability `rawSQL`).
public protocol SQLReader: StorageReader {
    /// Returns the rows of an SQL statement that changes nothing.
    ///
    /// *Behavior*: the statement sees the same data as the session. An invalid statement, several statements at once, and a statement that
    /// controls transactions or settings are `invalidPredicate`. A statement that would change data is `readOnly`, and changes nothing. The
    /// session remains usable after an error. Values have the engine's types: where the engine has no date type, a date is returned in its
    /// stored form.
    func rawRows(_ sql: RawSQL) throws(StorageError) -> RawRows
}

extension ReadSession {
    /// Returns the rows of an SQL statement that changes nothing. The session remains usable after an error.
    ///
    /// - Throws: `unsupported` without the capability `rawSQL`; `invalidPredicate` for an invalid statement, for several statements at
    ///   once, and for a statement that controls transactions or settings; `readOnly` for a statement that would change data.
    public final func rawRows(_ sql: RawSQL) throws(StorageError) -> RawRows {
        try checkActive()
        guard store.capabilities.contains(.rawSQL), let reader = sqlReaders.find(in: reader) else { throw .takesNoSQL }
        return try reader.rawRows(sql)
    }
}

extension StorageError {
    /// The error of a store without the capability `rawSQL`.
    static var takesNoSQL: StorageError {
        StorageError(.unsupported, "the store does not run SQL (it lacks the capability \(StorageCapabilities.Capability.rawSQL))")
    }
}
