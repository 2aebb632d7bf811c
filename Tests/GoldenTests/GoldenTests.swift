import Foundation
import Polystore
import PolystoreLMDB
import PolystorePostgreSQL
import PolystoreSQLite
import TestStores
import Testing

/// Stores that were written by every released format version are opened by the newest code.
///
/// The files lie in `Golden`, named after the format. A new format adds files, it never replaces any: run this suite once with
/// `POLYSTORE_WRITE_GOLDEN=1` and a server, and commit what it wrote.
@Suite struct GoldenTests {
    private static let formats = [1]
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Golden")
    private static let writes = ProcessInfo.processInfo.environment["POLYSTORE_WRITE_GOLDEN"] != nil

    /// Every type of value, a hierarchy, and every kind of relationship.
    private static func schema(_ version: String) throws -> Schema {
        let isNew = version == "V2"
        return try Schema(
            version: version,
            entities: [
                Entity(
                    "Item",
                    attributes: ValueType.allCases.map { Attribute("\($0.rawValue)Value", $0, isOptional: true) }
                        + (isNew ? [Attribute("rank", .int32, defaultValue: .int(4))] : []),
                    relationships: [
                        Relationship("box", to: "Box", inverse: "items"),
                        Relationship("tags", to: "Tag", .toMany, inverse: "items"),
                    ], indexes: [Index(["int64Value"]), Index(["stringValue"])]),
                Entity("Special", parent: "Item", attributes: [Attribute("note", .string, isOptional: true)]),
                Entity(
                    "Box", attributes: [Attribute("label", .string)],
                    relationships: [
                        Relationship("items", to: "Item", .toMany, inverse: "box"),
                        Relationship("order", to: "Tag", .toManyOrdered),
                    ], uniqueConstraints: [UniqueConstraint(["label"])]),
                Entity(
                    "Tag", attributes: [Attribute("name", .string)],
                    relationships: [Relationship("items", to: "Item", .toMany, inverse: "tags")]),
            ])
    }

