import Polystore
import RawSessions
import TestStores
import Testing

/// A schema under another name: everything else stays as it is.
@Suite struct VersionStampTests {
    private static func schema(_ version: String) throws -> Schema {
        try Schema(
            version: version,
            entities: [
                Entity("Shape", isAbstract: true, attributes: [Attribute("size", .int64)], indexes: [Index(["size"])]),
                Entity(
                    "Circle", parent: "Shape", attributes: [Attribute("name", .string, originalName: "title")],
                    relationships: [Relationship("tags", to: "Tag", .toMany, inverse: "circles")], indexes: [Index(["size"])],
                    uniqueConstraints: [UniqueConstraint(["name"])], originalName: "Disc"),
                Entity("Tag", relationships: [Relationship("circles", to: "Circle", .toMany, inverse: "tags")]),
            ])
    }

    private func pairs(_ kept: VersionedStore) throws -> [LinkPair] {
        let reader = try kept.open.beginRead()
        defer { reader.end() }
        var result: [LinkPair] = []
        try reader.links(0, side: .owner, keys: nil) { result += Array($0) }
        return result
    }

    @Test(arguments: TestStore.all) func aStampTouchesNoRow(_ kind: TestStore) throws {
        var kept = try VersionedStore(kind, try Self.schema("V1"))
        try kept.insert("Circle", [["size": .int(1), "name": .string("a")], ["size": .int(2), "name": .string("b")]])
        try kept.insert("Tag", [[:]])
        let token = try kept.write { try $0.apply(ChangeSet(links: [LinkChanges(link: 0, added: [LinkPair(owner: 1, member: 1)])])) }
        let links = try pairs(kept)
        #expect(links.count == 1 && token != nil)
        try kept.stamp("One")
        #expect(try kept.schema == Self.schema("One"))
        for _ in 0..<2 {
            #expect(try kept.rows("Circle") == ["1v1 1 a", "2v1 2 b"])
            #expect(try kept.rows("Shape", "size == 2") == ["2v1 2 b"])
            #expect(try pairs(kept) == links && kept.token(after: token) == token)
            try kept.reopen()
            #expect(try kept.schema.version == "One" && kept.schema.hash == Self.schema("V1").hash)
        }
        #expect(throws: StorageError.self) { try kept.insert("Circle", [["size": .int(3), "name": .string("a")]]) }
        try kept.insert("Circle", [["size": .int(2), "name": .string("c")]])
        try kept.delete("Circle", [2])
        #expect(try kept.rows("Circle", "size == 2").map { $0.suffix(6) } == ["v1 2 c"])
        #expect(try kept.rows("Shape", "size == 2").map { $0.suffix(6) } == ["v1 2 c"])
        let reader = try kept.open.beginRead()
        #expect(try MigrationRecord.all(reader) == [])
        reader.end()
        try kept.store.erase()
    }

    @Test(arguments: TestStore.all) func aStampOfAnotherSchemaIsRefused(_ kind: TestStore) throws {
        let kept = try VersionedStore(kind, try Self.schema("V1"))
        let other = try Schema(version: "V1", entities: [Entity("Other")])
        var refusal: StorageError?
        do throws(StorageError) { try VersionStamp("One").apply(to: kept.open.keeping(other)) } catch { refusal = error }
        #expect(refusal?.code == .schemaMismatch)
        try kept.store.erase()
    }

    @Test(arguments: TestStore.all) func aStampHasNothingToDo(_ kind: TestStore) throws {
        let kept = try VersionedStore(kind, try Self.schema("V1"))
        let lines = try kept.open.explanation(of: MigrationStep(SchemaMapping(from: kept.schema, to: try Self.schema("One"))))
        switch kind {
        case .sqlite, .postgresql: #expect(lines == [])
        case .memory, .lmdb:
            // Two hierarchies, three indexes, and the pairs from both sides; no map takes the place of two.
            #expect(Set(lines).count == 7 && lines.count == 7 && lines.allSatisfy { $0.hasPrefix("keep ") })
        }
        try kept.store.erase()
    }
}
