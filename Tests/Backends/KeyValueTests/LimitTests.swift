import Foundation
import PolystoreCatalog
import PolystoreStorage
import RawSessions
import Testing

/// Work that has to end, numbers at the end of their range, and rows that may not be written.
@Suite struct LimitTests {
    private static let kinds = ["memory:", "lmdb:"]
    private static let schema = Result {
        try Schema(
            entities: [
                Entity(
                    "Note", attributes: [Attribute("number", .int64), Attribute("text", .string)], indexes: [Index(["number"])],
                    uniqueConstraints: [UniqueConstraint(["text"])])
            ])
    }

    private func withStore(_ kind: String, _ body: (any StorageInterface, Schema) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("limits-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = kind == "lmdb:" ? kind + folder.appendingPathComponent("store").path : kind, schema = try Self.schema.get()
        let store = try StoreCatalog.standard.store(at: StoreURL(url), configuration: nil)
        _ = try store.open(OpenRequest(schema: schema))
        defer { try? store.close() }
        try body(store, schema)
    }

    private func batch(_ keys: some Sequence<Int64>, text: (Int64) -> String = { "text \($0)" }) -> RowBatch {
        let batch = RowBatch(capacity: 1024)
        for key in keys {
            let cells = batch.appendRow(key: key, version: 1, entity: 0, slots: 2)
            cells[0] = batch.cell(for: .int(key % 10))
            cells[1] = batch.cell(for: .string(text(key)))
        }
        return batch
    }

    private func load(_ keys: some Sequence<Int64>, into store: any StorageInterface) throws {
        let writer = try store.beginWrite(WriteOptions())
        defer { writer.end() }
        try writer.load(0, batch(keys))
        _ = try writer.commit(CommitRecord())
    }

    private func code(_ body: () throws -> Void) -> StorageError.Code? { #expect(throws: StorageError.self, performing: body)?.code }

    @Test(arguments: kinds) func aScanEndsWithItsLimit(_ kind: String) throws {
        try withStore(kind) { store, schema in
            try load(1...2_000, into: store)
            let number = CheckedPath(steps: [], entity: 0, leaf: .slot(0), type: .int64, text: "number")
            let none = FetchPlan(schema, 0, where: .compare(number, .equal, .int(77)))
            for plan in [FetchPlan(schema, 0), none] {
                let limit = WorkLimit(), reader = try store.beginRead(ReadOptions(limit: limit)), rows = RowBatch(capacity: 16)
                defer { reader.end() }
                let cursor = try reader.cursor(for: plan)
                _ = try cursor.next(into: rows)
                limit.cancel()
                #expect(code { while try cursor.next(into: rows) {} } == .cancelled)
                #expect(code { _ = try reader.values(for: .count(none)) } == .cancelled)
            }
        }
    }

    @Test(arguments: kinds) func aWriteEndsWithItsLimitAndLeavesNothing(_ kind: String) throws {
        try withStore(kind) { store, schema in
            let limit = WorkLimit(), writer = try store.beginWrite(WriteOptions(limit: limit))
            try writer.load(0, batch(1...500))
            limit.cancel()
            #expect(code { try writer.load(0, batch(501...1_000)) } == .cancelled)
            writer.end()
            let reader = try store.beginRead()
            defer { reader.end() }
            #expect(try reader.values(for: .count(FetchPlan(schema, 0))) == [[.int(0)]])
        }
    }

    @Test(arguments: kinds) func theGreatestKeyIsRefusedWithoutATrap(_ kind: String) throws {
        try withStore(kind) { store, _ in
            #expect(code { try load([1, .max], into: store) } == .limitExceeded)
            try load([1, .max - 1], into: store)
            let writer = try store.beginWrite(WriteOptions())
            defer { writer.end() }
            #expect(code { _ = try writer.reserveKeys(0, count: 2) } == .limitExceeded)
        }
    }

    @Test(arguments: kinds) func aRowThatViolatesAConstraintLeavesNeitherRecordNorEntry(_ kind: String) throws {
        try withStore(kind) { store, schema in
            let writer = try store.beginWrite(WriteOptions())
            defer { writer.end() }
            try writer.load(0, batch([1]) { _ in "equal" })
            let row = batch([2]) { _ in "equal" }
            let source = RowSource(count: 1) { _, target in target.append(copying: row.row(0), slots: 2) }
            #expect(
                code { try writer.apply(ChangeSet(entities: [EntityChanges(entity: 0, inserts: source)])) } == .uniqueConstraintViolated)
            #expect(code { try writer.load(0, row) } == .uniqueConstraintViolated)
            let number = CheckedPath(steps: [], entity: 0, leaf: .slot(0), type: .int64, text: "number")
            #expect(try writer.values(for: .count(FetchPlan(schema, 0))) == [[.int(1)]])
            #expect(try writer.values(for: .count(FetchPlan(schema, 0, where: .compare(number, .equal, .int(2))))) == [[.int(0)]])
        }
    }
}
