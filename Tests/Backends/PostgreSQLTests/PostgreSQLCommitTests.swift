import Foundation
import Polystore
import PolystoreSQL
import PolystoreStorage
import RawSessions
import Testing

@testable import PolystorePostgreSQL

/// What a commit leaves behind, whatever happens to the connection.
@Suite(.enabled(if: TestServer.url != nil, "needs a PostgreSQL server; .ci/run starts one")) struct PostgreSQLCommitTests {
    /// A commit whose connection the proxy breaks, and what the store says of its token from another connection.
    private func brokenCommit(_ mode: TestProxy.Mode) throws -> (StorageError, CommitOutcome, rows: Int) {
        let socket: String = try #require(TestServer.socket)
        let proxy = try TestProxy(server: socket)
        defer { proxy.close() }
        let made = try TestStore()
        defer { made.erase() }
        // A store that exists: a connection that has created one has prepared COMMIT, whose text it does not send again.
        let test = try TestStore(name: made.name, host: proxy.folder)
        defer { try? test.store.close() }
        let writer = try test.store.beginWrite(WriteOptions())
        try test.insert(writer, "in doubt")
        proxy.mode = mode
        let error = try #require(#expect(throws: StorageError.self) { _ = try writer.commit(CommitRecord(author: "ann")) })
        writer.end()
        #expect(proxy.hasBroken)
        // Another program, which has nothing but the text of the token.
        let token = try #require(CommitToken(error.details.commit?.description ?? "")), other = try TestStore(name: test.name)
        defer { try? other.store.close() }
        var outcome = try other.store.outcome(of: token)
        for _ in 0..<200 where outcome == .inProgress {
            Thread.sleep(forTimeInterval: 0.05)
            outcome = try other.store.outcome(of: token)
        }
        #expect(try test.store.outcome(of: token) == outcome)
        return (error, outcome, try test.count())
    }

    @Test func aCommitThatNeverArrivedIsKnownNotToHaveHappened() throws {
        let (error, outcome, rows) = try brokenCommit(.breakingBefore("COMMIT"))
        #expect(error.code == .commitOutcomeUnknown)
        #expect(outcome == .notCommitted)
        #expect(rows == 0)
    }

    @Test func aCommitWhoseAnswerWasLostIsKnownToHaveHappened() throws {
        let (error, outcome, rows) = try brokenCommit(.breakingAfter("COMMIT"))
        #expect(error.code == .commitOutcomeUnknown)
        #expect(outcome == .committed)
        #expect(rows == 1)
    }

    /// Everything before COMMIT ends with the limit, also the statements of the commit itself.
    @Test func aTransactionWhoseHistoryEntryIsNotAnsweredEndsAtItsTimeout() async throws {
        let socket: String = try #require(TestServer.socket)
        let proxy = try TestProxy(server: socket)
        defer { proxy.close() }
        let test = try TestStore(host: proxy.folder, creates: false)
        defer { test.erase() }
        let stack = try DataStack(schema: try TestStore.schema.get())
        try stack.addStorageAndWait(test.store)
        proxy.mode = .silentFrom("unanswered")
        let error = await #expect(throws: StorageError.self) {
            try await stack.perform(author: "unanswered", timeout: .seconds(1)) { transaction in
                try transaction.create(Into<DynamicObject>(entity: "Note")).setValue(.string("never"), for: "text")
            }
        }
        #expect(error?.code == .timeout)
        proxy.mode = .open
        #expect(try stack.fetchCount(From<DynamicObject>(entity: "Note")) == 0)
    }

    @Test func tokensOfOtherTransactionsAreDistinguished() throws {
        let test = try TestStore()
        defer { test.erase() }
        let admin = try TestStore.admin(), id = try test.store.opened().storeID
        let cluster = try #require(admin.cluster)
        func outcome(_ value: String, of store: UUID? = nil) throws -> CommitOutcome {
            try test.store.outcome(of: CommitToken(storeID: store ?? id, value: value))
        }
        try admin.execute("BEGIN")
        let running = try #require(try admin.text("SELECT pg_current_xact_id()"))
        #expect(try outcome("\(cluster):\(running):") == .inProgress)
        #expect(try outcome("1\(cluster):\(running):") == .unknown)
        for (value, store) in [("\(cluster):\(running):", UUID()), ("nonsense", id)] {
            #expect { try outcome(value, of: store) } throws: { ($0 as? StorageError)?.code == .notFound }
        }
        try admin.execute("COMMIT")
        #expect(try outcome("\(cluster):\(running):") == .committed)
        // The id is that of another transaction: ours had an entry.
        #expect(try outcome("\(cluster):\(running):17") == .notCommitted)
        try admin.execute("BEGIN")
        let undone = try #require(try admin.text("SELECT pg_current_xact_id()"))
        try admin.execute("ROLLBACK")
        #expect(try outcome("\(cluster):\(undone):") == .notCommitted)
        #expect(try outcome("\(cluster):\(Int64.max / 4):") == .notCommitted)
    }

    @Test func aRoleWhoseCommitsWaitForNothingDoesNotWeakenOurs() throws {
        let admin = try TestStore.admin(), role = "polystore_\(UUID().uuidString.prefix(8).lowercased())"
        try admin.execute("CREATE ROLE \(role) LOGIN")
        defer { try? admin.execute("DROP ROLE \(role)") }
        let url = try #require(TestServer.url).replacingOccurrences(of: "user=postgres", with: "user=\(role)")
        func setting(_ durability: Durability) throws -> String? {
            try PostgreSQLConnection(conninfo: url, schema: "public", durability: durability).text("SHOW synchronous_commit")
        }
        for (weak, full) in [("off", "on"), ("on", "on"), ("remote_apply", "remote_apply"), ("local", "local")] {
            try admin.execute("ALTER ROLE \(role) SET synchronous_commit = \(weak)")
            #expect(try setting(.full) == full)
            #expect(try setting(.relaxed) == "off")
        }
    }

    @Test func theHistoryOfARestoredStoreHasOtherTokens() throws {
        let test = try TestStore()
        defer { test.erase() }
        try test.insert("before the dump")
        func token(_ store: PostgreSQLStore) throws -> HistoryToken? {
            let reader = try store.beginSettledRead()
            defer { reader.end() }
            return try reader.currentToken()
        }
        let old = try #require(try token(test.store))
        // Tokens of the old cluster after the dump are greater than anything that was restored.
        let late = HistoryToken(store: old.store, position: old.position + 1_000_000)
        try test.store.close()
        let admin = try TestStore.admin()
        try admin.execute("UPDATE \"\(test.name)\".polystore_notes SET value = '123 0' WHERE name = 'history.cluster'")
        try admin.execute("UPDATE \"\(test.name)\".polystore_history SET position = position + 500000")
        let restored = try TestStore(name: test.name)
        defer { try? restored.store.close() }
        try restored.insert("after it")
        let reader = try restored.store.beginSettledRead()
        defer { reader.end() }
        for token in [old, late] {
            let error = #expect(throws: StorageError.self) { _ = try reader.history(since: token, limit: 10) }
            #expect(error?.code == .tokenExpired)
        }
        let entries = try reader.history(since: nil, limit: 10)
        #expect(entries.count == 1)
        #expect(try reader.history(since: entries.first?.token, limit: 10).isEmpty)
        #expect(try reader.currentToken() == entries.first?.token)
        // Opened once more it goes on.
        let again = try TestStore(name: test.name)
        defer { try? again.store.close() }
        try again.insert("and on")
        let later = try again.store.beginSettledRead()
        defer { later.end() }
        #expect(try later.history(since: entries.first?.token, limit: 10).count == 1)
    }

    @Test func aHistoryAtTheLastPositionDoesNotGoOnInAnotherCluster() throws {
        let test = try TestStore()
        defer { test.erase() }
        try test.insert("before the dump")
        try test.store.close()
        let admin = try TestStore.admin()
        try admin.execute("UPDATE \"\(test.name)\".polystore_notes SET value = '123 0' WHERE name = 'history.cluster'")
        try admin.execute("UPDATE \"\(test.name)\".polystore_history SET position = \(Int64.max)")
        let error = #expect(throws: StorageError.self) { _ = try TestStore(name: test.name) }
        #expect(error?.code == .limitExceeded)
    }
}
