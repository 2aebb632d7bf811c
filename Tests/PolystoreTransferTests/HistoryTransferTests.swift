import Foundation
import PolystoreInMemory
import PolystoreStorage
import PolystoreTransfer
import TestStores
import Testing

/// Transfers that copy the history of the source.
@Suite struct HistoryTransferTests {
    private let history: NoteHistory

    init() throws { history = try NoteHistory() }

    private static let pairs = TestStore.all.flatMap { source in TestStore.all.map { (source, $0) } }

    private func target(_ kind: TestStore) throws -> OpenStore {
        var request = OpenRequest(schema: history.schema)
        request.leavesRoomForHistory = true
        return try OpenStore(opening: kind.make(), request)
    }

    private func options(isInSteps: Bool = false, _ change: (inout TransferOptions) -> Void = { _ in }) -> TransferOptions {
        var options = TransferOptions()
        options.includesHistory = true
        options.source = isInSteps ? "memory:notes" : nil
        options.step = .zero
        change(&options)
        return options
    }

    private func transactions(_ store: OpenStore) throws -> [NoteHistory.Transaction] {
        try history.settled(store).map(NoteHistory.Transaction.init)
    }

    private func findings(_ store: OpenStore) throws -> [String] {
        var findings: [String] = []
        try TransferEngine().check(store) { findings.append($0.description) }
        return findings
    }

    @Test(arguments: pairs, [true, false])
    func aCopyHasTheTransactionsOfItsSource(_ pair: (TestStore, TestStore), _ isInSteps: Bool) throws {
        let source = try history.source(pair.0.make()), copy = try target(pair.1)
        defer {
            try? source.erase()
            try? copy.erase()
        }
        let report = try TransferEngine().transfer(from: source, to: copy, options(isInSteps: isInSteps))
        let original = try transactions(source)
        #expect(original.count == 303 && report.history?.count == 303 && report.historyObstacle == nil && report.isVerified)
        #expect(try transactions(copy) == original)
        #expect(try TransferEngine().verify(source, copy, includesHistory: true).allSatisfy(\.isSame))
        #expect(try TransferEngine().verify(source, copy, includesHistory: true).last?.name == "polystore_history")
        #expect(try findings(copy).isEmpty)
        let token = try #require(try history.settled(source).last?.token)
        #expect(throws: StorageError.self) { try history.settled(copy, since: token) }
        // The same transfer again finds everything there, until the target has a transaction of its own.
        if isInSteps {
            let again = try TransferEngine().transfer(from: source, to: copy, options(isInSteps: true))
            #expect(again.wasComplete && again.history == report.history)
        }
        try history.commit(
            copy, CommitRecord(author: "later"), ChangeSet(entities: [EntityChanges(entity: history.note, inserts: history.rows([9000]))]))
        #expect(try transactions(copy).map(\.author) == original.map(\.author) + ["later"])
        try history.commit(
            copy, CommitRecord(author: "later"),
            ChangeSet(entities: [EntityChanges(entity: history.note, deletes: [RowDeletion(key: 9000)])]))
        let items = try TransferEngine().verify(source, copy, includesHistory: true)
        #expect(items.filter { !$0.isSame }.map(\.name) == ["polystore_history"])
        #expect(try TransferEngine().verify(source, copy).allSatisfy(\.isSame))
    }

