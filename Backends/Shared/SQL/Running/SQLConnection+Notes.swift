package import Foundation
package import PolystoreStorage

// What a store keeps beside its rows, under names.
extension SQLConnection {
    /// The note of a name; nil where there is none.
    package func note(_ name: String) throws(StorageError) -> Data? {
        let text: SQLText = "SELECT value FROM polystore_notes WHERE name = \(bind: .string(name), .string)"
        guard case .data(let bytes)? = try rows(text, [.data]).first?.first else { return nil }
        return bytes
    }

    /// Writes a note, or removes it.
    package func setNote(_ name: String, _ bytes: Data?) throws(StorageError) {
        guard let bytes else { return try run("DELETE FROM polystore_notes WHERE name = \(bind: .string(name), .string)") }
        try run(
            """
            INSERT INTO polystore_notes VALUES(\(bind: .string(name), .string), \(bind: .data(bytes), .data)) \
            ON CONFLICT (name) DO UPDATE SET value = excluded.value
            """)
    }

    /// Writes metadata in the place of what has the same names.
    package func setMetadata(_ entries: [String: String]) throws(StorageError) {
        for (key, value) in entries {
            try run(
                """
                INSERT INTO polystore_metadata VALUES(\(bind: .string(key), .string), \(bind: .string(value), .string)) \
                ON CONFLICT (key) DO UPDATE SET value = excluded.value
                """)
        }
    }

    // MARK: History

    /// Where the history begins.
    package func historyFloor() throws(StorageError) -> HistoryFloor { try HistoryFloor(note: try note(HistoryFloor.noteName)) }

    /// Makes the history begin elsewhere.
    package func setHistoryFloor(_ floor: HistoryFloor) throws(StorageError) { try setNote(HistoryFloor.noteName, floor.note) }

    /// The position of the newest entry, or where the history begins; nil where there is neither.
    ///
    /// - Parameter source: What follows FROM in the statement that looks for the entry.
    package func newestPosition(in source: String) throws(StorageError) -> Int64? {
        let floor = try historyFloor()
        let position = max(try number("SELECT max(position) FROM \(raw: source)") ?? 0, floor.position)
        return position > 0 && !floor.isUnrecorded ? position : nil
    }

    /// Deletes the entries up to a position, unless they were deleted before.
    ///
    /// - Parameter tables: The tables that the entries lie in.
    package func purgeHistory(_ tables: [String], through position: Int64) throws(StorageError) {
        let floor = try historyFloor()
        if position > floor.position, !floor.isUnrecorded { try beginHistory(tables, after: position) }
    }

    /// Deletes the entries up to a position, which becomes the one that the history begins after.
    package func beginHistory(_ tables: [String], after position: Int64) throws(StorageError) {
        for table in tables { try run("DELETE FROM \(raw: table) WHERE position <= \(bind: .int(position), .int64)") }
        try setHistoryFloor(HistoryFloor(position))
    }
}

extension CommitRecord {
    /// The time that the entry of the history gets.
    package var entryTime: Int64 { time ?? Microseconds.from(Date()) ?? 0 }
}
