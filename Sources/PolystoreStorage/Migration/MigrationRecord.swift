internal import Foundation

/// A version of the model that a store had once: what it was, and when it went over to the next one.
public struct MigrationRecord: Sendable, Hashable {
    /// The older schema.
    public let schema: Schema
    /// The microseconds since 1970 when the store went over to the next version.
    public let time: Int64

    /// The record of a version that a store leaves now.
    public init(_ schema: Schema) {
        self.schema = schema
        time = Microseconds.from(Date()) ?? 0
    }

    private static let countName = "migrations"
    private static func name(_ number: Int) -> String { "migrations.\(number)" }

    private static func count(_ session: ReadSession) throws(StorageError) -> Int {
        guard let data = try session.note(countName) else { return 0 }
        // One more must still be a number.
        guard let count = Int32(String(decoding: data, as: UTF8.self)), (0..<Int32.max).contains(count) else {
            throw StorageError(.corrupted, "the number of migrations that the store has noted is damaged")
        }
        return Int(count)
    }

    /// Keeps the record in a store, behind those that are there.
    public func keep(in session: WriteSession) throws(StorageError) {
        let number = try Self.count(session)
        try session.setNote(Self.name(number), Data("\(time)\n\(schema.json)".utf8))
        try session.setNote(Self.countName, Data(String(number + 1).utf8))
    }

    /// The versions that a store had, oldest first.
    ///
    /// - Throws: `corrupted` for a record that cannot be read.
    public static func all(_ session: ReadSession) throws(StorageError) -> [MigrationRecord] {
        var records: [MigrationRecord] = []
        for number in 0..<(try count(session)) {
            guard let data = try session.note(name(number)), let record = MigrationRecord(data) else {
                throw StorageError(.corrupted, "the record of an earlier version of the model is damaged; restore a backup of the store")
            }
            records.append(record)
        }
        return records
    }

    /// The versions that one came from step by step, nearest first: where a store can be led back.
    ///
    /// A version that the store had several times counts where it came first, so that a step back is no step of its own.
    public static func ancestors(of current: Schema, _ records: [MigrationRecord]) -> [Schema] {
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
