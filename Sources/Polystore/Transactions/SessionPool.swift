internal import Foundation
internal import PolystoreStorage

/// The sessions that a transaction or a read has open, one for each store, opened when a store is first touched.
final class SessionPool {
    /// Why a transaction that has done nothing wrong starts again.
    enum Restart {
        /// An earlier store was touched after a later one: all are opened in the fixed order then, so that two transactions can never
        /// wait for each other.
        case opening(Set<Int>)
        /// Stores commit together for the first time: the second of each pair notes the first before anything is written.
        case pairing([(store: Int, peer: UUID)])
    }

    /// Set when the closure is to run again.
    private(set) var restart: Restart?

    private let stack: StackCore
    private let options: WriteOptions?
    private let isMeasured: Bool
    private var readers: [Int: any StorageReader] = [:]
    private var writers: [Int: any StorageWriter] = [:]
    /// The stores that changes were applied to, with what the others have to keep of them until they have committed.
    private var redo: [Int: Redo.Recorder?] = [:]
    /// The stores in which statements of the program changed rows that nobody wrote down.
    private var executed: Set<Int> = []
    private var isOpen = true
    /// The marks of the savepoints that are set, innermost last.
    private var savepoints: [Savepoint] = []
    /// The session that was asked for last: nearly always it is the next one too.
    @exclusivity(unchecked) private var last: (store: Int, reader: any StorageReader)?

    private struct Savepoint {
        var marks: [Int: Int] = [:]
        let redo: [Int: Redo.Recorder?]
        let executed: Set<Int>
    }

    /// Sessions that read.
    init(readingFrom stack: StackCore, isMeasured: Bool = false) {
        self.stack = stack
        self.isMeasured = isMeasured
        options = nil
    }

    /// Sessions that write; the stores in `stores` are opened at once, in order.
    init(writingTo stack: StackCore, _ options: WriteOptions, stores: Set<Int>) throws(StorageError) {
        self.stack = stack
        self.options = options
        isMeasured = false
        for store in stores.sorted() { _ = try writer(store) }
    }

    /// The session of a store: the writer's in a write transaction.
    @inline(__always)
    func reader(_ store: Int) throws(StorageError) -> any StorageReader {
        if let last, last.store == store { return last.reader }
        return try findReader(store)
    }

    private func findReader(_ store: Int) throws(StorageError) -> any StorageReader {
        guard isOpen else { throw Self.ended }
        let reader: any StorageReader
        if options != nil {
            reader = try writer(store)
        } else if let known = readers[store] {
            reader = known
        } else {
            let begun = try stack.store(store).beginRead()
            reader = isMeasured ? MeasuredReader(begun, stack.model.schema) : begun
            readers[store] = reader
        }
        last = (store, reader)
        return reader
    }

    /// What was asked of each store, where that is measured.
    var work: [Int: Explanation.Work] { readers.compactMapValues { ($0 as? MeasuredReader)?.work } }

    /// The write session of a store.
    func writer(_ store: Int) throws(StorageError) -> any StorageWriter {
        guard isOpen, let options else { throw Self.ended }
        if let writer = writers[store] { return writer }
        if let last = writers.keys.max(), last > store {
            restart = .opening(Set(writers.keys).union([store]))
            throw StorageError(.serializationFailure, "an earlier store was touched late; the transaction starts again")
        }
        let writer = try stack.beginWrite(store, options)
        writers[store] = writer
        for level in savepoints.indices { savepoints[level].marks[store] = try writer.savepoint() }
        return writer
    }

    /// Marks this moment in every store; marks nest.
    func savepoint() throws(StorageError) {
        var savepoint = Savepoint(redo: redo, executed: executed)
        for (store, writer) in writers { savepoint.marks[store] = try writer.savepoint() }
        savepoints.append(savepoint)
    }

    /// Undoes everything since the innermost mark, and forgets it.
    func rollbackToSavepoint() throws(StorageError) {
        guard let savepoint = savepoints.popLast() else { return }
        redo = savepoint.redo
        executed = savepoint.executed
        for (store, mark) in savepoint.marks {
            try writers[store]?.rollback(to: mark)
            try writers[store]?.release(mark)
        }
    }

    /// Keeps everything since the innermost mark, and forgets it.
    func releaseSavepoint() throws(StorageError) {
        guard let savepoint = savepoints.popLast() else { return }
        for (store, mark) in savepoint.marks { try writers[store]?.release(mark) }
    }

    /// Brings changes to a store.
    func apply(_ changes: ChangeSet, to store: Int) throws(StorageError) {
        let writer = try changingWriter(store)
        try redo[store]??.add(changes)
        try writer.apply(changes)
    }

    /// Brings an upsert to a store.
    func upsert(_ upsert: RowUpsert, to store: Int) throws(StorageError) -> [UpsertedRow] {
        let result = try changingWriter(store).upsert(upsert)
        // What the store decided is what a store that follows has to do.
        if redo[store] ?? nil != nil { try redo[store]??.add(try upsert.changes(result, stack.model.schema)) }
        return result
    }

    /// Changes rows of a store in its engine; nil where rows have to be read and written, also where another store has to follow.
    func updateAll(_ update: BatchUpdate, in store: Int) throws(StorageError) -> [EntityIndex: [Int64]]? {
        let writer = try changingWriter(store)
        return redo[store] ?? nil == nil ? try writer.updateAll(update) : nil
    }