    private static let values: [(ValueType, Value)] = [
        (.bool, .bool(true)), (.int16, .int(-32_768)), (.int32, .int(2_147_483_647)), (.int64, .int(-9_223_372_036_854_775_808)),
        (.float, .double(0.5)), (.double, .double(0.1)), (.decimal, .decimal(Decimal(string: "-12345678901234567890.125") ?? 0)),
        (.string, .string("Grüße, 世界 e\u{301}")), (.date, .date(-62_135_596_800_000_000)),
        (.uuid, .uuid(UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF") ?? UUID())), (.data, .data(Data([0, 1, 254, 255]))),
        (.url, .string("https://example.com/a?b=c#d")),
    ]

    private static func fill(_ stack: DataStack) throws {
        try stack.perform(
            author: "golden",
            synchronous: { transaction in
                let item = try transaction.create(Into<DynamicObject>(entity: "Item"))
                for (type, value) in values { try item.setValue(value, for: "\(type.rawValue)Value") }
                let special = try transaction.create(Into<DynamicObject>(entity: "Special"))
                try special.setValue(.string("nil everywhere else"), for: "note")
                let box = try transaction.create(Into<DynamicObject>(entity: "Box"))
                try box.setValue(.string("B"), for: "label")
                try box.setObjects([item, special], for: "items")
                let tags = try ["x", "y", "z"].map { name in
                    let tag = try transaction.create(Into<DynamicObject>(entity: "Tag"))
                    try tag.setValue(.string(name), for: "name")
                    return tag
                }
                try box.setObjects([tags[2], tags[0], tags[1]], for: "order")
                try item.setObjects([tags[0], tags[2]], for: "tags")
            })
    }

    private static func check(_ stack: DataStack, rank: Value?) throws {
        let items = try stack.fetchAll(From<DynamicObject>(entity: "Item"))
        #expect(items.map(\.entityName) == ["Item", "Special"])
        for (type, value) in values {
            #expect(try items[0].value("\(type.rawValue)Value") == value, "\(type)")
            #expect(try items[1].value("\(type.rawValue)Value") == .null, "\(type)")
        }
        #expect(try items[1].value("note") == .string("nil everywhere else"))
        if let rank { #expect(try items.map { try $0.value("rank") } == [rank, rank]) }
        let box = try #require(try stack.fetchOne(From<DynamicObject>(entity: "Box")))
        #expect(try Self.names(box.objects("order")) == [.string("z"), .string("x"), .string("y")])
        #expect(try box.objects("items").count == 2)
        #expect(try Set(Self.names(items[0].objects("tags"))) == [.string("x"), .string("z")])
        #expect(
            try stack.fetchCount(From<DynamicObject>(entity: "Item").where(Where(format: "stringValue == %@", "Grüße, 世界 e\u{301}"))) == 1)
        #expect(throws: StorageError.self) {
            try stack.perform(synchronous: { try $0.create(Into<DynamicObject>(entity: "Box")).setValue(.string("B"), for: "label") })
        }
    }

    private static func names(_ objects: [ManagedObject]) throws -> [Value] {
        try objects.map { try #require($0 as? DynamicObject).value("name") }
    }

    private static func stores(_ kind: TestStore, _ name: String) -> (any StorageInterface)? {
        switch kind {
        case .memory: nil
        case .sqlite: SQLiteStore(path: name + ".sqlite")
        case .lmdb: LMDBStore(path: name + ".lmdb")
        case .postgresql: TestStore.server.map { PostgreSQLStore(conninfo: $0, schema: "golden") }
        }
    }

    private static func sql(_ tool: String, _ arguments: [String], input: Data? = nil) throws -> Data {
        let process = Process(), output = Pipe(), source = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [tool] + arguments + [TestStore.server ?? ""]
        process.standardOutput = output
        if input != nil { process.standardInput = source }
        try process.run()
        if let input {
            try source.fileHandleForWriting.write(contentsOf: input)
            try source.fileHandleForWriting.close()
        }
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "\(tool)")
        return data
    }

    @Test(.enabled(if: writes)) func writeGoldenStores() throws {
        let name = Self.folder.appendingPathComponent("format-\(StoreMetadata.currentFormat)").path
        try FileManager.default.createDirectory(at: Self.folder, withIntermediateDirectories: true)
        for kind in TestStore.all {
            guard let store = Self.stores(kind, name) else { continue }
            try? store.erase()
            let stack = try DataStack(schema: Self.schema("V1"))
            try stack.addStorageAndWait(store)
            try Self.fill(stack)
            try stack.removeStorage(store)
            if kind == .postgresql {
                let dump = try Self.sql("pg_dump", ["--schema=golden", "--no-owner", "--inserts", "-d"])
                try dump.write(to: URL(fileURLWithPath: name + ".sql"))
                try store.erase()
            }
        }
        for file in ["-lock", "-wal", "-shm"] {
            for kind in [".lmdb", ".sqlite"] { try? FileManager.default.removeItem(atPath: name + kind + file) }
        }
    }

    @Test(.enabled(if: !writes), arguments: formats, TestStore.all) func theNewestCodeOpensEveryFormat(_ format: Int, _ kind: TestStore)
        async throws
    {
        if kind == .memory { return }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("polystore_golden_\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let name = folder.appendingPathComponent("format-\(format)").path
        for file in try FileManager.default.contentsOfDirectory(atPath: Self.folder.path) where file.hasPrefix("format-\(format).") {
            try FileManager.default.copyItem(at: Self.folder.appendingPathComponent(file), to: folder.appendingPathComponent(file))
        }
        let store = try #require(Self.stores(kind, name))
        defer { try? store.erase() }
        if kind == .postgresql {
            try? store.erase()
            // A store of that time does not know whether the schema was made for it, and leaves it.
            let dump = try Data("DROP SCHEMA IF EXISTS golden;\n".utf8) + Data(contentsOf: URL(fileURLWithPath: name + ".sql"))
            _ = try Self.sql("psql", ["-q", "-v", "ON_ERROR_STOP=1", "-d"], input: dump)
        }
        let stack = try DataStack(schema: Self.schema("V1"))
        try stack.addStorageAndWait(store)
        try Self.check(stack, rank: nil)
        try stack.removeStorage(store)
        // And it leads on from there.
        let next = try DataStack(schemaHistory: SchemaHistory(Self.schema("V1"), Self.schema("V2"), migrationChain: ["V1", "V2"]))
        try await next.addStorage(store)
        try Self.check(next, rank: .int(4))
        try next.removeStorage(store)
    }
}
