#if PostgreSQL
internal import PolystoreFoundation
internal import PolystoreSQL
internal import PolystoreStorage

// Transaction IDs are meaningful only within one cluster. A store that was dumped and restored continues in another cluster, where IDs may
// be lower than existing positions of its history.
extension PostgreSQLSetup {
    /// The name of the note with the cluster in which the history continues, and the offset there.
    static let noteName = "'history.cluster'"
    /// The distance between the positions of the old cluster and those of a new one: greater than the number of transactions that the old
    /// one can have had since the dump.
    private static let distance: Int64 = 1 << 40

    /// Returns the difference between positions of the history and transaction IDs of this cluster.
    ///
    /// The first program that opens the store in another cluster begins the history there: existing entries are removed, and all tokens
    /// expire.
    /// - Parameters:
    ///   - tables: The tables that contain the history; the first one contains its positions.
    ///   - storing: Whether the program may begin the history.
    ///   - leavesRoom: Whether a history that has not begun leaves positions for that of another store.
    ///   - changed: Performs additional changes in the same transaction if the offset changes.
    func historyOffset(
        of tables: [String] = ["polystore_history"], storing: Bool, leavesRoom: Bool = false,
        changed: (Int64) throws(StorageError) -> Void = { _ in }
    ) throws(StorageError) -> Int64 {
        guard let cluster = connection.cluster else { return 0 }
        if let known = try known(), known.cluster == cluster { return known.offset }
        // A program that only reads does not change the history: entries of the other cluster remain ahead of those of this one.
        if !storing || connection.isStandby { return 0 }
        var offset: Int64 = 0
        do throws(StorageError) {
            try connection.patiently(30, orSaying: "the connection to the server was lost during COMMIT: open the store again") {
                () throws(StorageError) in
                try connection.execute("LOCK TABLE polystore_notes IN SHARE ROW EXCLUSIVE MODE")
                offset = try begin(cluster, tables, leavesRoom, changed)
            }
            return offset
        } catch {
            // A role that may not write notes cannot write history entries either.
            if error.code == .permissionDenied || error.code == .readOnly { return 0 }
            throw error
        }
    }

    /// The advisory lock that each connection of an open store shares.
    private var connectionLock: Int64 { Int64(bitPattern: SchemaHash(of: "polystore connections \(schema)").words[0]) }

    /// Takes part in the connections of the store, whose offset cannot change before they end.
    ///
    /// - Throws: `storeClosed` if the offset has changed since the store was opened.
    func join(_ cluster: String, _ offset: Int64) throws(StorageError) {
        try connection.execute("SELECT pg_advisory_lock_shared(\(connectionLock))")
        guard let known = try known(), known.cluster == cluster, known.offset != offset else { return }
        throw StorageError(
            .storeClosed,
            "another program has restored a history into the store, which has other positions now; close the store and open it again")
    }

    /// Leaves positions for the history of another store in a store whose own history never had a transaction. A store that other
    /// connections use keeps its offset, because their transactions would be written with the old one.
    ///
    /// - Returns: The offset.
    func leaveRoom(_ offset: Int64) throws(StorageError) -> Int64 {
        guard offset < Self.distance, let cluster = connection.cluster, !connection.isStandby else { return offset }
        var result = offset
        try connection.patiently(30, orSaying: "the connection to the server was lost during COMMIT: open the store again") {
            () throws(StorageError) in
            try connection.execute("LOCK TABLE polystore_notes IN SHARE ROW EXCLUSIVE MODE")
            let isAlone = try connection.text("SELECT pg_try_advisory_xact_lock(\(connectionLock))::int::text") == "1"
            let used = try connection.text(
                "SELECT 1 WHERE EXISTS (SELECT FROM polystore_history) OR EXISTS (SELECT FROM polystore_notes WHERE name = "
                    + "'\(HistoryFloor.noteName)')")
            guard isAlone, used == nil, let known = try known(), known.cluster == cluster, known.offset == offset else { return }
            try setNote(Self.noteName, Data("\(cluster) \(Self.distance)".utf8))
            result = Self.distance
        }
        return result
    }

    /// Returns the stored offset, of any cluster.
    func knownOffset() throws(StorageError) -> Int64 { try known()?.offset ?? 0 }

    private func known() throws(StorageError) -> (cluster: String, offset: Int64)? {
        let note = try connection.text("SELECT convert_from(value, 'UTF8') FROM polystore_notes WHERE name = \(Self.noteName)")
        guard let parts = note?.split(separator: " "), parts.count == 2, let offset = Int64(parts[1]) else { return nil }
        return (String(parts[0]), offset)
    }

    private func begin(
        _ cluster: String, _ tables: [String], _ leavesRoom: Bool, _ changed: (Int64) throws(StorageError) -> Void
    ) throws(StorageError) -> Int64 {
        let known = try known()
        if let known, known.cluster == cluster { return known.offset }
        var offset: Int64 = leavesRoom ? Self.distance : 0
        if known != nil {
            let note = try connection.query("SELECT value FROM polystore_notes WHERE name = '\(HistoryFloor.noteName)'", [])
            let floor = try HistoryFloor(note: note.data(0, 0))
            let last = try connection.query(
                "SELECT COALESCE(max(position), 0), pg_snapshot_xmax(pg_current_snapshot())::text::int8 FROM \(tables[0])", [])
            let (start, overflow) = max(last.integer(0, 0) ?? 0, floor.position).addingReportingOverflow(Self.distance)
            if overflow { throw StorageError(.limitExceeded, "no history positions are left; transfer the data to a new store") }
            offset = start - (last.integer(0, 1) ?? 0)
            for table in tables { try connection.execute("DELETE FROM \(table)") }
            try changed(offset)
            // If changes are not recorded, no token is valid anyway.
            if !floor.isUnrecorded { try setNote("'\(HistoryFloor.noteName)'", HistoryFloor(start).note) }
        }
        try setNote(Self.noteName, Data("\(cluster) \(offset)".utf8))
        return offset
    }

    private func setNote(_ name: String, _ bytes: Data) throws(StorageError) {
        let text: SQLText = """
            INSERT INTO polystore_notes VALUES(\(raw: name), \(bind: .data(bytes), .data)) ON CONFLICT (name) DO UPDATE SET value = excluded.value
            """
        _ = try connection.query(text)
    }
}
#endif