    @Test(arguments: TestStore.all) func anInterruptedCopyGetsWhatTheSourceHasCommittedMeanwhile(_ kind: TestStore) throws {
        let source = try history.source(InMemoryStore()), copy = try target(kind), limit = WorkLimit()
        defer { try? copy.erase() }
        // Forty transactions at once, each part a step.
        let paced = options(isInSteps: true) { $0.pace.rowsPerSecond = 400 }
        let error = #expect(throws: StorageError.self) {
            try TransferEngine(limit: limit).transfer(from: source, to: copy, paced) {
                if $0.name == "polystore_history", $0.done >= 80 { limit.cancel() }
            }
        }
        #expect(error?.code == .cancelled)
        let begun = try history.settled(copy).count
        #expect(begun >= 80 && begun < 303)
        // The source has committed an object meanwhile that follows all that were copied.
        try history.commit(
            source, CommitRecord(author: "meanwhile", time: 9),
            ChangeSet(entities: [EntityChanges(entity: history.note, inserts: history.rows([9000]))]))
        let report = try TransferEngine().transfer(from: source, to: copy, options(isInSteps: true))
        #expect(report.history?.count == 304 && report.continued > 3000)
        #expect(try transactions(copy) == transactions(source))
        #expect(try TransferEngine().verify(source, copy, includesHistory: true).allSatisfy(\.isSame))
    }

    @Test(arguments: TestStore.all) func anInterruptedCopyHasEachTransactionOnce(_ kind: TestStore) throws {
        let source = try history.source(InMemoryStore()), copy = try target(kind)
        defer { try? copy.erase() }
        var begun = 0
        for wanted in [0, 60, 200] {
            let limit = WorkLimit()
            let paced = options(isInSteps: true) { $0.pace.rowsPerSecond = 400 }
            _ = #expect(throws: StorageError.self) {
                try TransferEngine(limit: limit).transfer(from: source, to: copy, paced) {
                    if $0.name == "polystore_history", $0.done > wanted { limit.cancel() }
                }
            }
            let now = try history.settled(copy).count
            #expect(now > begun && now < 303)
            begun = now
        }
        let report = try TransferEngine().transfer(from: source, to: copy, options(isInSteps: true))
        #expect(report.history?.count == 303 && !report.wasComplete && report.continued > 3000)
        #expect(try transactions(copy) == transactions(source))
        #expect(try findings(copy).isEmpty)
    }

    @Test func aHistoryThatIsNotTheOneThatWasCopiedIsNoticed() throws {
        let source = try history.source(InMemoryStore()), copy = try target(.sqlite), limit = WorkLimit()
        defer { try? copy.erase() }
        let paced = options(isInSteps: true) { $0.pace.rowsPerSecond = 400 }
        _ = #expect(throws: StorageError.self) {
            try TransferEngine(limit: limit).transfer(from: source, to: copy, paced) {
                if $0.name == "polystore_history", $0.done > 60 { limit.cancel() }
            }
        }
        let oldest = try #require(try history.settled(source).first?.token), purger = try source.beginWrite()
        try purger.purgeHistory(through: oldest)
        _ = try purger.commit(CommitRecord())
        let error = #expect(throws: StorageError.self) {
            try TransferEngine().transfer(from: source, to: copy, options(isInSteps: true))
        }
        #expect(error?.code == .incompleteCopy && error?.message.contains("has changed since") == true)
    }

    @Test(arguments: TestStore.all) func aTargetWithAHistoryOfItsOwnIsRefused(_ kind: TestStore) throws {
        let source = try history.source(InMemoryStore()), copy = try target(kind)
        defer { try? copy.erase() }
        for changes in [
            EntityChanges(entity: history.note, inserts: history.rows([1])),
            EntityChanges(entity: history.note, deletes: [RowDeletion(key: 1)]),
        ] { try history.commit(copy, CommitRecord(), ChangeSet(entities: [changes])) }
        for isInSteps in [true, false] {
            let error = #expect(throws: StorageError.self) {
                try TransferEngine().transfer(from: source, to: copy, options(isInSteps: isInSteps))
            }
            #expect(error?.code == .alreadyExists && error?.message.contains("a history of its own") == true, "\(error?.message ?? "")")
        }
        var without = options()
        without.includesHistory = false
        #expect(try TransferEngine().transfer(from: source, to: copy, without).history == nil)
    }

    @Test func whereNoHistoryIsKeptTheObjectsAreCopiedWithoutIt() throws {
        let source = try history.source(InMemoryStore())
        let none = try OpenStore(opening: InMemoryStore(recordsHistory: false), OpenRequest(schema: history.schema))
        let copied = try TransferEngine().transfer(from: source, to: none, options())
        #expect(copied.history == nil && copied.historyObstacle == "the target keeps none" && copied.isVerified)
        let back = try TransferEngine().transfer(from: none, to: target(.sqlite), options(isInSteps: true))
        #expect(back.history == nil && back.historyObstacle == "the source keeps none")
        let items = try TransferEngine().verify(source, none, includesHistory: true)
        #expect(items.last?.name == "polystore_history" && items.last?.second == nil && items.last?.isSame == false)
    }

    @Test func aHistoryNeedsAllObjectsAsTheyAre() throws {
        let source = try history.source(InMemoryStore()), copy = try target(.memory)
        let wrong: [(inout TransferOptions) -> Void] = [
            { $0.selection.only = ["Note"] }, { $0.selection.except = ["Poem"] },
            { $0.mapping = TransferMapping(renames: ["Note": "Text"]) },
            { $0.existing = .merge }, { $0.existing = .replace }, { $0.onError = .skip() },
        ]
        for change in wrong {
            let error = #expect(throws: StorageError.self) { try TransferEngine().transfer(from: source, to: copy, options(change)) }
            #expect(error?.code == .invalidConfiguration)
        }
        #expect(try history.settled(copy).isEmpty)
    }

    @Test func theHistoryIsCopiedInPartsOfBoundedSize() throws {
        let source = try OpenStore(opening: InMemoryStore(), OpenRequest(schema: history.schema)), copy = try target(.lmdb)
        defer { try? copy.erase() }
        // Each transaction has some 200 KB of changes, so that 256 would be 50 MB.
        for index in Int64(0)..<60 {
            let keys = (1...10_000).map { index * 10_000 + $0 }
            try history.commit(
                source, CommitRecord(author: "a", time: index),
                ChangeSet(entities: [EntityChanges(entity: history.note, inserts: history.rows(keys))]))
        }
        var parts: [Int] = []
        _ = try TransferEngine().transfer(from: source, to: copy, options()) {
            if $0.name == "polystore_history" { parts.append($0.done) }
        }
        #expect(parts.last == 60)
        #expect(try history.settled(copy).map(\.time) == Array(0..<60))
    }
}
