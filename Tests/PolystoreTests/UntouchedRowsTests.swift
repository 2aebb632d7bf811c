import Foundation
import Polystore
import RawSessions
import TestStores
import Testing

/// A step writes what it changes and nothing else: seen in the places of the rows, by means that are none of ours.
@Suite struct UntouchedRowsTests {
    private static let entities = 30, rows = 200, changed = "E07"

    private static func name(_ entity: Int) -> String { (entity < 10 ? "E0" : "E") + String(entity % entities) }

    /// Thirty entities in a ring; each row has a text that says whose it is. In the second version one of them has a text for a number.
    private static func schema(_ version: String) throws -> Schema {
        try Schema(
            version: version,
            entities: (0..<entities).map { number in
                let isChanged = version == "V2" && name(number) == changed
                let next = name((number + 1) % entities)
                return Entity(
                    name(number),
                    attributes: [Attribute("text", .string), Attribute("number", isChanged ? .string : .int64)],
                    relationships: [
                        Relationship("next", to: next, inverse: "previous"),
                        Relationship("previous", to: name((number + entities - 1) % entities), .toMany, inverse: "next"),
                        Relationship("others", to: next, .toMany),
                    ], indexes: [Index(["text"])])
            })
    }

    private static let mapping = CustomSchemaMappingProvider(
        from: "V1", to: "V2",
        entityMappings: [
            .transformEntity(sourceEntity: changed, destinationEntity: changed) { source, create in
                let row = create()
                row["text"] = source["text"]
                row["number"] = "\(source["number"] ?? "")"
            }
        ])

    private static func marker(_ entity: Int, _ row: Int) -> String { "\(name(entity)) row \(String(1000 + row));" }

    private static func fill(_ store: any StorageInterface, _ schema: Schema) throws {
        let writer = try store.beginWrite(WriteOptions())
        defer { writer.end() }
        for entity in 0..<entities {
            let batch = RowBatch(capacity: rows), index = try #require(schema.index(of: name(entity)))
            for row in 0..<rows {
                let text = batch.cell(for: .string(marker(entity, row) + String(repeating: "x", count: 40)))
                let cells = batch.appendRow(key: Int64(row + 1), version: 1, entity: index, slots: 3)
                (cells[0], cells[1], cells[2]) = (text, .int(Int64(row)), .int(Int64(rows - row)))
            }
            try writer.load(index, batch)
        }
        for link in schema.links.indices { try writer.load(link: link, [LinkPair(owner: 1, member: 2), LinkPair(owner: 3, member: 1)]) }
        _ = try writer.commit(CommitRecord())
    }

    private static func state(_ schema: Schema) -> StorageState {
        StorageState(storeID: UUID(), schema: schema, formatVersion: 1, wasCreated: false)
    }

    private static func migrate(_ store: any StorageInterface) throws {
        let old = try schema("V1")
        var history = try SchemaHistory(old, schema("V2"), migrationChain: ["V1", "V2"])
        history.backsUpFiles = false
        let steps = try MigrationRunner(history, OpenStore(store, state(old)), mappingProviders: [mapping]).run()
        #expect(steps == [.heavyweight(sourceVersion: "V1", destinationVersion: "V2")])
    }

    /// What the changed entity holds now.
    private static func check(_ store: any StorageInterface) throws {
        let schema = try schema("V2"), reader = try store.beginRead(), batch = RowBatch(capacity: rows)
        defer { reader.end() }
        let entity = try #require(schema.index(of: changed))
        try reader.rows(entity, keys: [8], into: batch)
        let row = batch.row(0), slots = schema[entity].slots
        #expect(Value(row[1], as: slots[1].type) == .string("7") && row[2].int == 193)
        #expect(try reader.values(for: .count(FetchPlan(schema, entity))) == [[.int(200)]])
    }

    private static func rawRows(_ session: any StorageReader, _ sql: RawSQL) throws -> [[Value]] { try session.rawRows(sql).rows }

    private func withStore(_ kind: TestStore, _ body: (any StorageInterface, Schema) throws -> Void) throws {
        let store = kind.make(), schema = try Self.schema("V1")
        defer { try? store.erase() }
        _ = try store.open(OpenRequest(schema: schema))
        try Self.fill(store, schema)
        try body(store, schema)
    }

    // MARK: What is planned

    @Test(arguments: TestStore.all) func onlyTheChangedEntityIsWrittenByTheCaller(_ kind: TestStore) throws {
        try withStore(kind) { store, schema in
            let mapping = SchemaMapping(from: schema, to: try Self.schema("V2"))
            let changed = try #require(mapping.destination.index(of: Self.changed))
            let step = MigrationStep(mapping, writtenRoots: [changed])
            let open = OpenStore(store, Self.state(schema)), lines = try open.explanation(of: step)
            let others = (0..<Self.entities).map(Self.name).filter { $0 != Self.changed }
            let touched = lines.filter { line in !line.hasPrefix("keep ") && others.contains { line.contains($0) } }
            #expect(!lines.isEmpty && touched == [])
            let migration = try open.beginMigration(step, WriteOptions())
            defer { migration.end() }
            let work = try migration.prepare()
            #expect(work.roots == [changed] && work.links == [])
        }
    }

