import Foundation
import Polystore
import PolystoreInMemory
import TestStores
import Testing

/// The feed of commits.
@Suite(.timeLimit(.minutes(15))) struct StackCommitsTests {
    private func order(_ number: Int64, _ stack: DataStack, author: TransactionAuthor = .none, source: String? = nil) throws {
        try stack.perform(author: author, sourceIdentifier: source, synchronous: { try HistoryFixture.order(number, in: $0) })
    }

    @Test(arguments: TestStore.all) func eachCommitIsOneElementInOrder(_ store: TestStore) async throws {
        let stack = try HistoryFixture.stack(store)
        try order(0, stack)
        let commits = try stack.commits(.gap(after: 100))
        for number in 1...5 { try order(Int64(number), stack, author: TransactionAuthor("\(number)"), source: "s\(number)") }
        try stack.perform(synchronous: { _ in })
        var iterator = commits.makeAsyncIterator(), positions: [Int64] = []
        for number in 1...5 {
            let commit = try #require(await iterator.next())
            #expect(commit.authors == [TransactionAuthor("\(number)")] && commit.sourceIdentifier as? String == "s\(number)")
            #expect(!commit.isRemote && commit.unknownStores.isEmpty)
            #expect(commit.changes.insertedObjectIDs().count == 1 && commit.changes.entities == ["Order"])
            positions += commit.tokens.map(\.position)
        }
        #expect(positions.count == 5 && positions == positions.sorted())
        let history = try HistoryFixture.history(stack, count: 6)
        #expect(history.suffix(5).map(\.token.position) == positions)
    }

    @Test func aTransactionOverSeveralStoresIsOneElement() async throws {
        let stack = try DataStack(schema: HistoryFixture.schema())
        try stack.addStorageAndWait(InMemoryStore(configuration: "Parts"))
        try stack.addStorageAndWait(InMemoryStore(configuration: "Orders"))
        let commits = try stack.commits(.gap(after: 10))
        try stack.perform(
            author: "both",
            synchronous: { transaction in
                _ = try HistoryFixture.part("a", in: transaction)
                try HistoryFixture.order(1, in: transaction)
            })
        try order(2, stack, author: "one")
        var iterator = commits.makeAsyncIterator()
        let both = try #require(await iterator.next()), one = try #require(await iterator.next())
        #expect(both.authors == ["both"] && both.changes.entities == ["Part", "Order"] && both.tokens.count == 2)
        #expect(Set(both.changes.insertedObjectIDs().map(\.key.store)).count == 2)
        #expect(one.authors == ["one"] && one.tokens.count == 1)
    }

    @Test(arguments: TestStore.all) func missedCommitsBecomeOneElement(_ store: TestStore) async throws {
        let stack = try HistoryFixture.stack(store), commits = try stack.commits(.coalescing)
        let (kept, gone) = try stack.perform(
            author: "a",
            synchronous: { transaction in
                (try HistoryFixture.part("kept", in: transaction).objectID, try HistoryFixture.part("gone", in: transaction).objectID)
            })
        try stack.perform(
            author: "b",
            synchronous: { transaction in
                try transaction.fetchExisting(kept)?.setValue(.int(1), for: "price")
                try transaction.fetchExisting(gone).map { _ = try transaction.delete([$0]) }
            })
        var iterator = commits.makeAsyncIterator()
        let commit = try #require(await iterator.next())
        #expect(commit.authors == ["a", "b"] && commit.unknownStores.isEmpty)
        #expect(Array(commit.changes).map(\.kind) == [.inserted] && commit.changes.insertedObjectIDs().map(\.key) == [kept.key])
    }

    @Test(arguments: TestStore.all) func aDeletionHasThePreservedValuesOfTheModel(_ store: TestStore) async throws {
        let stack = try HistoryFixture.stack(store)
        let part = try stack.perform(synchronous: { try HistoryFixture.part("a", in: $0).objectID })
        let commits = try stack.commits()
        try stack.perform(synchronous: { transaction in
            try transaction.fetchExisting(part).map { _ = try transaction.delete([$0]) }
        })
        var iterator = commits.makeAsyncIterator()
        let commit = try #require(await iterator.next())
        #expect(commit.changes.tombstone(of: part) == ["code": .string("a")])
        #expect(commit.changes.deletedObjectIDs(DynamicObject.self) == [part])
    }

    @Test(arguments: TestStore.all) func aGapNamesTheStores(_ store: TestStore) async throws {
        let stack = try HistoryFixture.stack(store), commits = try stack.commits(.gap(after: 3))
        for number in 0..<5 { try order(Int64(number), stack, author: TransactionAuthor("\(number)")) }
        let token = try stack.currentHistoryToken()
        var iterator = commits.makeAsyncIterator()
        let gap = try #require(await iterator.next())
        #expect(gap.unknownStores == [token.store] && gap.changes.isEmpty && gap.authors.isEmpty)
        // Four were too many, so they are the gap; the fifth came after it.
        let last = try #require(await iterator.next())
        #expect(last.authors == ["4"] && last.unknownStores.isEmpty)
    }

    @Test func memoryIsBounded() async throws {
        let stack = try HistoryFixture.stack(.memory), commits = try stack.commits(.coalescing)
        // A run each, and more of them than are kept.
        for number in 0..<11_000 { try order(Int64(number), stack) }
        var iterator = commits.makeAsyncIterator()
        let commit = try #require(await iterator.next())
        #expect(commit.unknownStores.count == 1)
        #expect(commit.changes.isEmpty)
    }

    @Test func noCommitAfterTheCallIsMissed() async throws {
        let stack = try HistoryFixture.stack(.memory)
        // A task waits long for its next turn where other tests are busy, so that there are few turns.
        for round in 0..<300 {
            let commits = try feed(stack, after: 2 * round)
            // It can also have commits from before the call, and those that began before it without their changes and authors.
            let first = await commits.first { commit in
                commit.authors.contains { author in Int(author.name).map { $0 >= 2 * round } ?? false }
            }
            #expect(first?.authors == [TransactionAuthor("\(2 * round)")])
        }
    }

    /// Returns a feed that begins while somebody commits, and commits by the authors of a number and the next one.
    private func feed(_ stack: DataStack, after number: Int) throws -> StackCommits {
        let ended = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            for _ in 0..<3 { try? self.order(-1, stack, author: "noise") }
            ended.signal()
        }
        defer { ended.wait() }
        let commits = try stack.commits(.gap(after: 1000))
        for author in [number, number + 1] { try order(Int64(author), stack, author: TransactionAuthor("\(author)")) }
        return commits
    }

    @Test func noElementsFollowCancellationAndNothingLeaks() async throws {
        weak var leaked: DataStack?
        do {
            let stack = try HistoryFixture.stack(.memory)
            leaked = stack
            let commits = try stack.commits(.gap(after: 10))
            let task = Task { () -> Int in
                var count = 0
                for await _ in commits { count += 1 }
                return count
            }
            try order(1, stack)
            try await Task.sleep(for: .milliseconds(50))
            task.cancel()
            let count = await task.value
            try order(2, stack)
            #expect(count <= 1)
            // A task that is cancelled before it looks gets nothing.
            let late = Task { () -> Bool in
                while !Task.isCancelled { await Task.yield() }
                var iterator = try stack.commits().makeAsyncIterator()
                return await iterator.next() == nil
            }
            late.cancel()
            #expect(try await late.value)
        }
        #expect(leaked == nil)
    }

    @Test(arguments: HistoryFixture.shared) func commitsOfOtherStacksAreMarkedAsRemote(_ store: TestStore) async throws {
        let stacks = try HistoryFixture.stacks(store, 2), commits = try stacks[0].commits(.gap(after: 100))
        try order(1, stacks[1], author: "other")
        try order(2, stacks[0], author: "own")
        var iterator = commits.makeAsyncIterator(), told: [TransactionAuthor: Bool] = [:]
        for _ in 0..<2 {
            let commit = try #require(await iterator.next())
            for author in commit.authors { told[author] = commit.isRemote }
        }
        #expect(told == ["other": true, "own": false])
    }

    @Test(arguments: TestStore.all.filter { $0 == .postgresql })
    func theHistoryUpToATokenAndTheFeedHaveEachCommitOnce(_ store: TestStore) async throws {
        let name = "polystore_\(UUID().uuidString.lowercased())", slow = HookedStore(store.make(named: name))
        let stacks = try [store.make(named: name), slow].map { opened in
            let stack = try DataStack(schema: HistoryFixture.schema())
            try stack.addStorageAndWait(opened)
            return stack
        }
        let isWriting = DispatchSemaphore(value: 0), mayEnd = DispatchSemaphore(value: 0)
        slow.setHook { event throws(StorageError) in
            guard event == .commit else { return }
            isWriting.signal()
            mayEnd.wait()
        }
        // The server withholds what is committed from the history, until this older transaction has ended.
        Thread { try? self.order(0, stacks[1], author: "older") }.start()
        func waitForOlder() { isWriting.wait() }
        waitForOlder()
        for author in ["first", "second"] { try order(1, stacks[0], author: TransactionAuthor(author)) }
        let commits = try stacks[0].commits(.gap(after: 100)), token = try stacks[0].currentHistoryToken()
        let past = try stacks[0].history(HistoryRequest()).transactions.filter { $0.token.position <= token.position }
        try order(2, stacks[0], author: "last")
        mayEnd.signal()
        var iterator = commits.makeAsyncIterator(), told = past.map(\.author)
        while told.count < 4, let commit = await iterator.next() { told += commit.authors }
        #expect(told.map(\.name).sorted() == ["first", "last", "older", "second"])
    }
}
