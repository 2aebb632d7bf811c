import Foundation
import PolystoreKeyValue
import PolystoreStorage
import RawSessions
import Synchronization
import Testing

@testable import PolystoreInMemory

/// What becomes of the history of a store over ordered maps where a commit fails, and where an entry is damaged.
@Suite struct KeyValueHistoryTests {
    private let engine = FailingEngine()

    /// Another program over the same engine.
    private func open(recordsHistory: Bool = true) throws -> KeyValueStore {
        let store = KeyValueStore(engine, recordsHistory: recordsHistory)
        _ = try store.open(OpenRequest(schema: Schema(entities: [Entity("Note", attributes: [Attribute("number", .int64)])])))
        return store
    }

    private func write(_ store: KeyValueStore) throws -> HistoryToken? {
        let writer = try store.beginWrite(WriteOptions())
        defer { writer.end() }
        let key = try writer.reserveKeys(0, count: 1).lowerBound
        let row = RowSource(count: 1) { _, batch in batch.appendRow(key: key, version: 1, entity: 0, slots: 1)[0] = .int(1) }
        try writer.apply(ChangeSet(entities: [EntityChanges(entity: 0, inserts: row)]))
        return try writer.commit(CommitRecord())
    }

    private func history(_ store: KeyValueStore, since token: HistoryToken? = nil) throws -> [HistoryToken?] {
        let reader = try store.beginRead()
        defer { reader.end() }
        return try reader.history(since: token, limit: 10).map(\.token)
    }

    @Test func aCommitThatFailsDoesNotResumeTheHistory() throws {
        let before = try write(open())
        _ = try write(open(recordsHistory: false))
        let store = try open()
        engine.fails.store(true, ordering: .relaxed)
        #expect(throws: StorageError.self) { _ = try write(store) }
        engine.fails.store(false, ordering: .relaxed)
        let next = try write(store), last = try write(store), all = try history(store)
        #expect(next != nil && all == [next, last])
        let error = #expect(throws: StorageError.self) { _ = try history(store, since: before) }
        #expect(error?.code == .tokenExpired)
    }

    @Test func nothingIsAfterTheGreatestToken() throws {
        let store = try open(), token = try #require(try write(store))
        #expect(try history(store, since: HistoryToken(store: token.store, position: .max)).isEmpty)
    }

    /// Also where the program has written before, and does not look for the beginning again.
    @Test(arguments: [false, true]) func noPositionFollowsTheLast(_ hasWritten: Bool) throws {
        let store = try open()
        if hasWritten { _ = try write(store) }
        try put([1, 0, 2, 1], at: .max)
        let error = #expect(throws: StorageError.self) { _ = try write(store) }
        #expect(error?.code == .limitExceeded)
    }

    @Test(arguments: [[1, 7, 2, 1], [4, 0, 5, 2, 1], [2, 0, 0x20, 0, 2, 1], [5, 0, 2, 1, 1, 9, 0]] as [[UInt8]])
    func changesOfItemsOutsideOfTheModelAreCorrupted(_ changes: [UInt8]) throws {
        let store = try open()
        try put([1, 0, 2, 1], at: 1)
        #expect(try history(store).count == 1)
        try put(changes, at: 1)
        let error = #expect(throws: StorageError.self) { _ = try history(store) }
        #expect(error?.code == .corrupted && error?.message == "an entry of the history is damaged; restore the store from a backup")
    }

    /// Puts packed changes at a position of the history.
    private func put(_ changes: [UInt8], at position: Int64) throws {
        let map = try #require(try engine.prepare(maps: [])["polystore_history"]), writer = try engine.write(WriteOptions())
        defer { writer.end() }
        // Before them the time, and the length of the author.
        let value = [UInt8](repeating: 0, count: 12) + changes
        let key = withUnsafeBytes(of: (UInt64(bitPattern: position) ^ (1 << 63)).bigEndian) { Array($0) }
        try key.withUnsafeBytes { key in try value.withUnsafeBytes { value in try writer.put(map, key, value) } }
        try writer.commit()
    }
}

/// What becomes of a store over ordered maps that is closed and opened at the same time.
@Suite struct KeyValueOpeningTests {
    @Test func aCloseThatTakesLongDoesNotCloseWhatIsOpenedMeanwhile() throws {
        let engine = FailingEngine(), store = KeyValueStore(engine), request = OpenRequest(schema: try Schema(entities: []))
        let first = try store.open(request), isClosing = DispatchSemaphore(value: 0), isClosed = DispatchSemaphore(value: 0)
        engine.whenClosing = {
            isClosing.signal()
            Thread.sleep(forTimeInterval: 0.1)
        }
        Thread {
            store.close()
            isClosed.signal()
        }.start()
        isClosing.wait()
        let second = try store.open(request)
        isClosed.wait()
        try store.beginRead().end()
        #expect(second.storeID != first.storeID)
    }

