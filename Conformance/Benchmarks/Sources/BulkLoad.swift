import Foundation
import Polystore

/// A bulk load of encoded rows directly into a store, as a transfer performs it.
struct BulkLoad {
    private let batches: [RowBatch]

    init(_ values: [PersonValues]) throws {
        var batches: [RowBatch] = []
        for start in stride(from: 0, to: values.count, by: 2000) {
            let batch = RowBatch(capacity: 2000)
            for value in values[start..<min(start + 2000, values.count)] {
                let cells = batch.appendRow(key: value.key, version: 1, entity: 0, slots: 8)
                cells[0] = .int(value.number)
                cells[1] = value.name._encode(batch)
                cells[2] = value.email._encode(batch)
                cells[3] = .int(value.age)
                cells[4] = .real(value.score)
                cells[5] = .int(value.active ? 1 : 0)
                cells[6] = value.created._encode(batch)
                cells[7] = value.note._encode(batch)
            }
            batches.append(batch)
        }
        self.batches = batches
    }

    func run(_ store: OpenStore) throws {
        let writer = try store.beginWrite(WriteOptions(bulk: .whole))
        defer { writer.end() }
        guard let entity = store.schema.index(of: "Person") else { throw BenchmarkError.wrongAnswer }
        for batch in batches { try writer.load(entity, batch) }
        _ = try writer.commit(CommitRecord())
    }
}
