extension WriteSession {
    /// Returns the token by which the outcome of this transaction's commit can be requested, or nil without the ability.
    public func commitToken(for record: CommitRecord) throws(StorageError) -> CommitToken? {
        try checkActive()
        return try ability((any PreparingWriter).self)?.commitToken(for: record)
    }

    /// Whether the transaction can be prepared.
    public var canPrepare: Bool { ability((any PreparingWriter).self) != nil }

    /// Performs all parts of a commit except the commit itself, and ends the session.
    ///
    /// - Returns: The token that the history entry has after the commit, or nil.
    /// - Throws: `unsupported` if the store keeps no prepared transactions; any error of a commit.
    public func prepare(for commit: CommitToken, _ record: CommitRecord) throws(StorageError) -> HistoryToken? {
        guard let writer = ability((any PreparingWriter).self) else {
            throw StorageError(.unsupported, "the store does not support prepared transactions; write to it in a separate transaction")
        }
        return try finish { () throws(StorageError) in try writer.prepare(for: commit, record) }
    }
}
