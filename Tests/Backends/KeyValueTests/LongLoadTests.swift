import Foundation
import PolystoreCatalog
import PolystoreStorage
import RawSessions
import Testing

/// Loads whose index entries are more than what is sorted at once.
@Suite struct LongLoadTests {
    private static let count = 80_000

    /// Texts of 440 bytes in no order, by their keys: their entries take more than 36 MB.
    private static let texts: [String] = {
        let end = String(repeating: "x", count: 425)
        return (0...count).map { key in String(1_000_000_000_000_000 + (UInt64(key) &* 0x9E37_79B9_7F4A_7C15) >> 16) + end }
    }()

    private func load(_ place: String, repeating repeated: Int?, _ body: (any StorageInterface, Schema) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("loads-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let schema = try Schema(
            entities: [Entity("Note", attributes: [Attribute("text", .string)], uniqueConstraints: [UniqueConstraint(["text"])])])
        let url = place == "lmdb:" ? place + folder.appendingPathComponent("store").path : place
        let store = try StoreCatalog.standard.store(at: StoreURL(url), configuration: nil)
        _ = try store.open(OpenRequest(schema: schema))
        defer { try? store.close() }
        let writer = try store.beginWrite(WriteOptions(timeout: 10)), batch = RowBatch(capacity: 500)
        defer { writer.end() }
        for first in stride(from: 1, to: Self.count, by: 500) {
            batch.clear()
            for key in first..<(first + 500) {
                let isRepeated = repeated != nil && key == Self.count
                let cell = batch.cell(for: .string(Self.texts[isRepeated ? repeated ?? 0 : key]))
                batch.appendRow(key: Int64(key), version: 1, entity: 0, slots: 1)[0] = cell
            }
            try writer.load(0, batch)
        }
        _ = try writer.commit(CommitRecord())
        try body(store, schema)
    }

    @Test(arguments: ["memory:", "lmdb:"]) func allAreFoundInOrder(_ place: String) throws {
        try load(place, repeating: nil) { store, schema in
            let reader = try store.beginRead()
            defer { reader.end() }
            let request = ObjectRequest("Note", orderBy: [OrderTerm("text")])
            let cursor = try reader.cursor(for: request.plan(in: schema)), batch = RowBatch(capacity: 1000)
            var keys: [Int64] = []
            while try cursor.next(into: batch) { keys += (0..<batch.count).map(batch.key) }
            #expect(keys == (1...Self.count).sorted { Self.texts[$0].utf8.lexicographicallyPrecedes(Self.texts[$1].utf8) }.map(Int64.init))
            for key in [1, 40_000, Self.count] {
                let plan = try ObjectRequest("Note", where: .compare(.path("text"), .equal, .value(.string(Self.texts[key])))).plan(
                    in: schema)
                let found = try reader.cursor(for: plan)
                #expect(try found.next(into: batch) && batch.count == 1 && batch.key(0) == Int64(key))
            }
        }
    }

    @Test(arguments: ["memory:", "lmdb:"]) func anEqualValueOfAnEarlierRunIsFound(_ place: String) throws {
        let error = #expect(throws: StorageError.self) { try load(place, repeating: 1) { _, _ in } }
        #expect(error?.code == .uniqueConstraintViolated && error?.details.keys == [1, Int64(Self.count)])
    }
}
