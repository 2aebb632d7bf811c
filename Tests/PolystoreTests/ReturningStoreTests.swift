import Polystore
import RawSessions
import TestStores
import Testing

/// Stores that are led on, planned for, and led back.
@Suite struct ReturningStoreTests {
    private static func schema(_ version: String, _ attributes: [Attribute]) throws -> Schema {
        try Schema(version: version, entities: [Entity("Note", attributes: attributes)])
    }

    private static let text = Attribute("text", .string)
    private static let body = Attribute("body", .string, originalName: "text")
    private static let stars = Attribute("stars", .int64, defaultValue: .int(3))

    @Test(arguments: TestStore.all) func aStoreRevertsToThePreviousVersion(_ kind: TestStore) throws {
        let old = try Self.schema("V1", [Attribute("a", .string), Attribute("b", .string, isOptional: true)])
        let new = try Self.schema(
            "V2",
            [
                Attribute("a", .string, isOptional: true, originalName: "b"), Attribute("b", .string, originalName: "a"),
                Attribute("c", .int64, defaultValue: .int(7)),
            ])
        var kept = try VersionedStore(kind, old)
        try kept.insert("Note", [["a": .string("x"), "b": .string("y")], ["a": .string("z")]])
        try kept.migrate(to: new)
        #expect(try kept.rows("Note") == ["1v1 y x 7", "2v1 nil z 7"])
        var refusal: StorageError?
        do { try kept.goBack(to: old) } catch { refusal = error as? StorageError }
        #expect(refusal?.code == .dataLossRefused)
        try kept.goBack(to: old, losing: ["Note.c"])
        #expect(try kept.rows("Note") == ["1v1 x y", "2v1 z nil"])
        try kept.reopen()
        #expect(kept.schema == old)
        let reader = try kept.open.beginRead()
        #expect(try MigrationRecord.all(reader).map(\.schema) == [old, new])
        reader.end()
        // The version that was left by going back is none of an older program.
        try kept.migrate(to: new)
        #expect(try kept.rows("Note") == ["1v1 y x 7", "2v1 nil z 7"])
        try kept.store.erase()
    }

    @Test(arguments: TestStore.all) func aPlanKnowsEveryStepOfAChain(_ kind: TestStore) throws {
        let versions = try [Self.schema("V1", [Self.text]), Self.schema("V2", [Self.body]), Self.schema("V3", [Self.body, Self.stars])]
        let kept = try VersionedStore(kind, versions[0])
        try kept.insert("Note", [["text": .string("x")]])
        let runner = MigrationRunner(try SchemaHistory(schemas: versions, migrationChain: ["V1", "V2", "V3"]), kept.open)
        let required = try runner.requiredMigrations()
        #expect(required.map(\.description) == [#""V1" → "V2" (lightweight)"#, #""V2" → "V3" (lightweight)"#])
        #expect(required.map(\.objectCount) == [1, 1])
        let rename = [
            #"ALTER TABLE "Note" RENAME COLUMN "text" TO "polystore_0""#, #"ALTER TABLE "Note" RENAME COLUMN "polystore_0" TO "body""#,
        ]
        let expected: [[String]] =
            switch kind {
            case .memory, .lmdb: [["keep Note"], ["rewrite the rows of Note", "remove Note"]]
            case .sqlite: [rename, [#"ALTER TABLE "Note" ADD COLUMN "stars" INTEGER DEFAULT 3"#]]
            case .postgresql:
                [
                    rename,
                    [
                        #"ALTER TABLE "Note" ADD COLUMN "stars" int8 DEFAULT '3'::int8"#,
                        #"ALTER TABLE "Note" ALTER COLUMN "stars" DROP DEFAULT"#,
                    ],
                ]
            }
        #expect(try runner.explanations() == expected)
        #expect(try kept.rows("Note") == ["1v1 x"])
        try kept.store.erase()
    }

    @Test func objectsOfARenamedEntityAreCounted() throws {
        let old = try Self.schema("V1", [Self.text])
        let new = try Schema(version: "V2", entities: [Entity("Memo", attributes: [Self.text], originalName: "Note")])
        let kept = try VersionedStore(.memory, old)
        try kept.insert("Note", [["text": .string("x")], ["text": .string("y")]])
        #expect(try MigrationRunner(SchemaHistory(new), kept.open).requiredMigrations().map(\.objectCount) == [2])
    }
}
