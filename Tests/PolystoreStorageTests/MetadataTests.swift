import PolystoreStorage
import Testing

@Suite struct MetadataTests {
    private let schema: Schema

    init() throws { schema = try Schema(version: "V1", entities: [Entity("Note", attributes: [Attribute("a", .int64)])]) }

    @Test func metadataIsReadBack() throws {
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

    @Test(arguments: ["-1", "2147483647", "9223372036854775807", "x"]) func aCountOfMigrationsThatCannotBeIsDamage(_ count: String) throws {
        var entries = StoreMetadata(new: schema).entries
        entries["migrations"] = count
        do {
            _ = try StoreMetadata(entries: entries)
            Issue.record("nothing was thrown")
        } catch {
            #expect(error.code == .corrupted && error.message.contains("migrations"))
        }
    }

    @Test func aNewEntityAfterTheLastNumberTakesAFreeOne() throws {
        var entries = StoreMetadata(new: schema).entries
        entries["entities"] = "32767"
        let wider = try Schema(version: "V2", entities: schema.entities + [Entity("A"), Entity("B")])
        let next = StoreMetadata(migrating: try StoreMetadata(entries: entries), SchemaMapping(from: schema, to: wider))
        #expect(Set(next.entityNumbers).count == 3 && next.entityNumbers.allSatisfy { $0 > 0 })
        #expect(next.entityNumbers.contains(.max))
    }

    /// Entries are written over those of the version before: one that is left out would stay.
    @Test func emptyNamesOfMapsAreWritten() throws {
        var first = StoreMetadata(migrating: StoreMetadata(new: schema), SchemaMapping(from: schema, to: schema))
        first.mapNames = ["Note": "polystore_1.Note"]
        var second = StoreMetadata(migrating: first, SchemaMapping(from: schema, to: schema))
        second.mapNames = [:]
        let written = first.entries.merging(second.entries) { $1 }
        #expect(try StoreMetadata(entries: written).mapNames.isEmpty)
        #expect(try StoreMetadata(entries: first.entries).mapNames == ["Note": "polystore_1.Note"])
    }
}
