import Foundation
import PolystoreStorage
import PolystoreTransfer
import Synchronization
import TestStores
import Testing

/// Transfers by several threads.
@Suite struct ParallelTransferTests {
    /// The source of all tests, which read it only.
    private static let source = Result { try makeSource() }

    private let source: OpenStore
    private var schema: Schema { source.schema }

    private static let notes = 30_000, tags = 500, links = 4000

    init() throws { source = try Self.source.get() }

    /// Returns notes with indexes and a unique constraint, tags, and pairs of an ordered relationship.
    private static func makeSource() throws -> OpenStore {
        let schema = try Schema(entities: [
            Entity(
                "Note", attributes: [Attribute("text", .string), Attribute("rank", .int64)],
                relationships: [Relationship("tags", to: "Tag", .toManyOrdered)], indexes: [Index(["rank"])],
                uniqueConstraints: [UniqueConstraint(["text"])]),
            Entity("Tag", attributes: [Attribute("name", .string)]), Entity("Empty", attributes: [Attribute("name", .string)]),
        ])
        let source = try OpenStore(opening: TestStore.memory.make(), OpenRequest(schema: schema))
        let writer = try source.beginWrite()
        defer { writer.end() }
        // Texts that are long enough for many batches.
        let rest = String(repeating: " text", count: 20)
        try load(notes, "Note", 2, writer) { key, batch, cells in
            cells[0] = batch.cell(for: .string("note \(key)\(rest)"))
            cells[1] = batch.cell(for: .int(Int64(key % 7)))
        }
        try load(tags, "Tag", 1, writer) { key, batch, cells in cells[0] = batch.cell(for: .string("tag \(key)")) }
        let pairs = (0..<links).map { LinkPair(owner: Int64($0 / 4 + 1), rank: Int64($0), member: Int64($0 % tags + 1)) }
        try writer.load(link: 0, pairs)
        _ = try writer.commit(CommitRecord())
        return source
    }

    private static func load(
        _ count: Int, _ entity: String, _ slots: Int, _ writer: WriteSession,
        _ fill: (Int, RowBatch, UnsafeMutablePointer<Cell>) -> Void
    ) throws {
        let root = try #require(writer.schema.index(of: entity)), batch = RowBatch(capacity: count)
        for key in 1...count {
            let values = UnsafeMutablePointer<Cell>.allocate(capacity: slots)
            defer { values.deallocate() }
            fill(key, batch, values)
            let cells = batch.appendRow(key: Int64(key), version: 3, entity: root, slots: slots)
            cells.update(from: values, count: slots)
        }
        try writer.load(root, batch)
    }

    private func options(_ workers: Int, _ change: (inout TransferOptions) -> Void = { _ in }) -> TransferOptions {
        var options = TransferOptions()
        options.source = "memory:notes"
        options.step = .zero
        // Small batches, so that threads take turns.
        options.pace.memoryBytes = 1 << 20
        options.workers = workers
        change(&options)
        return options
    }

    /// Makes a transfer slow, with batches of a thousand rows.
    private static func slow(_ options: inout TransferOptions) { options.pace.rowsPerSecond = 10_000 }

    private func open(_ store: any StorageInterface, acceptsIncompleteCopy: Bool = true) throws -> OpenStore {
        var request = OpenRequest(schema: schema)
        request.acceptsIncompleteCopy = acceptsIncompleteCopy
        return try OpenStore(opening: store, request)
    }

    private func expectComplete(_ target: OpenStore) throws {
        #expect(try TransferEngine().verify(source, target).allSatisfy(\.isSame))
        var findings: [CheckFinding] = []
        try TransferEngine().check(target) { findings.append($0) }
        #expect(findings.isEmpty, "\(findings)")
    }

    private func rows(_ store: OpenStore) throws -> Int {
        let reader = try store.beginRead()
        defer { reader.end() }
        let contents = Contents(reader)
        return try schema.roots.reduce(0) { try $0 + contents.count($1) }
    }

