import Foundation
import Polystore
import PolystoreCatalog

/// The cost of the history: the same changes of a store that records them and of one that does not (`history=off`), in turns. Neither store
/// waits for the disk, so that the measurement shows the work itself.
struct HistoryBenchmark {
    let store: String
    let place: Places
    let count: Int
    let rounds: Int
    let report: (Measurement) -> Void

    /// The number of commits, each with one row.
    private static let commits = 2_000

    func run() throws {
        let on = try opened(isRecording: true), off = try opened(isRecording: false)
        defer { for side in [on, off] { try? side.close() } }
        for side in [on, off] { try fill(side) }
        let keys = Array(1...Int64(count))
        try compare("update-many", count, on, off) { side in try update(side, keys) }
        // Every second row, so that no range contains more than one key.
        let scattered = keys.filter { $0 % 2 == 0 }
        try compare("update-scattered", scattered.count, on, off) { side in try update(side, scattered) }
        try compare("commit-one", Self.commits, on, off) { side in
            for key in 1...Int64(Self.commits) { try update(side, [key]) }
        }
    }

    private func opened(isRecording: Bool) throws -> OpenStore {
        let server = store == "postgresql", prefix = server ? "x-" : ""
        let url = try place.url(store), history = "\(prefix)history=\(isRecording ? "on" : "off")"
        let durability = store == "memory" ? "" : "&\(prefix)durability=relaxed"
        return try OpenStore(
            catalogued: "\(url)\(url.contains("?") ? "&" : "?")\(history)\(durability)",
            OpenRequest(schema: try Schema(json: BenchmarkModel.json)))
    }

    private func fill(_ side: OpenStore) throws { try BulkLoad(PersonValues.rows(count)).run(side) }

    private func compare(
        _ workload: String, _ count: Int, _ on: OpenStore, _ off: OpenStore,
        _ body: (OpenStore) throws -> Void
    ) throws {
        for side in [on, off] { try body(side) }
        var measurement = Measurement("history-\(workload)", store: store, against: "off", count: count)
        try measurement.run(rounds: rounds, ours: { try nanoseconds { try body(on) } }, theirs: { try nanoseconds { try body(off) } })
        report(measurement)
    }

    /// Sets one attribute of rows in one transaction.
    private func update(_ side: OpenStore, _ keys: [Int64]) throws {
        let schema = try Self.schema.get()
        guard let entity = schema.index(of: "Person"), let slot = schema[entity].slot("age") else { throw BenchmarkError.wrongAnswer }
        var mask = SlotMask()
        mask.insert(slot)
        let width = schema[entity].slots.count
        let rows = RowSource(count: keys.count) { range, batch in
            for index in range {
                let cells = batch.appendRow(key: keys[index], version: 0, entity: entity, slots: width)
                cells.initialize(repeating: .null, count: width)
                cells[slot] = .int(Int64(index % 90))
            }
        }
        let writer = try side.beginWrite(WriteOptions())
        defer { writer.end() }
        let update = RowUpdate(mask: mask, checksVersion: false, rows: rows)
        try writer.apply(ChangeSet(entities: [EntityChanges(entity: entity, updates: [update])]))
        _ = try writer.commit(CommitRecord(author: "benchmark"))
    }

    private static let schema = Result { try Schema(json: BenchmarkModel.json) }
}