    // MARK: Where rows lie in a file

    /// The places of each text in a file, by the texts.
    private func places(_ file: URL) throws -> [String: [Int]] {
        let data = try Data(contentsOf: file), length = Self.marker(0, 0).utf8.count
        var places: [String: [Int]] = [:]
        data.withUnsafeBytes { (bytes: UnsafeRawBufferPointer) in
            let middle = Array(" row 1".utf8)
            var position = 0
            while position + length <= bytes.count {
                defer { position += 1 }
                guard bytes[position] == UInt8(ascii: "E"), bytes[position + length - 1] == UInt8(ascii: ";") else { continue }
                let text = bytes[position..<(position + length)]
                if text.dropFirst(3).starts(with: middle) { places[String(decoding: text, as: UTF8.self), default: []].append(position) }
            }
        }
        return places
    }

    @Test(arguments: [TestStore.sqlite, .lmdb]) func rowsAndIndexesOfOtherEntitiesStayInPlace(_ kind: TestStore) throws {
        try withStore(kind) { store, _ in
            let file = try #require(store as? any LocalStorage).fileURL
            // Closing puts everything into the file.
            try store.close()
            let before = try places(file)
            #expect(before.count == Self.entities * Self.rows && before.values.allSatisfy { $0.count >= 2 })
            _ = try store.open(OpenRequest(schema: nil, createIfMissing: false))
            try Self.migrate(store)
            try Self.check(store)
            try store.close()
            let after = try places(file)
            let moved = Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }
            // The measure sees what is written: the changed entity, and nothing else.
            #expect(Set(moved.map { String($0.prefix(3)) }) == [Self.changed])
        }
    }

    @Test func sqliteLeavesOtherTablesAndCountsFewChanges() throws {
        try withStore(.sqlite) { store, _ in
            func roots() throws -> [[Value]] {
                let reader = try store.beginRead()
                defer { reader.end() }
                return try Self.rawRows(
                    reader,
                    "SELECT name, rootpage, sql FROM sqlite_schema WHERE name NOT LIKE '%E07%' AND name NOT LIKE 'polystore%' ORDER BY name"
                )
            }
            func changes() throws -> Int64 {
                let writer = try store.beginWrite(WriteOptions())
                defer { writer.end() }
                guard case .int(let count) = try Self.rawRows(writer, "SELECT total_changes()")[0][0] else { return -1 }
                return count
            }
            let before = try roots(), count = try changes()
            #expect(before.count > 3 * (Self.entities - 1))
            try Self.migrate(store)
            #expect(try roots() == before)
            // The rows of one entity, and a few entries and counters of the step's own; the other rows are 5,800.
            let written = try changes() - count
            #expect(written >= Int64(Self.rows) && written < Int64(Self.rows + 3 * Self.entities))
        }
    }

    @Test(.enabled(if: TestStore.server != nil)) func postgresqlLeavesOtherFilesAndRows() throws {
        try withStore(.postgresql) { store, _ in
            func files() throws -> [[Value]] {
                let reader = try store.beginRead()
                defer { reader.end() }
                return try Self.rawRows(
                    reader,
                    """
                    SELECT relname::text, relfilenode::int8 FROM pg_class WHERE relnamespace = current_schema()::regnamespace
                    AND relname NOT LIKE '%E07%' AND relname NOT LIKE 'polystore%' ORDER BY 1
                    """)
            }
            /// Where each row lies and which transaction wrote it.
            func rows() throws -> [[[Value]]] {
                let reader = try store.beginRead()
                defer { reader.end() }
                return try (0..<Self.entities).map(Self.name).filter { $0 != Self.changed }.map { name in
                    try Self.rawRows(reader, "SELECT ctid::text, xmin::text FROM \(table: name) ORDER BY ctid")
                }
            }
            let filesBefore = try files(), rowsBefore = try rows()
            #expect(filesBefore.count > 3 * (Self.entities - 1) && rowsBefore.allSatisfy { $0.count == Self.rows })
            try Self.migrate(store)
            try Self.check(store)
            #expect(try files() == filesBefore)
            #expect(try rows() == rowsBefore)
        }
    }

    // MARK: Where rows lie in memory

    @Test func memoryKeepsTheBytesOfOtherRows() throws {
        try withStore(.memory) { store, _ in
            /// The addresses of the texts of an entity: the store lends its own bytes.
            func addresses(_ entity: Int, _ version: String) throws -> [UInt64] {
                let schema = try Self.schema(version), index = try #require(schema.index(of: Self.name(entity)))
                let reader = try store.beginRead(), batch = RowBatch(capacity: Self.rows)
                defer { reader.end() }
                _ = try reader.cursor(for: FetchPlan(schema, index)).next(into: batch)
                return (0..<batch.count).map { batch.row($0)[0].bits }
            }
            let before = try (0..<Self.entities).map { try addresses($0, "V1") }
            try Self.migrate(store)
            try Self.check(store)
            let after = try (0..<Self.entities).map { try addresses($0, "V2") }
            for entity in 0..<Self.entities {
                #expect((before[entity] == after[entity]) == (Self.name(entity) != Self.changed), "\(Self.name(entity))")
            }
        }
    }
}
