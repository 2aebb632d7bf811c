import Foundation
import PolystoreInMemory
import PolystoreStorage
import PolystoreTransfer
import TestStores
import Testing

/// Archives with the history of a store.
@Suite struct ArchivedHistoryTests {
    private let history: NoteHistory
    private var schema: Schema { history.schema }
    private var note: EntityIndex { history.note }

    private typealias Transaction = NoteHistory.Transaction

    init() throws { history = try NoteHistory() }

    private static let pairs = TestStore.all.flatMap { source in TestStore.all.map { (source, $0) } }

    private func archive(_ store: OpenStore) throws -> [UInt8] {
        let reader = try history.settledSession(of: store)
        defer { reader.end() }
        var bytes: [UInt8] = []
        try ArchiveWriter(Contents(reader), history: reader).write { bytes += $0 }
        return bytes
    }

    private func restore(
        _ bytes: [UInt8], to storage: any StorageInterface, includesHistory: Bool = true
    ) throws -> (OpenStore, RestoredArchive) {
        var reader = try ArchiveReader(FileBlocks(Data(bytes)), name: "notes.ndjson"), request = OpenRequest(schema: reader.schema)
        request.leavesRoomForHistory = reader.hasHistory
        let store = try OpenStore(opening: storage, request)
        do { return (store, try reader.restore(into: store, includesHistory: includesHistory)) } catch {
            try? store.erase()
            throw error
        }
    }

    @Test(arguments: pairs) func aRestoredStoreHasTheTransactionsOfItsSource(_ from: TestStore, _ to: TestStore) throws {
        let source = try history.source(from.make())
        defer { try? source.erase() }
        let original = try history.settled(source), (copy, report) = try restore(archive(source), to: to.make())
        defer { try? copy.erase() }
        let restored = try history.settled(copy)
        try #require(original.count == 303 && restored.count == 303)
        #expect(report.transactions == 303 && !report.leavesOutHistory)
        #expect(restored.map(Transaction.init) == original.map(Transaction.init))
        #expect(
            restored[2].changes.filter { $0.kind == .delete }.map { $0.tombstone[0] } == [
                .string("n7 é\u{1f600}"), .string("n8 é\u{1f600}"),
            ])
        #expect(try TransferEngine().verify(source, copy).allSatisfy(\.isSame))

