#if PostgreSQL
internal import Foundation
internal import PolystoreSQL
internal import PolystoreStorage

// Ids of transactions mean something in one cluster only. A store that was dumped and restored goes on in another, where ids may be lower
// than the positions that its history has already.
extension PostgreSQLSetup {
    /// The note of the cluster that the history goes on in, and of the offset there.
    static let noteName = "'history.cluster'"
    /// How far the positions of a new cluster are from those of the old one: more transactions than the old one can have had since the dump.
    private static let distance: Int64 = 1 << 40

    /// What positions of the history are greater by than ids of transactions of this cluster.
    ///
    /// The first program that opens the store in another cluster lets the history begin there: what was recorded is forgotten, and all
    /// tokens have expired.
    /// - Parameters:
    ///   - tables: The tables that the history lies in, the one with its positions first.
    ///   - storing: Whether the program may do that.
    ///   - changed: What has to be done in the same transaction where the offset becomes another.
    func historyOffset(
        of tables: [String] = ["polystore_history"], storing: Bool, changed: (Int64) throws(StorageError) -> Void = { _ in }
    ) throws(StorageError) -> Int64 {
        guard let cluster = connection.cluster else { return 0 }
        if let known = try known(), known.cluster == cluster { return known.offset }
        // Who only reads leaves it as it is: entries of the other cluster stay ahead of those of this one.
        if !storing || connection.isStandby { return 0 }
        var offset: Int64 = 0
        do throws(StorageError) {
            try connection.patiently(30, orSaying: "the connection was lost during COMMIT: open the store again") {
                () throws(StorageError) in
                try connection.execute("LOCK TABLE polystore_notes IN SHARE ROW EXCLUSIVE MODE")
                offset = try begin(cluster, tables, changed)
            }
            return offset
        } catch {
            // A role that may not write notes cannot write entries either.
            if error.code == .permissionDenied || error.code == .readOnly { return 0 }
            throw error
        }
    }

    /// The offset that is kept, of whatever cluster.
    func knownOffset() throws(StorageError) -> Int64 { try known()?.offset ?? 0 }

    private func known() throws(StorageError) -> (cluster: String, offset: Int64)? {
        let note = try connection.text("SELECT convert_from(value, 'UTF8') FROM polystore_notes WHERE name = \(Self.noteName)")
        guard let parts = note?.split(separator: " "), parts.count == 2, let offset = Int64(parts[1]) else { return nil }
        return (String(parts[0]), offset)
    }

    private func begin(
        _ cluster: String, _ tables: [String], _ changed: (Int64) throws(StorageError) -> Void
    ) throws(StorageError) -> Int64 {
        let known = try known()
        if let known, known.cluster == cluster { return known.offset }
        var offset: Int64 = 0
        if known != nil {
            let note = try connection.query("SELECT value FROM polystore_notes WHERE name = '\(HistoryFloor.noteName)'", [])
            let floor = try HistoryFloor(note: note.data(0, 0))
            let last = try connection.query(
                "SELECT COALESCE(max(position), 0), pg_snapshot_xmax(pg_current_snapshot())::text::int8 FROM \(tables[0])", [])
            let (start, overflow) = max(last.integer(0, 0) ?? 0, floor.position).addingReportingOverflow(Self.distance)
            if overflow { throw StorageError(.limitExceeded, "the history has no positions left") }
            offset = start - (last.integer(0, 1) ?? 0)
            for table in tables { try connection.execute("DELETE FROM \(table)") }
            try changed(offset)
            // Where changes are not recorded no token is good anyway.
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
