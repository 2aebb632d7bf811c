#if PostgreSQL
internal import PolystoreSQL
public import PolystoreStorage

extension PostgreSQLStore: CommitOutcomeStorage {
    /// Returns the server's information about the outcome of a transaction. Servers forget IDs that are older than some hundred million
    /// transactions.
    ///
    /// Without a history entry, the ID of a commit that a crash or a promoted standby has lost may be that of another transaction.
    public func outcome(of token: CommitToken, limit: WorkLimit?) throws(StorageError) -> CommitOutcome {
        let core = try opened()
        guard token.storeID == core.storeID, let commit = PostgreSQLCommit(token.value) else {
            throw StorageError(.notFound, "the commit token belongs to another store")
        }
        let (connection, outcome) = try core.helpers.begin(limit, timeout: 30) { connection throws(StorageError) in
            (connection, try connection.outcome(of: commit, position: commit.transaction &+ core.historyOffset))
        }
        core.helpers.give(connection)
        return outcome
    }
}

extension PostgreSQLConnection {
    fileprivate func outcome(of commit: PostgreSQLCommit, position: Int64) throws(StorageError) -> CommitOutcome {
        guard commit.cluster == cluster ?? "" else { return .unknown }
        do throws(StorageError) {
            switch try text("SELECT pg_xact_status('\(commit.transaction)'::xid8)") {
            case "committed": return try hasEntry(of: commit, position) ? .committed : .notCommitted
            case "aborted": return .notCommitted
            case "in progress": return .inProgress
            default: return .unknown
            }
        } catch {
            // The server has not assigned the ID yet: a standby may still receive it, and any other server has lost it in a crash.
            guard (error.cause as? PostgreSQLError.Cause)?.state == "22023" else { throw error }
            return isStandby ? .unknown : .notCommitted
        }
    }

    /// Returns whether the history contains the entry of a commit, or no longer reaches back to it.
    private func hasEntry(of commit: PostgreSQLCommit, _ position: Int64) throws(StorageError) -> Bool {
        guard let time = commit.time else { return true }
        let floor = try query("SELECT value FROM polystore_notes WHERE name = '\(HistoryFloor.noteName)'", [])
        let start = try HistoryFloor(note: floor.data(0, 0))
        if start.isUnrecorded || position <= start.position { return true }
        return try text("SELECT 1 FROM polystore_history WHERE position = \(position) AND time = \(time)") != nil
    }
}
#endif