    @Test(arguments: TestStore.all, [1, 2, 3, 5, 9]) func anyNumberOfThreadsCopiesTheSame(_ kind: TestStore, _ workers: Int) throws {
        let target = try open(kind.make())
        var last = TransferProgress?.none
        let report = try TransferEngine().transfer(from: source, to: target, options(workers)) { last = $0 }
        #expect(report.isVerified && report.continued == 0)
        #expect(report.items.map(\.digest.count) == [0, Self.notes, Self.tags, Self.links])
        #expect(last?.allDone == Self.notes + Self.tags && last?.allTotal == Self.notes + Self.tags)
        try expectComplete(target)
        #expect(try TransferEngine().transfer(from: source, to: target, options(workers)).wasComplete)
        // The unique constraint holds, whose index was made last.
        let writer = try target.beginWrite(), batch = RowBatch(capacity: 1), root = try #require(schema.index(of: "Note"))
        let text = batch.cell(for: .string("note 1" + String(repeating: " text", count: 20))), rank = batch.cell(for: .int(1))
        let cells = batch.appendRow(key: Int64(Self.notes + 1), version: 1, entity: root, slots: 2)
        cells[0] = text
        cells[1] = rank
        let error = #expect(throws: StorageError.self) {
            try writer.load(root, batch)
            _ = try writer.commit(CommitRecord())
        }
        #expect(error?.code == .uniqueConstraintViolated)
        writer.end()
        try target.erase()
    }

    @Test(arguments: TestStore.all) func anInterruptedTransferContinuesWithAnyNumberOfThreads(_ kind: TestStore) throws {
        let target = try open(kind.make())
        var last = 0
        for workers in [5, 1, 3, 5, 2] {
            let limit = WorkLimit()
            let error = #expect(throws: StorageError.self) {
                try TransferEngine(limit: limit).transfer(from: source, to: target, options(workers, Self.slow)) {
                    if $0.allDone > last + 500 { limit.cancel() }
                }
            }
            #expect(error?.code == .cancelled)
            let copied = try rows(target)
            #expect(copied >= last && copied < Self.notes + Self.tags)
            last = copied
        }
        #expect(last > 0)
        let report = try TransferEngine().transfer(from: source, to: target, options(5))
        #expect(report.continued == last && report.isVerified)
        try expectComplete(target)
        try target.erase()
    }

    @Test(arguments: TestStore.all) func anErrorOfOneThreadEndsAllAndTheTargetIsNotComplete(_ kind: TestStore) throws {
        for isCommit in [false, true] {
            let base = kind.make(), target = try open(FailingStore(base, after: 6, isCommit: isCommit))
            let error = #expect(throws: StorageError.self) {
                try TransferEngine().transfer(from: source, to: target, options(5, Self.slow))
            }
            #expect(error?.code == .inputOutput && error?.message == "a failure")
            let copied = try rows(target)
            #expect(copied < Self.notes)
            // What the other threads have committed remains, and another run completes the copy.
            let report = try TransferEngine().transfer(from: source, to: target, options(5))
            #expect(report.continued == copied && report.isVerified)
            try expectComplete(target)
            try target.erase()
        }
    }

    @Test(.enabled(if: TestStore.server != nil)) func severalThreadsWriteToPostgreSQLAtTheSameTimeAndOneToOthers() throws {
        for (kind, workers, most) in [(TestStore.postgresql, 5, 4), (.postgresql, 2, 1), (.sqlite, 5, 1), (.lmdb, 5, 1)] {
            let store = FailingStore(kind.make(), awaiting: most > 1 ? 2 : 1), target = try open(store)
            let options = options(workers) {
                // Without a limit of memory, at which the threads commit together.
                ($0.step, $0.pace.memoryBytes) = (.seconds(60), nil)
            }
            _ = try TransferEngine().transfer(from: source, to: target, options)
            #expect(store.most <= most && (store.loading > 1) == (most > 1), "\(kind): \(store.most), \(store.loading)")
            try target.erase()
        }
    }

    @Test(arguments: TestStore.all) func anotherTransferIsNoticed(_ kind: TestStore) throws {
        let target = try open(kind.make())
        // Another transfer has taken over the target in the middle.
        var isTaken = false
        let error = #expect(throws: StorageError.self) {
            try TransferEngine().transfer(from: source, to: target, options(5, Self.slow)) { progress in
                if isTaken || progress.allDone < 2000 { return }
                isTaken = true
                while true {
                    guard let writer = try? target.beginWrite(WriteOptions(timeout: 5)) else { continue }
                    defer { writer.end() }
                    guard let note = try? writer.note("copy.incomplete") else { continue }
                    try? writer.setNote("copy.incomplete", note + Data(" ".utf8))
                    do { _ = try writer.commit(CommitRecord()) } catch { continue }
                    return
                }
            }
        }
        #expect(error?.code == .busy, "\(String(describing: error))")
        let copied = try rows(target)
        #expect(copied < Self.notes)
        let report = try TransferEngine().transfer(from: source, to: target, options(5))
        #expect(report.continued == copied)
        try expectComplete(target)
        try target.erase()
    }

    @Test(arguments: TestStore.all) func aRateHoldsForAllThreads(_ kind: TestStore) throws {
        let target = try open(kind.make()), start = ContinuousClock.now
        _ = try TransferEngine().transfer(from: source, to: target, options(5) { $0.pace.rowsPerSecond = 60_000 })
        #expect(start.duration(to: .now) > .milliseconds(400))
        try expectComplete(target)
        try target.erase()
    }

    @Test(arguments: TestStore.all) func aPausedTransferHasCommittedWhatItHasRead(_ kind: TestStore) throws {
        let target = try open(kind.make()), pauses = Mutex(0), isPaused = Mutex(false)
        var options = options(5) { $0.step = .seconds(60) }
        options.pace.isPaused = { isPaused.withLock { $0 } }
        var done = 0
        _ = try TransferEngine().transfer(from: source, to: target, options) { progress in
            done = max(done, progress.allDone)
            if !progress.isPaused, pauses.withLock({ $0 }) == 0, progress.allDone > 5000 { isPaused.withLock { $0 = true } }
            if !progress.isPaused { return }
            pauses.withLock { $0 += 1 }
            let copied = (try? rows(target)) ?? 0
            #expect(copied >= done)
            let writer = try? target.beginWrite(WriteOptions(timeout: 1))
            #expect(writer != nil)
            writer?.end()
            isPaused.withLock { $0 = false }
        }
        #expect(pauses.withLock { $0 } == 1)
        try expectComplete(target)
        try target.erase()
    }

    @Test func aTransferThatLeavesRowsOutHasOneThread() throws {
        let store = FailingStore(TestStore.sqlite.make()), target = try open(store)
        var options = options(5)
        options.onError = .skip()
        let report = try TransferEngine().transfer(from: source, to: target, options)
        #expect(report.rejected.isEmpty && store.threads == 1)
        try target.erase()
    }

    @Test func noThreadsAreRefused() throws {
        let target = try open(TestStore.memory.make())
        let error = #expect(throws: StorageError.self) { try TransferEngine().transfer(from: source, to: target, options(0)) }
        #expect(error?.code == .invalidConfiguration)
    }
}

