public import Foundation

/// What every store keeps about itself beside the data, as texts under names.
public struct StoreMetadata: Sendable {
    /// The version of the format that this code writes. Newer ones are refused.
    public static let currentFormat = 1

    /// The identity of the store.
    public let storeID: UUID
    /// The version of the format on disk.
    public let formatVersion: Int
    /// The schema that the store keeps.
    public let schema: Schema
    /// The number of each entity, by its index: what the column `_entity` holds. It stays when the schema grows.
    public let entityNumbers: [Int16]
    /// How often the store went over to another version of the model.
    public let migrations: Int
    /// The names under which maps lie that were made by a migration, by their own names; stores over ordered maps need them.
    public var mapNames: [String: String]
    /// What the history records. It is not stored: each program brings its own.
    public var history: HistoryRules

    /// The metadata of a new store.
    public init(new schema: Schema) {
        storeID = UUID()
        formatVersion = Self.currentFormat
        migrations = 0
        mapNames = [:]
        history = HistoryRules(schema)
        self.schema = schema
        entityNumbers = schema.entities.indices.map { Int16(truncatingIfNeeded: $0 + 1) }
    }

    /// The metadata that a store holds.
    ///
    /// - Throws: `corrupted` when something is missing or ill-formed, `unsupported` for a format from the future.
    public init(entries: [String: String]) throws(StorageError) {
        guard let format = entries["format"].flatMap({ Int($0) }) else { throw Self.damaged("format") }
        guard format <= Self.currentFormat else {
            throw StorageError(
                .unsupported, "the store has format \(format); this version reads up to \(Self.currentFormat): update the program")
        }
        guard let id = entries["store"].flatMap(UUID.init(uuidString:)) else { throw Self.damaged("store") }
        guard let json = entries["schema"] else { throw Self.damaged("schema") }
        do throws(SchemaError) {
            schema = try Schema(json: json)
        } catch {
            throw StorageError(.corrupted, "the store's schema cannot be read: \(error); restore a backup of it", cause: error)
        }
        let numbers = (entries["entities"] ?? "").split(separator: ",").compactMap { Int16($0) }
        let isSound = numbers.allSatisfy { $0 > 0 } && Set(numbers).count == numbers.count
        guard isSound, numbers.count == schema.entities.count else { throw Self.damaged("entities") }
        history = HistoryRules(schema)
        storeID = id
        formatVersion = format
        entityNumbers = numbers
        // One more must still be a number.
        guard let steps = Int32(entries["migrations"] ?? "0"), (0..<Int32.max).contains(steps) else { throw Self.damaged("migrations") }
        migrations = Int(steps)
        let names = (entries["maps"] ?? "").split(separator: "\0", omittingEmptySubsequences: true).map(String.init)
        guard names.count.isMultiple(of: 2) else { throw Self.damaged("maps") }
        mapNames = Dictionary(
            stride(from: 0, to: names.count, by: 2).map { (names[$0], names[$0 + 1]) }, uniquingKeysWith: { first, _ in first })
    }

    /// The metadata after a step. Entities that go on keep their numbers; those of entities that are gone are not given again at once.
    public init(migrating old: StoreMetadata, _ mapping: SchemaMapping) {
        storeID = old.storeID
        formatVersion = old.formatVersion
        migrations = old.migrations + 1
        mapNames = old.mapNames
        schema = mapping.destination
        history = HistoryRules(schema, isOn: old.history.isOn)
        var numbers = [Int16?](repeating: nil, count: schema.entities.count), taken: Set<Int16> = []
        for entity in mapping.entities where numbers[entity.destination] == nil {
            let number = old.entityNumbers[entity.source]
            if taken.insert(number).inserted { numbers[entity.destination] = number }
        }
        var last = old.entityNumbers.max() ?? 0
        taken.formUnion(old.entityNumbers)
        entityNumbers = numbers.map { number in
            if let number { return number }
            last = Self.number(after: last, besides: taken)
            taken.insert(last)
            return last
        }
    }

    /// A number for a new entity: the next, or where the numbers are at their end the least that is free.
    private static func number(after last: Int16, besides taken: Set<Int16>) -> Int16 {
        last < .max ? last + 1 : (1 ... .max).first { !taken.contains($0) } ?? .max
    }

    /// The metadata after several steps.
    ///
    /// - Throws: `schemaMismatch` for a step that does not begin where the one before it ends.
    public func after(_ steps: [MigrationStep]) throws(StorageError) -> StoreMetadata {
        var metadata = self
        for step in steps {
            try metadata.check(step)
            metadata = StoreMetadata(migrating: metadata, step.mapping)
        }
        return metadata
    }

    private static func damaged(_ name: String) -> StorageError {
        StorageError(.corrupted, "the store's metadata lacks a valid \"\(name)\"; restore a backup of it")
    }

    /// What a store keeps.
    public var entries: [String: String] {
        var entries = [
            "format": String(formatVersion), "store": storeID.uuidString, "schema": schema.json, "hash": hash,
            "entities": entityNumbers.map(String.init).joined(separator: ","),
        ]
        if migrations > 0 {
            entries["migrations"] = String(migrations)
            // Also where there are none: those of the version before would stay.
            entries["maps"] = mapNames.sorted { $0.key < $1.key }.map { "\($0.key)\0\($0.value)" }.joined(separator: "\0")
        }
        return entries
    }

    /// The text of the schema's hash, which every session compares with the stored one.
    public var hash: String { schema.hash.description }

    /// Refuses a request for another schema than the stored one.
    ///
    /// - Throws: `schemaMismatch` naming the first difference.
    public func check(_ request: OpenRequest) throws(StorageError) {
        guard let wanted = request.schema, wanted.hash != schema.hash else { return }
        let difference = SchemaDifference.first(from: schema, to: wanted)?.description ?? "the hashes differ"
        throw StorageError(
            .schemaMismatch,
            "the store keeps version \"\(schema.version)\" of the model, the program has \"\(wanted.version)\": \(difference)")
    }

    /// Takes over what a program's model says that is not stored, where it is the stored model.
    ///
    /// - Parameter recordsHistory: Whether the program records what it changes.
    public mutating func adopt(_ request: OpenRequest, recordsHistory: Bool) throws(StorageError) {
        try check(request)
        history = HistoryRules(request.schema ?? schema, isOn: recordsHistory)
    }

    /// Refuses a step that does not begin with the version that is stored.
    ///
    /// - Throws: `schemaMismatch` naming both versions.
    public func check(_ step: MigrationStep) throws(StorageError) {
        let source = step.mapping.source
        if source.hash == schema.hash { return }
        throw StorageError(
            .schemaMismatch, "the store keeps version \"\(schema.version)\" of the model; the migration begins with \"\(source.version)\"")
    }

    /// The failure of a session that finds another version in the store than it was opened with.
    ///
    /// - Parameter stored: The text of the schema that the store keeps now; nil where it cannot be read.
    public static func migrated(from schema: Schema, to stored: String?) -> StorageError {
        let version = stored.flatMap { try? Schema(json: $0) }.map { "\"\($0.version)\"" } ?? "another one"
        return StorageError(
            .schemaMismatch,
            "another program has led the store from version \"\(schema.version)\" of the model to \(version); open it anew with that version"
        )
    }

    /// The entity with a number, or nil.
    public func entity(number: Int16) -> EntityIndex? { entityNumbers.firstIndex(of: number) }
}
