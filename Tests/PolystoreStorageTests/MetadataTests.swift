import PolystoreStorage
import Testing

@Suite struct MetadataTests {
    private let schema: Schema

    init() throws { schema = try Schema(version: "V1", entities: [Entity("Note", attributes: [Attribute("a", .int64)])]) }

    @Test func whatAStoreKeepsIsReadAgain() throws {
        let metadata = StoreMetadata(new: schema)
        let read = try StoreMetadata(entries: metadata.entries)
        #expect(read.storeID == metadata.storeID && read.schema == schema && read.formatVersion == StoreMetadata.currentFormat)
        #expect(read.entityNumbers == [1] && read.migrations == 0 && read.mapNames.isEmpty)
    }

    @Test func aFormatFromTheFutureIsRefused() throws {
        var entries = StoreMetadata(new: schema).entries
        entries["format"] = String(StoreMetadata.currentFormat + 1)
        do {
            _ = try StoreMetadata(entries: entries)
            Issue.record("nothing was thrown")
        } catch {
            #expect(error.code == .unsupported)
        }
    }

    @Test(arguments: ["format", "store", "schema", "entities"]) func aMissingEntryIsDamage(_ name: String) throws {
        var entries = StoreMetadata(new: schema).entries
        entries[name] = nil
        do {
            _ = try StoreMetadata(entries: entries)
            Issue.record("nothing was thrown")
        } catch {
            #expect(error.code == .corrupted && error.message.contains(name))
        }
    }

    /// Entries are written over those of the version before: one that is left out would stay.
    @Test func namesOfMapsAreWrittenAlsoWhereThereAreNone() throws {
        var first = StoreMetadata(migrating: StoreMetadata(new: schema), SchemaMapping(from: schema, to: schema))
        first.mapNames = ["Note": "polystore_1.Note"]
        var second = StoreMetadata(migrating: first, SchemaMapping(from: schema, to: schema))
        second.mapNames = [:]
        let written = first.entries.merging(second.entries) { $1 }
        #expect(try StoreMetadata(entries: written).mapNames.isEmpty)
        #expect(try StoreMetadata(entries: first.entries).mapNames == ["Note": "polystore_1.Note"])
    }
}