/// A store that counts its write transactions, and one of whose loads or commits fails.
private final class FailingStore: ForwardingStore {
    static let storeType = "failing"
    let base: any StorageInterface
    private let isCommit: Bool
    private let awaited: Int

    private struct State {
        var left: Int?
        var open = 0
        var most = 0
        var loading = 0
        var threads: Set<ObjectIdentifier> = []
    }

    private let state: Mutex<State>

    /// - Parameters:
    ///   - count: The number of loads or commits that succeed before the one that fails; nil if none fails.
    ///   - isCommit: Whether a commit fails.
    ///   - awaited: The number of transactions of one load that must have rows before any of them loads these: on a busy machine, one
    ///     thread can be done before the next one has a connection.
    init(_ base: any StorageInterface, after count: Int? = nil, isCommit: Bool = false, awaiting awaited: Int = 1) {
        self.base = base
        self.isCommit = isCommit
        self.awaited = awaited
        state = Mutex(State(left: count))
    }

    /// The largest number of write transactions that were open at once.
    var most: Int { state.withLock { $0.most } }
    /// The number of transactions that had rows of a load that they share.
    var loading: Int { state.withLock { $0.loading } }
    /// The number of threads that began them.
    var threads: Int { state.withLock { $0.threads.count } }

    func beginWrite(_ options: WriteOptions) throws(StorageError) -> any StorageWriter {
        let writer = Writer(try base.beginWrite(options), self, isAwaiting: options.sharesLoad), thread = ObjectIdentifier(Thread.current)
        state.withLock { state in
            state.open += 1
            state.most = max(state.most, state.open)
            state.threads.insert(thread)
        }
        return writer
    }

    private func happen(_ isCommit: Bool) throws(StorageError) {
        let fails = state.withLock { state in
            guard isCommit == self.isCommit, let left = state.left else { return false }
            state.left = left == 0 ? nil : left - 1
            return left == 0
        }
        if fails { throw StorageError(.inputOutput, "a failure") }
    }

    /// Waits until other transactions have rows, for at most a minute.
    private func awaitOthers() {
        state.withLock { $0.loading += 1 }
        for _ in 0..<6000 where loading < awaited { Thread.sleep(forTimeInterval: 0.01) }
    }

    private func ended() { state.withLock { $0.open -= 1 } }

    private final class Writer: ForwardingWriter {
        let writer: any StorageWriter
        private let store: FailingStore
        /// Whether the next rows are the first ones of a load that the transaction shares.
        private var isAwaiting: Bool
        private var isOpen = true

        init(_ writer: any StorageWriter, _ store: FailingStore, isAwaiting: Bool) {
            self.writer = writer
            self.store = store
            self.isAwaiting = isAwaiting
        }

        deinit { end() }

        func load(_ root: EntityIndex, _ batch: RowBatch) throws(StorageError) {
            try store.happen(false)
            if isAwaiting { store.awaitOthers() }
            isAwaiting = false
            try writer.load(root, batch)
        }

        func commit(_ record: CommitRecord) throws(StorageError) -> HistoryToken? {
            defer { end() }
            try store.happen(true)
            return try writer.commit(record)
        }

        func end() {
            writer.end()
            if isOpen { store.ended() }
            isOpen = false
        }
    }
}
