#if SQLite
internal import PolystoreFoundation
public import PolystoreStorage

extension SQLiteStore: CommitOutcomeStorage {
    /// Returns the outcome of a commit that wrote a history entry; `unknown` if the entry has been purged since.
    public func outcome(of token: CommitToken, limit: WorkLimit?) throws(StorageError) -> CommitOutcome {
        guard let mark = SQLiteCommitMark(token.value), try storeID() == token.storeID else {
            throw StorageError(.notFound, "the commit token belongs to another store")
        }
        let writer = try beginWrite(WriteOptions(limit: limit))
        defer { writer.end() }
        guard let session = writer as? SQLiteReader, let isThere = try session.has(mark) else { return .unknown }
        // This commit replaces what a failed commit has left in the log, so that no later crash can restore it.
        try writer.setNote("commit.settled", Data(UUID().uuidString.utf8))
        _ = try writer.commit(CommitRecord())
        return isThere ? .committed : .notCommitted
    }
}
#endif