    /// Deletes rows of a store in its engine; nil as in `updateAll`.
    func deleteAll(_ plan: FetchPlan, in store: Int) throws(StorageError) -> [EntityIndex: [Int64]]? {
        let writer = try changingWriter(store)
        return redo[store] ?? nil == nil ? try writer.deleteAll(plan) : nil
    }

    /// Runs a statement of the program in a store.
    func execute(_ sql: RawSQL, in store: Int) throws(StorageError) -> Int {
        let count = try changingWriter(store).execute(sql)
        executed.insert(store)
        return count
    }

    /// Keeps bytes beside the data of a store.
    func setNotes(in store: Int, _ body: (any StorageWriter) throws(StorageError) -> Void) throws(StorageError) {
        try body(try changingWriter(store))
    }

    /// The write session of a store that is about to be changed.
    private func changingWriter(_ store: Int) throws(StorageError) -> any StorageWriter {
        // The first to commit keeps the changes of the others, so those of a store that is always first need not be written down.
        if redo[store] == nil { redo[store] = stack.canFollow(store) ? Redo.Recorder(stack.model.schema) : .some(nil) }
        return try writer(store)
    }

    /// Commits the write sessions: all or, after a crash, all as soon as somebody writes to one of them again. Whoever observes the stack is
    /// told.
    ///
    /// - Parameters:
    ///   - record: Who commits.
    ///   - source: What the program knows the transaction by.
    func commit(_ record: CommitRecord, source: (any Hashable & Sendable)? = nil) throws(StorageError) {
        guard isOpen else { throw Self.ended }
        isOpen = false
        defer { endAll() }
        let order = try commitOrder()
        if order.isEmpty { return }
        let followers = order.dropFirst().filter { stack.isPersistent($0) }
        if let first = order.first, !followers.isEmpty { try keepRedo(of: Array(followers), with: first, record) }
        let ticket = stack.commits.begin(order)
        var parts: [CommittedChanges.Part] = []
        defer { stack.didCommit(ticket, parts.isEmpty ? nil : CommittedChanges(parts, author: record.author, source: source)) }
        var late: [Int] = []
        for (index, store) in order.enumerated() {
            do throws(StorageError) {
                guard let writer = writers[store] else { continue }
                let isKnown = ticket.isObserved && !executed.contains(store)
                let changes = isKnown ? writer.recordedChanges : nil
                let token = try writer.commit(record)
                if changes?.isEmpty != true { parts.append(CommittedChanges.Part(store: store, token: token, changes: changes)) }
            } catch {
                if error.code == .commitOutcomeUnknown {
                    stack.commitIsInDoubt(in: store)
                    // Where there is no history nobody would tell.
                    if try !stack.store(store).capabilities.contains(.history) {
                        parts.append(CommittedChanges.Part(store: store, token: nil, changes: nil))
                    }
                }
                // The first decides. What it keeps for the others makes them follow.
                if index == 0 { throw error }
                late.append(store)
            }
        }
        endAll()
        for store in late {
            try follow(store)
            parts.append(CommittedChanges.Part(store: store, token: nil, changes: nil))
        }
    }

    /// The stores with changes in the order in which they commit.
    private func commitOrder() throws(StorageError) -> [Int] {
        let order = redo.keys.sorted { (stack.commitRank($0), $0) < (stack.commitRank($1), $1) }
        if order.count > 1, stack.commitRank(order[1]) == 0 {
            throw StorageError(
                .unsupported,
                "one transaction wrote to two stores whose commit can still be refused, such as two PostgreSQL databases; write to them in "
                    + "a transaction each")
        }
        return order
    }

    private func keepRedo(of followers: [Int], with first: Int, _ record: CommitRecord) throws(StorageError) {
        guard let leader = writers[first] else { return }
        if !executed.isDisjoint(with: followers) {
            throw StorageError(
                .unsupported,
                "SQL changed a store whose part of the transaction another store would have to keep; run it in a transaction of its own")
        }
        let leaderID = stack.storeID(first)
        var strangers: [(Int, UUID)] = []
        for store in followers {
            guard let writer = writers[store], let recorder = redo[store] ?? nil else { continue }
            let peers = Peers(writer)
            if !(try peers.known().contains(leaderID)) {
                strangers.append((store, leaderID))
                continue
            }
            let number = try peers.number(of: leaderID) + 1
            try Peers.setRedo(recorder.bytes(number: number, author: record.author), for: stack.storeID(store), leader)
            try Peers.setNumber(number, of: leaderID, writer)
        }
        if !strangers.isEmpty {
            restart = .pairing(strangers)
            throw StorageError(.serializationFailure, "two stores commit together for the first time; the transaction starts again")
        }
    }

    /// Makes a store that could not commit after the first take over what that keeps for it.
    private func follow(_ store: Int) throws(StorageError) {
        do throws(StorageError) {
            try stack.beginWrite(store, WriteOptions()).end()
        } catch {
            throw StorageError(
                .peerUnavailable,
                "the transaction is committed; one of its stores could not take its part yet and does so before it is next written to",
                cause: error)
        }
    }

    /// Lets go of the snapshots of sessions that read; the next look opens others.
    func letGo() { if options == nil { endAll() } }

    /// Ends all sessions; what was not committed is undone.
    func end() {
        isOpen = false
        endAll()
    }

    private func endAll() {
        last = nil
        for reader in readers.values { reader.end() }
        for writer in writers.values { writer.end() }
        readers.removeAll()
        writers.removeAll()
    }

    static var ended: StorageError {
        StorageError(.storeClosed, "the transaction has ended; start another with perform or read")
    }
}
