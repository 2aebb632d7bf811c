#if SQLite
internal import CSQLite
internal import PolystoreStorage

extension SQLiteWriter {
    /// The name of the counter of quiet commits among the key counters. Names of entities never begin with this prefix.
    static let quietCounter = "polystore_quiet"

    /// Records that the transaction about to be committed is of no interest to observers (`CommitLedger`).
    ///
    /// - Parameter isListed: Whether the transaction has a history entry.
    final func writeQuiet(isListed: Bool) throws(StorageError) {
        let step = beside.quietStep(isListed: isListed, isRecorded: recorder.hasChanges)
        if step == 0 { return }
        let statement = try connection.statement(
            "INSERT INTO polystore_counters(root, next) VALUES('\(Self.quietCounter)', ?1) ON CONFLICT(root) DO UPDATE SET next = next + ?1"
        )
        statement.bind(.int(step), at: 1)
        let code = statement.run()
        if code != SQLITE_DONE { throw connection.error(code) }
    }
}
#endif
