#if PostgreSQL
internal import Foundation
internal import PolystoreSQL
internal import PolystoreStorage

extension PostgreSQLWriter: HistoryRestoringWriter {
    /// Positions of the store's own transactions are greater than the offset of the cluster, so that of a new store leaves room for others.
    func restoreHistory(_ entries: [HistoryEntry]) throws(StorageError) {
        try checkHistory()
        try flush()
        let newest = try connection.number("SELECT max(position) FROM polystore_history")
        if newest == nil { try connection.setHistoryFloor(.restored) }
        let own = try connection.number("SELECT \(raw: PostgreSQLHistory.position(core))") ?? 0
        var position = newest ?? HistoryFloor.restored.position
        for entry in entries {
            position += 1
            if position >= own {
                throw StorageError(
                    .limitExceeded,
                    "the history has more transactions than the server has had, so the schema has no positions for them; restore into a "
                        + "schema that does not exist, or without the history")
            }
            let changes = Data(HistoryRecorder.encode(entry.changes))
            try send(
                "INSERT INTO polystore_history VALUES($1::int8, $2::int8, $3::text, $4::bytea)",
                [
                    PostgreSQLParameter(position), PostgreSQLParameter(entry.time),
                    PostgreSQLParameter(.value(.string(entry.author), .string)), PostgreSQLParameter(.value(.data(changes), .data)),
                ])
        }
        try flush()
    }
}

extension PostgreSQLWriter: RepairingWriter {
    func rebuildIndexes(of table: String) throws(StorageError) {
        try checkOpen()
        try flush()
        try connection.execute("REINDEX TABLE \(SQLText.quoted(self.table(named: table)))")
    }
}
#endif
