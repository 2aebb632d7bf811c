import Foundation
import Polystore
import PolystoreSQLite
import Testing

/// `InferredSchemaMappingProvider` as a provider of a store, and by itself.
@Suite struct InferredMappingTests {
    private static func schema(_ version: String, _ entities: [Entity]) throws -> Schema {
        try Schema(version: version, entities: entities)
    }

    private static let old = [Entity("Note", attributes: [Attribute("title", .string)])]
    private static let new = [Entity("Note", attributes: [Attribute("title", .string), Attribute("stars", .int64, defaultValue: .int(3))])]

    @Test func theMappingIsInferredFromTheTwoSchemas() throws {
        let (old, new) = (try Self.schema("V1", Self.old), try Self.schema("V2", Self.new))
        let mapping = try #require(try InferredSchemaMappingProvider().mapping(from: old, to: new))
        #expect(mapping.isInferred && mapping.losses.isEmpty && mapping.undecided.isEmpty)
        #expect(mapping.schemas.changes.map(\.path) == ["Note.stars"])
        let back = try #require(try InferredSchemaMappingProvider().mapping(from: new, to: old))
        #expect(back.losses.map(\.path) == ["Note.stars"])
    }

    @Test func aChangeThatRequiresADecisionIsRefused() throws {
        func schema(_ version: String, _ cardinality: Cardinality) throws -> Schema {
            try Self.schema(
                version, [Entity("Note", relationships: [Relationship("others", to: "Note", cardinality)])])
        }
        let (old, new) = (try schema("V1", .toMany), try schema("V2", .toOne))
        #expect { try InferredSchemaMappingProvider().mapping(from: old, to: new) } throws: { error in
            (error as? StorageError)?.code == .noMigrationPath && "\(error)".contains("which of several related objects it keeps")
        }
    }

    @Test func theFirstProviderWithAMappingIsUsed() throws {
        let custom = CustomSchemaMappingProvider(
            from: "V1", to: "V2",
            entityMappings: [
                .transformEntity(sourceEntity: "Note", destinationEntity: "Note") { source, create in
                    create().copyAttributes(from: source)
                }
            ])
        for (providers, isHeavyweight) in [
            ([InferredSchemaMappingProvider(), custom] as [any SchemaMappingProvider], false),
            ([custom, InferredSchemaMappingProvider()], true),
            ([], false),
        ] {
            let path = FileManager.default.temporaryDirectory.appendingPathComponent("polystore-\(UUID().uuidString).sqlite").path
            let first = try DataStack(schema: Self.schema("V1", Self.old)), store = SQLiteStore(path: path)
            try first.addStorageAndWait(store)
            try first.perform(synchronous: { try $0.create(Into<DynamicObject>(entity: "Note")).setValue(.string("a"), for: "title") })
            try first.removeStorage(store)
            let stack = try DataStack(
                schemaHistory: SchemaHistory(Self.schema("V1", Self.old), Self.schema("V2", Self.new), migrationChain: ["V1", "V2"]))
            let next = SQLiteStore(path: path, migrationMappingProviders: providers)
            #expect(try stack.upgradeStorageIfNeeded(next).map(\.isHeavyweightMigration) == [isHeavyweight])
            try stack.addStorageAndWait(next)
            #expect(try stack.fetchAll(From<DynamicObject>(entity: "Note")).map { try $0.value("stars") } == [.int(3)])
            try stack.removeStorage(next)
            try? FileManager.default.removeItem(atPath: path + ".V1.backup")
            try next.erase()
        }
    }
}
