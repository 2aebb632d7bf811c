package import PolystoreFoundation
package import PolystoreStorage

// Named notes that a store keeps beside its rows.
extension SQLConnection {
    /// Returns the note with a name, or nil when there is none.
    package func note(_ name: String) throws(StorageError) -> Data? {
        let text: SQLText = "SELECT value FROM polystore_notes WHERE name = \(bind: .string(name), .string)"
        guard case .data(let bytes)? = try rows(text, [.data]).first?.first else { return nil }
        return bytes
    }

    /// Writes a note, or removes it if `bytes` is nil.
    package func setNote(_ name: String, _ bytes: Data?) throws(StorageError) {
        guard let bytes else { return try run("DELETE FROM polystore_notes WHERE name = \(bind: .string(name), .string)") }
        try run(
            """
            INSERT INTO polystore_notes VALUES(\(bind: .string(name), .string), \(bind: .data(bytes), .data)) \
            ON CONFLICT (name) DO UPDATE SET value = excluded.value
            """)
    }

    /// Writes metadata entries and replaces those with the same names.
    package func setMetadata(_ entries: [String: String]) throws(StorageError) {
        if entries.isEmpty { return }
        let rows = entries.sorted { $0.key < $1.key }.map { key, value -> SQLText in
            "(\(bind: .string(key), .string), \(bind: .string(value), .string))"
        }
        try run(
            """
            INSERT INTO polystore_metadata VALUES \(SQLText.joined(rows, ", ")) ON CONFLICT (key) DO UPDATE SET value = excluded.value
            """)
    }

    // MARK: History

    /// Returns the floor of the history, the position after which it is complete.
    package func historyFloor() throws(StorageError) -> HistoryFloor { try HistoryFloor(note: try note(HistoryFloor.noteName)) }

    /// Sets the floor of the history.
    package func setHistoryFloor(_ floor: HistoryFloor) throws(StorageError) { try setNote(HistoryFloor.noteName, floor.note) }

    /// Returns the position of the newest entry or of the floor, or nil when there is neither.
    ///
    /// - Parameter source: The table expression after FROM in the statement that finds the entry.
    package func newestPosition(in source: String) throws(StorageError) -> Int64? {
        let floor = try historyFloor()
        let position = max(try number("SELECT max(position) FROM \(raw: source)") ?? 0, floor.position)
        return position > 0 && !floor.isUnrecorded ? position : nil
    }

    /// Deletes the entries up to a position, unless they have already been deleted.
    ///
    /// - Parameter tables: The tables that contain the entries.
    package func purgeHistory(_ tables: [String], through position: Int64) throws(StorageError) {
        let floor = try historyFloor()
        if position > floor.position, !floor.isUnrecorded { try beginHistory(tables, after: position) }
    }

    /// Deletes the entries up to a position and makes that position the floor of the history.
    package func beginHistory(_ tables: [String], after position: Int64) throws(StorageError) {
        for table in tables { try run("DELETE FROM \(raw: table) WHERE position <= \(bind: .int(position), .int64)") }
        try setHistoryFloor(HistoryFloor(position))
    }
}

extension CommitRecord {
    /// The time of the transaction's history entry.
    package var entryTime: Int64 { time ?? Microseconds.from(Date()) ?? 0 }
}
