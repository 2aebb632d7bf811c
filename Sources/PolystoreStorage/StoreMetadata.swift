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

    /// The metadata of a new store.
    public init(new schema: Schema) {
        storeID = UUID()
        formatVersion = Self.currentFormat
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
            throw StorageError(.corrupted, "the store's schema cannot be read: \(error)", cause: error)
        }
        let numbers = (entries["entities"] ?? "").split(separator: ",").compactMap { Int16($0) }
        let isSound = numbers.allSatisfy { $0 > 0 } && Set(numbers).count == numbers.count
        guard isSound, numbers.count == schema.entities.count else { throw Self.damaged("entities") }
        storeID = id
        formatVersion = format
        entityNumbers = numbers
    }

    private static func damaged(_ name: String) -> StorageError {
        StorageError(.corrupted, "the store's metadata lacks a valid \"\(name)\"")
    }

    /// What a store keeps.
    public var entries: [String: String] {
        [
            "format": String(formatVersion), "store": storeID.uuidString, "schema": schema.json, "hash": schema.hash.description,
            "entities": entityNumbers.map(String.init).joined(separator: ","),
        ]
    }

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

    /// The entity with a number, or nil.
    public func entity(number: Int16) -> EntityIndex? { entityNumbers.firstIndex(of: number) }
}