    @Test func aSessionThatWaitsWhileTheStoreIsOpenedAgainIsRefused() throws {
        let engine = FailingEngine(), store = KeyValueStore(engine), request = OpenRequest(schema: try Schema(entities: []))
        _ = try store.open(request)
        let first = try store.beginWrite(WriteOptions()), hasEnded = DispatchSemaphore(value: 0), code = Mutex<StorageError.Code?>(nil)
        Thread {
            do throws(StorageError) { try store.beginWrite(WriteOptions()).end() } catch { code.withLock { $0 = error.code } }
            hasEnded.signal()
        }.start()
        // The second session waits for the end of the first one, which ends before the maps are open again.
        Thread.sleep(forTimeInterval: 0.1)
        store.close()
        engine.whenOpened = {
            first.end()
            hasEnded.wait()
        }
        _ = try store.open(request)
        #expect(code.withLock { $0 } == .storeClosed)
    }
}

/// An engine whose commits fail for as long as it is told so.
private final class FailingEngine: OrderedStore {
    private let engine = MemoryEngine()
    let fails = Atomic(false)
    /// Is called when the engine is open and has no maps yet.
    nonisolated(unsafe) var whenOpened: () -> Void = {}
    /// Is called before the engine is closed.
    nonisolated(unsafe) var whenClosing: () -> Void = {}

    var maximumKeyBytes: Int { engine.maximumKeyBytes }
    var maximumValueBytes: Int { engine.maximumValueBytes }
    var checksRecords: Bool { engine.checksRecords }

    func open(_ request: OrderedOpen) throws(StorageError) -> Bool {
        defer { whenOpened() }
        return try engine.open(request)
    }
    func prepare(maps: [String]) throws(StorageError) -> [String: Int] { try engine.prepare(maps: maps) }
    func reopen(mapCount: Int) throws(StorageError) { try engine.reopen(mapCount: mapCount) }
    func remove(maps: [String]) throws(StorageError) { try engine.remove(maps: maps) }
    func read(_ options: ReadOptions) throws(StorageError) -> any OrderedReader { try engine.read(options) }
    func write(_ options: WriteOptions) throws(StorageError) -> any OrderedWriter { FailingWriter(try engine.write(options), self) }
    func close() {
        whenClosing()
        engine.close()
    }
}

private final class FailingWriter: OrderedWriter {
    private let writer: any OrderedWriter
    private let engine: FailingEngine

    init(_ writer: any OrderedWriter, _ engine: FailingEngine) {
        self.writer = writer
        self.engine = engine
    }

    var commitNumber: Int64? { writer.commitNumber }

    func commit() throws(StorageError) {
        if engine.fails.load(ordering: .relaxed) { throw StorageError(.busy, "the engine fails") }
        try writer.commit()
    }

    func get(_ map: Int, _ key: UnsafeRawBufferPointer) throws(StorageError) -> UnsafeRawBufferPointer? { try writer.get(map, key) }
    func cursor(_ map: Int) throws(StorageError) -> any OrderedCursor { try writer.cursor(map) }
    func count(_ map: Int) throws(StorageError) -> Int { try writer.count(map) }
    func end() { writer.end() }
    func put(_ map: Int, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(StorageError) {
        try writer.put(map, key, value)
    }
    func append(_ map: Int, _ key: UnsafeRawBufferPointer, _ count: Int) throws(StorageError) -> UnsafeMutableRawPointer {
        try writer.append(map, key, count)
    }
    func reserve(_ map: Int, _ key: UnsafeRawBufferPointer, _ count: Int) throws(StorageError) -> UnsafeMutableRawPointer {
        try writer.reserve(map, key, count)
    }
    func lastKey(_ map: Int) throws(StorageError) -> Int64? { try writer.lastKey(map) }
    func delete(_ map: Int, _ key: UnsafeRawBufferPointer) throws(StorageError) -> Bool { try writer.delete(map, key) }
    func clear(_ map: Int) throws(StorageError) { try writer.clear(map) }
    func savepoint() throws(StorageError) { try writer.savepoint() }
    func undoSavepoint() throws(StorageError) { try writer.undoSavepoint() }
    func keepSavepoint() throws(StorageError) { try writer.keepSavepoint() }
}
