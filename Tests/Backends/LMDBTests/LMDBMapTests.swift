import Foundation
import PolystoreStorage
import RawSessions
import Testing

@testable import PolystoreLMDB

/// The map of a file begins smaller than its limit where the address space is short, and grows.
@Suite struct LMDBMapTests {
    private static let schema = Result { try Schema(entities: [Entity("Blob", attributes: [Attribute("bytes", .data)])]) }
    private let path = FileManager.default.temporaryDirectory.appendingPathComponent("polystore_\(UUID().uuidString).lmdb").path

    private func open(first: Int, limit: Int) throws -> LMDBStore {
        let store = LMDBStore(
            path: path, mapSize: limit, firstMap: first, durability: .relaxed, readOnly: false, usesFolder: false)
        _ = try store.open(OpenRequest(schema: try Self.schema.get()))
        return store
    }

    /// Writes a megabyte in a transaction of its own.
    private func write(_ key: Int64, to store: LMDBStore) throws {
        let writer = try store.beginWrite(WriteOptions())
        defer { writer.end() }
        let batch = RowBatch()
        batch.appendRow(key: key, version: 1, entity: 0, slots: 1)[0] = batch.cell(for: .data(Data(repeating: UInt8(key), count: 1 << 20)))
        try writer.load(0, batch)
        _ = try writer.commit(CommitRecord())
    }

    private func count(_ store: LMDBStore) throws -> Int {
        let reader = try store.beginRead()
        defer { reader.end() }
        let batch = RowBatch(capacity: 100)
        try reader.rows(0, keys: Array(1...30), into: batch)
        return batch.count
    }

    @Test func itGrowsBetweenTransactions() throws {
        let store = try open(first: 1 << 20, limit: 1 << 30)
        defer { try? store.erase() }
        var retries = 0
        for key in 1...20 {
            for attempt in 1...8 {
                do {
                    try write(Int64(key), to: store)
                    break
                } catch let error as StorageError where error.code == .serializationFailure && attempt < 8 {
                    retries += 1
                }
            }
        }
        #expect(try count(store) == 20)
        // One to 32 megabytes: five doublings.
        #expect(retries >= 4 && retries <= 6)
    }

    @Test func itWaitsForOpenReads() throws {
        let store = try open(first: 1 << 20, limit: 1 << 30)
        defer { try? store.erase() }
        let reader = try store.beginRead()
        for _ in 0..<2 {
            let error = #expect(throws: StorageError.self) { for key in 1...3 { try write(Int64(key), to: store) } }
            #expect(error?.code == .serializationFailure)
        }
        reader.end()
        try write(9, to: store)
        #expect(try count(store) == 1)
    }

    @Test func theLimitIsADiskThatIsFull() throws {
        let store = try open(first: 1 << 20, limit: 4 << 20)
        defer { try? store.erase() }
        var written = 0, last: StorageError?
        for key in 1...8 where last?.code != .diskFull {
            for _ in 1...4 {
                do {
                    try write(Int64(key), to: store)
                    written += 1
                    break
                } catch let error as StorageError {
                    last = error
                }
            }
        }
        #expect(last?.code == .diskFull)
        #expect(try count(store) == written)
    }

    @Test func anotherInstanceThatWasNeverOpenedDoesNotFreeThePath() throws {
        let store = try open(first: 1 << 20, limit: 1 << 30)
        defer { try? store.erase() }
        try LMDBStore(path: path).close()
        let error = #expect(throws: StorageError.self) { _ = try open(first: 1 << 20, limit: 1 << 30) }
        #expect(error?.code == .alreadyExists)
    }
}
