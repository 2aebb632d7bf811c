internal import Foundation
internal import PolystoreStorage
internal import Synchronization

/// Cases of group H: the history while other transactions write.
enum HistoryPollingCases {
    static let all: [ConformanceCase] = [
        HistoryScene.historyCase("H010.a-reader-sees-every-commit-once-and-in-order", "H1") { scratch, check in
            let poll = try Poll(scratch, writers: 8, rounds: 20)
            poll.run()
            poll.report(check)
        },
        HistoryScene.historyCase("H010.a-session-says-which-commits-it-sees", "H1") { scratch, check in
            var committed: [HistoryToken] = []
            func commit(_ writer: WriteSession) throws {
                if let token = try writer.commit(CommitRecord()) { committed.append(token) }
            }
            // The entries that the history returns up to the newest token, and those that it will return later.
            func compare(_ what: String) throws {
                let seen = try scratch.read { reader in
                    let delivered = try reader.history(since: nil, limit: 100).map(\.token)
                    check.equal(try reader.currentToken(), delivered.last, "the newest token, \(what)")
                    return delivered + (try reader.unsettledTokens())
                }
                check.equal(seen.sorted { $0.position < $1.position }, committed.sorted { $0.position < $1.position }, what)
            }
            func insert(_ body: () throws -> Void = {}) throws {
                let writer = try scratch.store.beginWrite(WriteOptions(timeout: 10))
                defer { writer.end() }
                try scratch.insert("Tag", [[:]], writer)
                try body()
                try commit(writer)
            }
            try compare("before any")
            try insert()
            try compare("after one")
            if scratch.store.capabilities.contains(.concurrentWriters) {
                try insert {
                    try insert()
                    try compare("next to an older writer")
                }
                try compare("after the older writer")
            }
        },
    ]

    /// Writers that each add tags one by one, and a reader that polls for new entries all the time.
    private final class Poll: Sendable {
        private struct State {
            var entries: [HistoryEntry] = []
            var tokens: [Int: [HistoryToken]] = [:]
            var problems: [String] = []
            var writing: Int
        }

        private let store: OpenStore
        private let tag: EntityIndex
        private let writers: Int, rounds: Int
        private let state: Mutex<State>

        init(_ scratch: Scratch, writers: Int, rounds: Int) throws {
            store = scratch.store
            tag = try scratch.entity("Tag")
            (self.writers, self.rounds) = (writers, rounds)
            state = Mutex(State(writing: writers))
        }

        func run() {
            Threads.run(writers + 1) { number in
                do {
                    if number == self.writers { try self.read() } else { for _ in 0..<self.rounds { try self.write(number) } }
                } catch {
                    self.state.withLock { $0.problems.append("\(error)") }
                }
                if number < self.writers { self.state.withLock { $0.writing -= 1 } }
            }
        }

        /// Performs one commit, repeated after a conflict. Every third one takes longer.
        private func write(_ number: Int) throws {
            for attempt in 0... {
                do throws(StorageError) {
                    let writer = try store.beginWrite(WriteOptions(timeout: 60, isExclusive: attempt > 20))
                    defer { writer.end() }
                    let key = try writer.reserveKeys(tag, count: 1).lowerBound, tag = tag
                    let rows = RowSource(count: 1) { _, batch in
                        batch.appendRow(key: key, version: 1, entity: tag, slots: 2).update(repeating: .null, count: 2)
                    }
                    try writer.apply(ChangeSet(entities: [EntityChanges(entity: tag, inserts: rows)]))
                    if key % 3 == 0 { Thread.sleep(forTimeInterval: 0.002) }
                    let token = try writer.commit(CommitRecord(author: String(number)))
                    state.withLock { state in if let token { state.tokens[number, default: []].append(token) } }
                    return
                } catch {
                    if error.code != .serializationFailure { throw error }
                }
            }
        }

        private func read() throws {
            var token: HistoryToken?, quiet = 0
            // After the last commit the history settles immediately, or as soon as the server no longer lists the last transaction.
            while quiet < 50 {
                let isOver = state.withLock { $0.writing == 0 }
                let reader = try store.beginRead()
                defer { reader.end() }
                let page = try reader.history(since: token, limit: 7)
                for entry in page {
                    let found = RowBatch(capacity: 1)
                    try reader.rows(tag, keys: entry.changes.map(\.key), into: found)
                    if found.count != entry.changes.count {
                        state.withLock { $0.problems.append("an entry is delivered before its objects exist") }
                    }
                }
                state.withLock { $0.entries += page }
                token = page.last?.token ?? token
                if page.isEmpty, isOver {
                    quiet += try reader.hasUnsettledHistory() ? 0 : 50
                    quiet += 1
                    Thread.sleep(forTimeInterval: 0.01)
                }
            }
        }

        func report(_ check: Check) {
            state.withLock { state in
                check.equal(state.problems, [], "problems")
                let delivered = state.entries.map(\.token.position)
                check.equal(delivered, delivered.sorted(), "positions rise")
                check.equal(Set(delivered).count, delivered.count, "each once")
                check.equal(delivered, state.tokens.values.joined().map(\.position).sorted(), "every commit")
                for (writer, tokens) in state.tokens {
                    let own = state.entries.filter { $0.author == String(writer) }.map(\.token)
                    check.equal(own, tokens, "commits of writer \(writer) in their order")
                }
            }
        }
    }
}
