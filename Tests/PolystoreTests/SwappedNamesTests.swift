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

    /// Both versions are stored alike, so that no store would notice the step.
    @Test func namesOfTheSameShapeAreNotExchangedInOneStep() throws {
        func schema(_ version: String, _ names: [(name: String, original: String?)]) throws -> Schema {
            let attributes = names.map { Attribute($0.name, .string, originalName: $0.original) }
            return try Schema(version: version, entities: [Entity("Person", attributes: attributes + [Attribute("age", .int64)])])
        }
        func failure(_ schemas: [Schema], _ chain: MigrationChain = nil, exactly current: String? = nil) -> StorageError? {
            do { _ = try SchemaHistory(schemas: schemas, migrationChain: chain, exactCurrentVersion: current) } catch { return error }
            return nil
        }
        let v1 = try schema("V1", [("first", nil), ("last", nil)]), v2 = try schema("V2", [("first", "last"), ("last", "first")])
        let between = try schema("V1b", [("first", nil), ("middle", "last")])
        let error = try #require(failure([v1, v2]))
        #expect(error.code == .invalidConfiguration)
        #expect(error.message.contains("\"V2\" of the model exchanges the names of Person.first, Person.last"))
        #expect(failure([v1, v2], ["V1", "V2"])?.code == .invalidConfiguration)
        let after = try schema("V2", [("first", "middle"), ("last", "first")])
        #expect(failure([v1, between, after], ["V1", "V1b", "V2"]) == nil)
        // What remains of the step in later versions, and what was renamed before.
        let v3 = try schema("V3", [("first", "last"), ("last", "first")])
        #expect(failure([v2, v3], ["V2", "V3"]) == nil && failure([v2]) == nil)
        #expect(failure([v1, try schema("V2", [("first", "name"), ("last", nil)])]) == nil)
        let plain = try Schema(version: "V1", entities: [Self.plain("A"), Self.plain("B")])
        let exchanged = try Schema(version: "V2", entities: [Self.plain("A", "B"), Self.plain("B", "A")])
        #expect(failure([plain, exchanged])?.message.contains("the names of A, B,") == true)
    }

    @Test func aMappingOfADeletedEntityDoesNotApplyToAnEntityRenamedToIt() throws {
        let old = try Schema(version: "V1", entities: [Self.plain("A"), Self.list("B", nil, .toManyOrdered), Self.song])
        let new = try Schema(version: "V2", entities: [Self.list("A", "B", .toMany), Self.song])
        let provider = CustomSchemaMappingProvider(from: "V1", to: "V2", entityMappings: [.deleteEntity(sourceEntity: "A")])
        let mapping = try #require(try provider.mapping(from: old, to: new))
        #expect(mapping.losses.map(\.path) == ["A.songs"])
    }
}
