import Polystore
import TestStores
import Testing

/// Steps in which names go over from one entity to another: losses are those of what had the name.
@Suite struct SwappedNamesTests {
    private static let song = Entity("Song", attributes: [Attribute("title", .string)])

    private static func list(_ name: String, _ original: String? = nil, _ cardinality: Cardinality) -> Entity {
        Entity(name, relationships: [Relationship("songs", to: "Song", cardinality)], originalName: original)
    }

    private static func plain(_ name: String, _ original: String? = nil) -> Entity {
        Entity(name, attributes: [Attribute("x", .int64)], originalName: original)
    }

    @Test(arguments: TestStore.all.filter { $0 != .memory }) func aLossIsCheckedUnderTheOldNameOfItsEntity(_ kind: TestStore) async throws {
        let old = try Schema(version: "V1", entities: [Self.list("A", nil, .toManyOrdered), Self.plain("B"), Self.song])
        let new = try Schema(version: "V2", entities: [Self.list("B", "A", .toMany), Self.plain("A", "B"), Self.song])
        let store = kind.make(), first = try DataStack(schema: old)
        try first.addStorageAndWait(store)
        try first.perform(synchronous: { _ = try $0.create(Into<DynamicObject>(entity: "A")) })
        try first.removeStorage(store)
        let second = try DataStack(schemaHistory: SchemaHistory(schemas: [old, new], migrationChain: ["V1", "V2"]))
        await #expect {
            try await second.addStorage(store)
        } throws: { error in
            (error as? StorageError)?.code == .dataLossRefused && "\(error)".contains("B.songs")
        }
    }

    @Test func aMappingOfADeletedEntityDoesNotApplyToAnEntityRenamedToIt() throws {
        let old = try Schema(version: "V1", entities: [Self.plain("A"), Self.list("B", nil, .toManyOrdered), Self.song])
        let new = try Schema(version: "V2", entities: [Self.list("A", "B", .toMany), Self.song])
        let provider = CustomSchemaMappingProvider(from: "V1", to: "V2", entityMappings: [.deleteEntity(sourceEntity: "A")])
        let mapping = try #require(try provider.mapping(from: old, to: new))
        #expect(mapping.losses.map(\.path) == ["A.songs"])
    }
}