        // Tokens of the source, and tokens from before the first transaction, are refused.
        for token in [original[5].token, HistoryToken(store: copy.storeID, position: 0)] {
            let error = #expect(throws: StorageError.self) { try history.settled(copy, since: token) }
            #expect(error?.code == .tokenExpired)
        }
        // A follower continues from the restored transactions to those of the restored store.
        let changes = ChangeSet(entities: [EntityChanges(entity: note, inserts: history.rows([9000]))])
        try history.commit(copy, CommitRecord(author: "later"), changes)
        #expect(try history.settled(copy, since: restored[301].token).map(\.author) == ["many 6300", "later"])
    }

    @Test(arguments: TestStore.all) func aRestoredHistoryIsArchivedAgain(_ kind: TestStore) throws {
        let source = try history.source(InMemoryStore()), (first, _) = try restore(archive(source), to: kind.make())
        defer { try? first.erase() }
        let (second, _) = try restore(archive(first), to: InMemoryStore())
        #expect(try history.settled(second).map(Transaction.init) == history.settled(source).map(Transaction.init))
    }

    @Test func aStoreThatKeepsNoHistoryDoesNotRestoreIt() throws {
        let bytes = try archive(history.source(InMemoryStore()))
        let (store, report) = try restore(bytes, to: InMemoryStore(recordsHistory: false))
        #expect(report.transactions == nil && report.leavesOutHistory)
        #expect(try TransferEngine().verify(history.source(InMemoryStore()), store).allSatisfy(\.isSame))
        let (_, without) = try restore(bytes, to: InMemoryStore(), includesHistory: false)
        #expect(without.transactions == nil && !without.leavesOutHistory)
    }

    @Test(arguments: TestStore.all) func aStoreWithAHistoryOfItsOwnIsRefused(_ kind: TestStore) throws {
        let store = try OpenStore(opening: kind.make(), OpenRequest(schema: schema)), bytes = try archive(history.source(InMemoryStore()))
        defer { try? store.erase() }
        try history.commit(store, CommitRecord(), ChangeSet(entities: [EntityChanges(entity: note, inserts: history.rows([1]))]))
        try history.commit(store, CommitRecord(), ChangeSet(entities: [EntityChanges(entity: note, deletes: [RowDeletion(key: 1)])]))
        var reader = try ArchiveReader(FileBlocks(Data(bytes)), name: "notes.ndjson")
        let error = #expect(throws: StorageError.self) { try reader.restore(into: store) }
        #expect(error?.code == .alreadyExists && error?.message.contains("--no-history") == true)
        var again = try ArchiveReader(FileBlocks(Data(bytes)), name: "notes.ndjson")
        #expect(try again.restore(into: store, includesHistory: false).items[0].digest.count > 3000)
    }

    @Test func damageOfTheHistoryIsNamedAndNothingIsRestored() throws {
        let bytes = try archive(history.source(InMemoryStore())), text = String(decoding: bytes, as: UTF8.self)
        let start = try #require(text.range(of: "{\"history\":")), first = text.utf8.distance(from: text.startIndex, to: start.lowerBound)
        for position in stride(from: first, to: bytes.count, by: 997) {
            var damaged = bytes
            damaged[position] ^= 1
            #expect(throws: StorageError.self, "byte \(position)") { _ = try restore(damaged, to: InMemoryStore()) }
        }
        var damaged = bytes
        damaged[first + 40] ^= 1
        let error = #expect(throws: StorageError.self) { try restore(damaged, to: InMemoryStore()) }
        #expect(error?.code == .corrupted && error?.message.contains("(polystore_history)") == true, "\(error?.message ?? "")")
        // A cut within the history, too.
        let cut = #expect(throws: StorageError.self) { try restore(Array(bytes[..<(first + 300)]), to: InMemoryStore()) }
        #expect(cut?.message.contains("(polystore_history): it is incomplete") == true, "\(cut?.message ?? "")")
    }

    /// A block with a valid digest whose changes are cut, those of another model, or no Base64.
    @Test(arguments: ["AQ==", "AQkCAQ==", "!"]) func aForgedTransactionIsDamaged(_ changes: String) throws {
        let store = try OpenStore(opening: InMemoryStore(), OpenRequest(schema: schema))
        try history.commit(
            store, CommitRecord(author: "a", time: 1), ChangeSet(entities: [EntityChanges(entity: note, inserts: history.rows([1]))]))
        let lines = String(decoding: try archive(store), as: UTF8.self).split(separator: "\n").map(String.init)
        let index = try #require(lines.firstIndex { $0.hasPrefix("{\"history\":") })
        let line = "{\"history\":1,\"time\":1,\"author\":\"a\",\"changes\":\"\(changes)\"}"
        // The digest of the block fits, so that only the changes themselves are wrong.
        let digest = Array((line + "\n").utf8).withUnsafeBytes { Digest(of: $0) }
        let block = "{\"block\":2,\"table\":\"polystore_history\",\"lines\":1,\"digest\":\"\(digest)\"}"
        let forged = lines[..<index] + [line, block] + lines[(index + 2)...]
        let error = #expect(throws: StorageError.self) {
            try restore(Array((forged.joined(separator: "\n") + "\n").utf8), to: InMemoryStore())
        }
        #expect(error?.message.contains("a line is no transaction") == true)
        #expect(error?.code == .corrupted && error?.message.contains("polystore_history") == true)
    }

    /// An archive of a version that did not archive the history.
    @Test(arguments: TestStore.all) func anEarlierArchiveIsRestored(_ kind: TestStore) throws {
        let archive = #"""
            {"polystore":"archive","format":1,"model":{"version":"1","entities":[{"name":"Note","attributes":[{"name":"text","type":"string"}],"relationships":[{"name":"tags","to":"Note","kind":"toManyOrdered"}]}]}}
            {"entity":"Note","key":1,"version":1,"text":"a"}
            {"entity":"Note","key":2,"version":1,"text":"b"}
            {"block":1,"table":"Note","lines":2,"digest":"5d7610f8f3fd803bbbc9233bf0fdd5e9"}
            {"link":"Note.tags","owner":1,"rank":1048576,"member":2}
            {"block":2,"table":"Note.tags","lines":1,"digest":"efbbc63abf0505b6cf5557ee120402de"}
            {"header":"5e5ec0db8d0465df25e87b43353cc651","tables":[{"table":"Note","rows":2,"digest":"d36af30cca11fd5a443caba2e09a8888"},{"table":"Note.tags","rows":1,"digest":"a3158269ce7bf74622da5dc8e60a0fae"}]}

            """#
        let (store, report) = try restore(Array(archive.utf8), to: kind.make())
        defer { try? store.erase() }
        #expect(report.transactions == nil && !report.leavesOutHistory && report.items.map(\.digest.count) == [2, 1])
        #expect(try history.settled(store).isEmpty)
    }

    /// The server stores no text with U+0000; the other stores keep the author.
    @Test(arguments: TestStore.all) func anAuthorThatAStoreCannotKeepIsNamedByItsTransaction(_ kind: TestStore) throws {
        let source = try OpenStore(opening: InMemoryStore(), OpenRequest(schema: schema))
        for (key, author) in [(Int64(1), "ann"), (2, "b\u{0}b")] {
            let changes = ChangeSet(entities: [EntityChanges(entity: note, inserts: history.rows([key]))])
            try history.commit(source, CommitRecord(author: author, time: 1), changes)
        }
        let bytes = try archive(source), position = try #require(try history.settled(source).last?.token.position)
        if kind == .postgresql {
            let error = #expect(throws: StorageError.self) { try restore(bytes, to: kind.make()) }
            #expect(error?.code == .valueNotStorable)
            #expect(error?.message.contains("the transaction at position \(position) of the archived history") == true)
        } else {
            let (copy, _) = try restore(bytes, to: kind.make())
            defer { try? copy.erase() }
            #expect(try history.settled(copy).map(\.author) == ["ann", "b\u{0}b"])
        }
    }

    /// A store that exists but never had a transaction gets positions for any number of restored transactions.
    @Test(.enabled(if: TestStore.server != nil), arguments: [true, false])
    func anEmptyStoreOnAServerGetsRoomForAHistory(_ isUsedMeanwhile: Bool) throws {
        let name = "polystore_\(UUID().uuidString.lowercased())"
        let other = try OpenStore(opening: TestStore.postgresql.make(named: name), OpenRequest(schema: schema))
        let session = isUsedMeanwhile ? try other.beginRead() : nil
        let (copy, report) = try restore(archive(history.source(InMemoryStore())), to: TestStore.postgresql.make(named: name))
        defer { try? copy.erase() }
        #expect(report.transactions == 303)
        try history.commit(
            copy, CommitRecord(author: "later"), ChangeSet(entities: [EntityChanges(entity: note, inserts: history.rows([9000]))]))
        let newest = try #require(try history.settled(copy).last)
        // Transactions of a program with a connection are still written with the positions that it knows.
        #expect(newest.author == "later" && (newest.token.position > 1 << 40) == !isUsedMeanwhile)
        session?.end()
        if isUsedMeanwhile {
            #expect(try history.settled(other).last?.author == "later")
        } else {
            let error = #expect(throws: StorageError.self) { try other.beginWrite() }
            #expect(error?.code == .storeClosed && error?.message.contains("open it again") == true)
        }
        try? other.close()
    }
}
