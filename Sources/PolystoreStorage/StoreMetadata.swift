public import PolystoreFoundation

/// The metadata that every store keeps next to its data, as texts by name.
public struct StoreMetadata: Sendable {
    /// The version of the format that this code writes. Stores with a newer version are refused.
    public static let currentFormat = 1

    /// The identity of the store.
    public let storeID: UUID
    /// The version of the on-disk format.
    public let formatVersion: Int
    /// The stored schema.
    public let schema: Schema
    /// The number of each entity, by its index. The column `_entity` contains this number. It does not change when the schema grows.
    public let entityNumbers: [Int16]
    /// The number of times that the store was migrated to another version of the model.
    public let migrations: Int
    /// The storage names of maps that a migration created, by their regular names. Stores over ordered maps need them.
    public var mapNames: [String: String]
    /// The rules for what the history records. They are not stored: each program provides its own.
    package var history: HistoryRules

    /// Creates the metadata of a new store.
    public init(new schema: Schema) {
        storeID = UUID()
        formatVersion = Self.currentFormat
        migrations = 0
        mapNames = [:]
        history = HistoryRules(schema)
        self.schema = schema
        entityNumbers = schema.entities.indices.map { Int16(truncatingIfNeeded: $0 + 1) }
    }

    /// Returns whether entries are those of a store, be they damaged, and not of another program.
    package static func isStore(_ entries: [String: String]) -> Bool { ["format", "store", "schema"].contains { entries[$0] != nil } }

    /// Creates metadata from the entries that a store keeps.
    ///
    /// - Throws: `corrupted` if something is missing or ill-formed, `unsupported` for a newer format.
    public init(entries: [String: String]) throws(StorageError) {
        guard let format = entries["format"].flatMap({ Int($0) }) else { throw Self.damaged("format") }
        guard format <= Self.currentFormat else {
            throw StorageError(
                .unsupported,
                "the store has format version \(format), but this program reads versions up to \(Self.currentFormat): update the program")
        }
        guard let id = entries["store"].flatMap(UUID.init(uuidString:)) else { throw Self.damaged("store") }
        guard let json = entries["schema"] else { throw Self.damaged("schema") }
        do throws(SchemaError) {
            schema = try Schema(json: json)
        } catch {
            throw StorageError(
                .corrupted, "the schema in the store's metadata cannot be read: \(error); restore the store from a backup", cause: error)
        }
        let numbers = (entries["entities"] ?? "").split(separator: ",").compactMap { Int16($0) }
        let isSound = numbers.allSatisfy { $0 > 0 } && Set(numbers).count == numbers.count
        guard isSound, numbers.count == schema.entities.count else { throw Self.damaged("entities") }
        history = HistoryRules(schema)
        storeID = id
        formatVersion = format
        entityNumbers = numbers
        // The incremented number must still be representable.
        guard let steps = Int32(entries["migrations"] ?? "0"), (0..<Int32.max).contains(steps) else { throw Self.damaged("migrations") }
        migrations = Int(steps)
        let names = (entries["maps"] ?? "").split(separator: "\0", omittingEmptySubsequences: true).map(String.init)
        guard names.count.isMultiple(of: 2) else { throw Self.damaged("maps") }
        mapNames = Dictionary(
            stride(from: 0, to: names.count, by: 2).map { (names[$0], names[$0 + 1]) }, uniquingKeysWith: { first, _ in first })
    }

    /// Creates the metadata after a migration step. Entities that remain keep their numbers. Numbers of removed entities are not reused
    /// immediately.
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

    /// Returns a number for a new entity: the next one, or the smallest free number if the range is exhausted.
    private static func number(after last: Int16, besides taken: Set<Int16>) -> Int16 {
        last < .max ? last + 1 : (1 ... .max).first { !taken.contains($0) } ?? .max
    }

    /// Returns the metadata after several migration steps.
    ///
    /// - Throws: `schemaMismatch` for a step that does not start at the version where the previous step ends.
    public func after(_ steps: [MigrationStep]) throws(StorageError) -> StoreMetadata {
        var metadata = self
        for step in steps {
            try metadata.check(step)
            metadata = StoreMetadata(migrating: metadata, step.mapping)
        }
        return metadata
    }

    private static func damaged(_ name: String) -> StorageError {
        StorageError(.corrupted, "the store's metadata has no valid entry \"\(name)\"; restore the store from a backup")
    }

    /// The entries that a store keeps.
    public var entries: [String: String] {
        var entries = [
            "format": String(formatVersion), "store": storeID.uuidString, "schema": schema.json, "hash": hash,
            "entities": entityNumbers.map(String.init).joined(separator: ","),
        ]
        if migrations > 0 {
            entries["migrations"] = String(migrations)
            // Written even if there are no names: otherwise the names of the previous version would remain.
            entries["maps"] = mapNames.sorted { $0.key < $1.key }.map { "\($0.key)\0\($0.value)" }.joined(separator: "\0")
        }
        return entries
    }

    /// The text of the schema's hash, which every session compares with the stored hash.
    public var hash: String { schema.hash.description }

    /// Refuses a request for a schema other than the stored one.
    ///
    /// - Throws: `schemaMismatch`, which names the first difference.
    public func check(_ request: OpenRequest) throws(StorageError) { try Self.check(request, of: schema) }

    /// Refuses a request for a schema other than that of a store.
    ///
    /// - Throws: `schemaMismatch`, which names the first difference.
    package static func check(_ request: OpenRequest, of schema: Schema) throws(StorageError) {
        guard let wanted = request.schema, wanted.hash != schema.hash else { return }
        let difference = SchemaDifference.first(from: schema, to: wanted)?.description ?? "the hashes differ"
        throw StorageError(
            .schemaMismatch,
            "the store has version \"\(schema.version)\" of the model, but the program has \"\(wanted.version)\": \(difference)")
    }

    /// Adopts the parts of the program's model that are not stored, provided that it is the stored model.
    ///
    /// - Parameter recordsHistory: Whether the program records its changes.
    public mutating func adopt(_ request: OpenRequest, recordsHistory: Bool) throws(StorageError) {
        try check(request)
        history = HistoryRules(request.schema ?? schema, isOn: recordsHistory)
    }

    /// Refuses a migration step that does not start at the stored version.
    ///
    /// - Throws: `schemaMismatch`, which names both versions.
    public func check(_ step: MigrationStep) throws(StorageError) {
        let source = step.mapping.source
        // Two versions of the same hash differ only by name: another program may have done the work between them.
        let isRenamed = source.hash == step.mapping.destination.hash && source.version != schema.version
        if source.hash == schema.hash, !isRenamed { return }
        throw StorageError(
            .schemaMismatch, "the store has version \"\(schema.version)\" of the model, but the migration starts at \"\(source.version)\"")
    }

    /// Returns the error of a session that finds another version in the store than the version with which it was opened.
    ///
    /// - Parameter stored: The text of the currently stored schema, or nil if it cannot be read.
    public static func migrated(from schema: Schema, to stored: String?) -> StorageError {
        let version = stored.flatMap { try? Schema(json: $0) }.map { "\"\($0.version)\"" } ?? "another version"
        return StorageError(
            .schemaMismatch,
            "another process migrated the store from version \"\(schema.version)\" of the model to \(version); open it again with that "
                + "version"
        )
    }

    /// Returns the index of the entity with the given number, or nil.
    public func entity(number: Int16) -> EntityIndex? { entityNumbers.firstIndex(of: number) }
}
