internal import PolystoreFoundation

/// A record of an earlier version of a store's model, with the time of the migration to the next version.
package struct MigrationRecord: Sendable, Hashable {
    /// The older schema.
    package let schema: Schema
    /// The time of the migration to the next version, in microseconds since 1970.
    package let time: Int64

    /// Creates a record of the version from which a store is being migrated now.
    package init(_ schema: Schema) {
        self.schema = schema
        time = Microseconds.from(Date()) ?? 0
    }

    private static let countName = "migrations"
    private static func name(_ number: Int) -> String { "migrations.\(number)" }

    private static func count(_ session: ReadSession) throws(StorageError) -> Int {
        guard let data = try session.note(countName) else { return 0 }
        // The incremented count must still be representable.
        guard let count = Int32(String(decoding: data, as: UTF8.self)), (0..<Int32.max).contains(count) else {
            throw StorageError(.corrupted, "the stored number of migrations is damaged; restore the store from a backup")
        }
        return Int(count)
    }

    /// Stores the record in a store, after the existing ones.
    package func keep(in session: WriteSession) throws(StorageError) {
        let number = try Self.count(session)
        try session.setNote(Self.name(number), Data("\(time)\n\(schema.json)".utf8))
        try session.setNote(Self.countName, Data(String(number + 1).utf8))
    }

    /// Returns the earlier versions of a store, oldest first.
    ///
    /// - Throws: `corrupted` for a record that cannot be read.
    package static func all(_ session: ReadSession) throws(StorageError) -> [MigrationRecord] {
        var records: [MigrationRecord] = []
        for number in 0..<(try count(session)) {
            guard let data = try session.note(name(number)), let record = MigrationRecord(data) else {
                throw StorageError(.corrupted, "the stored record of migration \(number + 1) is damaged; restore the store from a backup")
            }
            records.append(record)
        }
        return records
    }

    /// Returns the sequence of versions through which the current version was reached, nearest first. The store can be migrated back to
    /// these.
    ///
    /// A version that occurred several times counts at its first occurrence, so a migration back to it adds no element.
    package static func ancestors(of current: Schema, _ records: [MigrationRecord]) -> [Schema] {
        var line: [Schema] = []
        for schema in records.map(\.schema) + [current] {
            if let known = line.firstIndex(where: { $0.hash == schema.hash }) {
                line.removeSubrange((known + 1)...)
            } else {
                line.append(schema)
            }
        }
        return line.dropLast().reversed()
    }

    private init?(_ data: Data) {
        let parts = String(decoding: data, as: UTF8.self).split(separator: "\n", maxSplits: 1)
        guard parts.count == 2, let time = Int64(parts[0]), let schema = try? Schema(json: String(parts[1])) else { return nil }
        self.time = time
        self.schema = schema
    }
}
