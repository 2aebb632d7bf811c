import Foundation
import PolystoreInMemory
import PolystoreStorage
import PolystoreTransfer
import TestStores
import Testing

/// Loads by which unique values move from one object to another, further apart than what is written at once.
@Suite struct MovedValueLoadTests {
    private static let count = 2_500

    private func store(_ kind: TestStore, isOptional: Bool = false) throws -> OpenStore {
        let schema = try Schema(entities: [
            Entity(
                "Item", attributes: [Attribute("code", .string), Attribute("place", .int64, isOptional: isOptional)],
                uniqueConstraints: [UniqueConstraint(["code"]), UniqueConstraint(["place"])])
        ])
        return try OpenStore(opening: kind.make(), OpenRequest(schema: schema))
    }

    private func load(_ rows: some Sequence<(String, Int)>, _ store: OpenStore) throws -> LoadReport {
        let text = "code,place\n" + rows.map { "\($0),\($1)\n" }.joined()
        var file = LoadMapping.file("a.csv", entity: "Item")
        file.on = ["code"]
        return try FileLoader.load(LoadMapping(files: [file]), into: store) { _ in FileBlocks(Data(text.utf8)) }
    }

    @Test(arguments: TestStore.all) func valuesMoveBetweenFiles(_ kind: TestStore) throws {
        let store = try store(kind)
        defer { try? store.erase() }
        _ = try load([("a", 1), ("b", 2), ("c", 3)], store)
        let texts = ["new": "code,place\nd,3\n", "a": "code,place\na,2\n", "b": "code,place\nb,1\nc,4\n"]
        let files = ["new", "a", "b"].map { name in
            var file = LoadMapping.file("\(name).csv", entity: "Item")
            if name != "new" { file.on = ["code"] }
            return file
        }
        _ = try FileLoader.load(LoadMapping(files: files), into: store) { name in
            FileBlocks(Data((texts[String(name.dropLast(4))] ?? "").utf8))
        }
        #expect(try places(store) == ["a": 2, "b": 1, "c": 4, "d": 3])
    }

    /// A constraint of two attributes of which the files assign one.
    @Test func positionsOfAShelfMoveBetweenFiles() throws {
        let schema = try Schema(entities: [
            Entity(
                "Item", attributes: [Attribute("code", .string), Attribute("shelf", .int64), Attribute("place", .int64)],
                uniqueConstraints: [UniqueConstraint(["code"]), UniqueConstraint(["shelf", "place"])])
        ])
        let store = try OpenStore(opening: InMemoryStore(), OpenRequest(schema: schema))
        func load(_ texts: [String: String]) throws {
            let files = texts.keys.sorted().map { name in
                var file = LoadMapping.file(name, entity: "Item")
                file.on = ["code"]
                return file
            }
            _ = try FileLoader.load(LoadMapping(files: files), into: store) { name in FileBlocks(Data((texts[name] ?? "").utf8)) }
        }
        try load(["a.csv": "code,shelf,place\na,1,1\nb,1,2\n"])
        try load(["a.csv": "code,shelf,place\nb,1,1\n", "b.csv": "code,shelf,place\na,1,2\n"])
        try load(["a.csv": "code,place\nb,2\n", "b.csv": "code,place\na,1\n"])
        try load(["a.csv": "code,place\nb,1\n", "b.csv": "code,place\na,2\n"])
        let reader = try store.beginRead(), batch = RowBatch()
        defer { reader.end() }
        _ = try reader.cursor(for: FetchPlan(schema, 0)).next(into: batch)
        #expect(batch.count == 2 && batch.row(0)[2].int == 2 && batch.row(1)[2].int == 1)
    }

    /// The second file gives another object what the first one has given to `c0`.
    @Test(arguments: TestStore.all) func valuesOfAnEarlierFileMove(_ kind: TestStore) throws {
        let store = try store(kind)
        defer { try? store.erase() }
        _ = try load((0..<Self.count).map { ("c\($0)", $0) }, store)
        let second = [("c1", 9_999)] + (2..<Self.count).map { ("c\($0)", $0) } + [("c0", 8_888)]
        let texts = ["a.csv": "code,place\nc0,9999\n", "b.csv": "code,place\n" + second.map { "\($0),\($1)\n" }.joined()]
        let files = ["a.csv", "b.csv"].map { name in
            var file = LoadMapping.file(name, entity: "Item")
            file.on = ["code"]
            return file
        }
        _ = try FileLoader.load(LoadMapping(files: files), into: store) { name in FileBlocks(Data((texts[name] ?? "").utf8)) }
        let found = try places(store)
        #expect(found["c0"] == 8_888 && found["c1"] == 9_999 && found["c2"] == 2)
    }

    private func places(_ store: OpenStore) throws -> [String: Int64] {
        let reader = try store.beginRead(), batch = RowBatch()
        defer { reader.end() }
        let cursor = try reader.cursor(for: FetchPlan(store.schema, 0))
        var found: [String: Int64] = [:]
        while try cursor.next(into: batch) {
            for index in 0..<batch.count {
                if case .string(let code)? = Value(batch.row(index)[0], as: .string) { found[code] = batch.row(index)[1].int }
            }
        }
        return found
    }

    @Test(arguments: TestStore.all, [true, false]) func valuesMoveHoweverFar(_ kind: TestStore, _ isOptional: Bool) throws {
        let store = try store(kind, isOptional: isOptional)
        defer { try? store.erase() }
        let codes = (0..<Self.count).map { "c\($0)" }
        #expect(try load(zip(codes, 0...), store).loaded.map(\.count) == [Self.count])
        // All by one, then in the reverse order, then a new object takes what the last record sets free.
        #expect(try load(zip(codes, 1...), store).loaded.map(\.updated) == [Self.count])
        #expect(try places(store) == Dictionary(uniqueKeysWithValues: zip(codes, Int64(1)...)))
        _ = try load(zip(codes, (0..<Self.count).reversed()), store)
        #expect(try places(store) == Dictionary(uniqueKeysWithValues: zip(codes, (0..<Int64(Self.count)).reversed())))
        let report = try load(zip(["new"] + codes, [0] + (0..<Self.count).reversed().dropLast() + [9_999]), store)
        #expect(report.loaded.map(\.count) == [1] && report.loaded.map(\.updated) == [1])
        let found = try places(store)
        #expect(found["new"] == 0 && found["c\(Self.count - 1)"] == 9_999 && found["c0"] == Int64(Self.count - 1))
        // Each object changes once in the history, however often it was written.
        let reader = try store.beginRead()
        let entry = try reader.history(since: nil, limit: 10).last
        reader.end()
        #expect(entry?.changes.count == 2)
        var findings: [CheckFinding] = []
        try TransferEngine().check(store) { findings.append($0) }
        #expect(findings.isEmpty)
        // What two objects would have is refused as before.
        let before = try places(store)
        let error = #expect(throws: StorageError.self) { try load(zip(codes, [1] + Array(1..<Self.count)), store) }
        #expect(error?.code == .uniqueConstraintViolated)
        #expect(try places(store) == before)
    }
}
