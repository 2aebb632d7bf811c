import Foundation
import Polystore
import PolystoreCatalog
import RawSessions

/// A program that reads, for a test that kills it: polystore-crash --hold-reads URL COUNT begins so many reads, says `ready` and waits.
/// polystore-crash --dump URL says what is in a store, or the code of the error that it met.
struct Holding {
    let url: String

    private func withStore(_ body: (any StorageInterface, Schema) throws(StorageError) -> Void) throws(StorageError) {
        let store = try StoreCatalog.standard.store(at: StoreURL(url), configuration: nil)
        let state = try store.open(OpenRequest(schema: nil, createIfMissing: false))
        try body(store, state.schema)
        try store.close()
    }

    func hold(_ count: Int) throws {
        try withStore { store, _ throws(StorageError) in
            var readers: [any StorageReader] = []
            for _ in 0..<count { readers.append(try store.beginRead()) }
            FileHandle.standardOutput.write(Data("ready\n".utf8))
            _ = readLine()
            for reader in readers { reader.end() }
        }
    }

    func dump() {
        do throws(StorageError) {
            try withStore { store, schema throws(StorageError) in
                let reader = try store.beginRead(), batch = RowBatch()
                defer { reader.end() }
                for entity in schema.roots {
                    let cursor = try reader.cursor(for: FetchPlan(schema, entity))
                    while try cursor.next(into: batch) { for index in 0..<batch.count { say(batch.row(index), schema) } }
                }
            }
        } catch {
            print("error \(error.code)")
        }
    }

    private func say(_ row: borrowing RowView, _ schema: Schema) {
        let slots = schema[row.entity].slots
        let values = slots.indices.map { slot in Value(row[slot], as: slots[slot].type).map { "\($0)" } ?? "?" }
        print("\(row.entity) \(row.key) \(row.version) \(values.joined(separator: " "))")
    }
}
