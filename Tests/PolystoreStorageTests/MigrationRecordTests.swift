import PolystoreStorage
import Testing

/// Where a store can be led back, by the versions that it had.
@Suite struct MigrationRecordTests {
    private func schema(_ version: String) throws -> Schema {
        try Schema(version: version, entities: [Entity("Note", attributes: [Attribute("in\(version)", .int64)])])
    }

    /// The ancestors of the last of some versions that a store had one after the other.
    private func ancestors(_ versions: String...) throws -> [String] {
        let schemas = try versions.map(schema)
        return MigrationRecord.ancestors(of: schemas[schemas.count - 1], schemas.dropLast().map(MigrationRecord.init)).map(\.version)
    }

    @Test func previousVersionsAreListedNearestFirst() throws {
        #expect(try ancestors("V1") == [])
        #expect(try ancestors("V1", "V2", "V3") == ["V2", "V1"])
    }

    @Test func aRevertIsNotRecordedAsASeparateStep() throws {
        #expect(try ancestors("V1", "V2", "V1") == [])
        #expect(try ancestors("V1", "V2", "V3", "V2") == ["V1"])
        #expect(try ancestors("V1", "V2", "V1", "V3") == ["V1"])
        #expect(try ancestors("V1", "V2", "V1", "V2", "V3") == ["V2", "V1"])
    }
}
