import Foundation
import PolystoreInMemory
import PolystoreSQLite
import PolystoreStorage
import PolystoreTransfer
import Testing

/// Archives and what is restored from them.
@Suite struct ArchiveTests {
    private let schema: Schema

    init() throws {
        schema = try Schema(entities: [
            Entity(
                "Thing",
                attributes: [
                    // Names that the lines of an archive use themselves.
                    Attribute("key", .int64, isOptional: true), Attribute("entity", .string, isOptional: true),
                    Attribute("version", .double, isOptional: true), Attribute("link", .decimal, isOptional: true),
                    Attribute("block", .data, isOptional: true), Attribute("header", .date, isOptional: true),
                    Attribute("uuid", .uuid, isOptional: true), Attribute("flag", .bool, isOptional: true),
                    Attribute("single", .float, isOptional: true), Attribute("small", .int16, isOptional: true),
                    Attribute("url", .url, isOptional: true),
                ],
                relationships: [Relationship("next", to: "Thing"), Relationship("items", to: "Thing", .toManyOrdered)]),
            Entity("Special", parent: "Thing", attributes: [Attribute("extra", .string, isOptional: true)]),
        ])
    }

    private let values: [[Value]] = [
        [
            .int(.min), .string(""), .double(-Double.leastNonzeroMagnitude),
            .decimal(Decimal(string: "-99999999999999999999999999999999999999")!), .data(Data()),
            .date(-62_135_596_800_000_000), .uuid(UUID(uuidString: "00000000-0000-0000-0000-000000000000")!), .bool(false),
            .double(16_777_216),
            .int(-32768), .string("https://example.org/a?b=c#d"),
        ],
        [
            .int(.max), .string("e\u{301}\u{1f600}\"\\\n\t\u{1b}é"), .double(.infinity), .decimal(Decimal(string: "0.1")!),
            .data(Data([0, 255, 10])), .date(253_402_300_799_999_999), .uuid(UUID()), .bool(true), .double(-.infinity), .int(32767), .null,
        ],
        [
            .int(9_007_199_254_740_993), .string("null"), .double(10.357019999999999), .decimal(Decimal(string: "1E-120")!), .null,
            .date(1),
            .null, .null, .double(Double(Float(0.1))), .int(0), .null,
        ],
        Array(repeating: .null, count: 11),
    ]

    private func store(_ storage: any StorageInterface = InMemoryStore()) throws -> OpenStore {
        try OpenStore(opening: storage, OpenRequest(schema: schema))
    }

    /// A store with extreme values, keys with gaps, versions, sub-entities, references, and members in an order of their own.
    private func source() throws -> OpenStore {
        let store = try store(), writer = try store.beginWrite(WriteOptions(bulk: .whole))
        defer { writer.end() }
        let thing = try #require(schema.index(of: "Thing")), special = try #require(schema.index(of: "Special"))
        let batch = RowBatch()
        for (index, row) in values.enumerated() {
            let entity = index == 1 ? special : thing, slots = schema[entity].slots
            let cells = batch.appendRow(
                key: [1, 7, 1 << 40, Int64.max - 1][index], version: Int64(index * 3 + 1), entity: entity, slots: slots.count)
            cells.initialize(repeating: .null, count: slots.count)
            for (position, value) in row.enumerated() { cells[position] = batch.cell(for: value) }
            if index < 3 { cells[try #require(schema[entity].slot("next"))] = .int(7) }
        }
        try writer.load(thing, batch)
        try writer.load(
            link: 0,
            [LinkPair(owner: 1, rank: 1, member: 1 << 40), LinkPair(owner: 1, rank: 2, member: 7), LinkPair(owner: 7, rank: 1, member: 7)])
        _ = try writer.commit(CommitRecord())
        return store
    }

    private func archive(_ store: OpenStore) throws -> [UInt8] {
        let reader = try store.beginRead()
        defer { reader.end() }
        var bytes: [UInt8] = []
        try ArchiveWriter(Contents(reader)).write { bytes += $0 }
        return bytes
    }

    private func restore(_ bytes: [UInt8], to storage: any StorageInterface = InMemoryStore()) throws -> OpenStore {
        var reader = try ArchiveReader(FileBlocks(Data(bytes)), name: "things.ndjson")
        let store = try OpenStore(opening: storage, OpenRequest(schema: reader.schema))
        _ = try reader.restore(into: store)
        return store
    }

    private func versions(_ store: OpenStore) throws -> [Int64: Int64] {
        let reader = try store.beginRead(), batch = RowBatch()
        defer { reader.end() }
        let root = try #require(schema.index(of: "Thing"))
        try reader.rows(root, keys: [1, 7, 1 << 40, Int64.max - 1], into: batch)
        return Dictionary(uniqueKeysWithValues: (0..<batch.count).map { (batch.key($0), batch.row($0).version) })
    }

    @Test func keysVersionsValuesAndOrdersAreRestored() throws {
        let source = try source(), bytes = try archive(source)
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).db").path
        let file = try restore(bytes, to: SQLiteStore(path: path))
        defer { try? file.erase() }
        for copy in [try restore(bytes), file] {
            #expect(try TransferEngine().verify(source, copy).allSatisfy(\.isSame))
            #expect(try versions(copy) == [1: 1, 7: 4, 1 << 40: 7, Int64.max - 1: 10])
            #expect(try archive(copy) == bytes)
        }
    }

    @Test func aChangedByteIsNoticedWhereverItIs() throws {
        let source = try source(), bytes = try archive(source)
        for position in bytes.indices {
            var damaged = bytes
            damaged[position] ^= 1 << (position % 7)
            #expect(throws: StorageError.self, "byte \(position)") { _ = try restore(damaged) }
        }
    }

    @Test func aCutArchiveIsRefusedWithItsBlock() throws {
        let bytes = try archive(source())
        for count in bytes.indices { #expect(throws: StorageError.self, "\(count) bytes") { _ = try restore(Array(bytes[..<count])) } }
        let end = try #require(bytes.dropLast().lastIndex(of: UInt8(ascii: "\n")))
        let error = #expect(throws: StorageError.self) { try restore(Array(bytes[...end])) }
        #expect(error?.code == .corrupted)
        #expect(error?.message.hasPrefix("things.ndjson is damaged in block 3 (the end): it is incomplete") == true)
    }

    @Test func aStoreWithObjectsIsNotRestoredInto() throws {
        let bytes = try archive(source())
        var reader = try ArchiveReader(FileBlocks(Data(bytes)), name: "things.ndjson")
        let error = #expect(throws: StorageError.self) { try reader.restore(into: source()) }
        #expect(error?.code == .alreadyExists)
    }

    @Test func otherFilesAreNoArchives() throws {
        for text in ["", "{}\n", "a,b\n1,2\n", "{\"polystore\":\"archive\"}\n"] {
            let error = #expect(throws: StorageError.self) { try ArchiveReader(FileBlocks(Data(text.utf8)), name: "x") }
            #expect(error?.code == .invalidConfiguration, "\(text)")
        }
    }
}
