import Foundation
import Testing

@testable import PolystoreStorage

@Suite struct StoredRowsTests {
    private static let schema = Result {
        try Schema(
            version: "V1",
            entities: [
                Entity("Owner", attributes: [Attribute("age", .int64)]),
                Entity("Dog", relationships: [Relationship("owner", to: "Owner", .toOne, isOptional: true)]),
            ])
    }

    /// A session in which every row is there, that knows which batches it filled.
    private final class Reader: StorageReader {
        private struct Filled {
            weak var batch: RowBatch?
        }

        private var filled: [Filled] = []
        private(set) var calls = 0

        /// The batches that somebody still holds.
        var held: Int { filled.count { $0.batch != nil } }

        func pushdown(of plan: FetchPlan) -> Pushdown { .unsupported }

        func cursor(for plan: FetchPlan) throws(StorageError) -> any RowCursor { throw StorageError(.unsupported, "no cursors") }

        func rows(_ entity: EntityIndex, keys: [Int64], into batch: RowBatch) throws(StorageError) {
            calls += 1
            filled.append(Filled(batch: batch))
            for key in keys { batch.appendRow(key: key, version: 1, entity: entity, slots: 1)[0] = .int(key) }
        }

        func links(
            _ link: Int, side: LinkSide, keys: [Int64]?, _ body: (UnsafeBufferPointer<LinkPair>) throws(StorageError) -> Void
        ) throws(StorageError) {}

        func note(_ name: String) throws(StorageError) -> Data? { nil }

        func end() {}
    }

    @Test func rowsAreReadInBatchesAndReleased() throws {
        let schema = try Self.schema.get(), reader = Reader(), rows = StoredRows(reader, schema), batch = RowBatch(capacity: 500)
        let dog = try #require(schema.index(of: "Dog")), owner = try #require(schema.index(of: "Owner"))
        var most = 0
        for round in 0..<200 {
            batch.clear()
            let keys = (0..<500).map { Int64(round * 500 + $0 + 1) }
            for key in keys { batch.appendRow(key: key, version: 1, entity: dog, slots: 1)[0] = .int(key) }
            rows.begin(batch)
            for key in keys { #expect(rows.row(owner, key)?[0].int == key) }
            most = max(most, reader.held)
        }
        try rows.throwFailure()
        #expect(reader.calls == 200)
        #expect(most < 40)
    }
}
