internal import Foundation
internal import PolystoreStorage

/// Cases about a store's answer for the outcome of a commit whose end its program did not see.
enum OutcomeCases {
    static let all: [ConformanceCase] = [
        ConformanceCase("T060.the-outcome-of-a-commit-is-reported", clause: "W12") { harness, check in
            try harness.withStore { scratch in
                guard let store = scratch.store.ability((any CommitOutcomeStorage).self) else {
                    let writer = try scratch.store.beginWrite(WriteOptions())
                    defer { writer.end() }
                    let token = try writer.commitToken(for: CommitRecord(author: "", time: 1))
                    return check.isTrue(token == nil, "a store without outcomes returns no token")
                }
                try scratch.insert("Thing", [["number": .int(1)]])
                let texts = ["", "x", "1", "-1", "-1.zz", "1.0", "9223372036854775808.0", "a:b:c", "0:0:", ":1:", "1.\(UUID())"]
                for text in texts + [String(repeating: "9", count: 300)] {
                    for id in [scratch.store.storeID, UUID()] {
                        let outcome = try? store.outcome(of: CommitToken(storeID: id, value: text))
                        check.isTrue(outcome != .committed && outcome != .inProgress, "the outcome of \"\(text.prefix(40))\"")
                    }
                }
                check.throwing(.notFound, "the token of another store") {
                    _ = try store.outcome(of: CommitToken(storeID: UUID(), value: "1.0"))
                }
                // Some stores name a commit only when it is in doubt.
                guard let kept = try token(scratch, commits: true), let lost = try token(scratch, commits: false) else { return }
                for _ in 0..<2 {
                    check.equal(try outcome(kept, scratch), .committed, "of a commit")
                    check.equal(try outcome(lost, scratch), .notCommitted, "of a rollback")
                    check.equal(CommitToken(kept.description), kept, "from its text")
                    try scratch.insert("Thing", [["number": .int(3)]])
                    // Another instance, which stands for another process, gives the same answer.
                    if harness.capabilities.contains(.persistent) { try scratch.reopen() }
                }
            }
        },
        ConformanceCase("T061.a-request-for-an-outcome-ends-by-its-limit", clause: "W12") { harness, check in
            try harness.withStore { scratch in
                guard let store = scratch.store.ability((any CommitOutcomeStorage).self) else {
                    throw NothingToCheck("the store cannot determine the outcome of a commit")
                }
                try scratch.insert("Thing", [["number": .int(1)]])
                // Some stores name a commit only when it is in doubt. They cannot know this token, which is an answer as well.
                let asked = try token(scratch, commits: true) ?? CommitToken(storeID: scratch.store.storeID, value: "1.0")
                let cancelled = WorkLimit()
                cancelled.cancel()
                check.throwing(.cancelled, "a cancelled request") { _ = try store.outcome(of: asked, limit: cancelled) }
                let writer = try scratch.store.beginWrite(WriteOptions())
                try scratch.insert("Thing", [["number": .int(2)]], writer)
                // A store that decides by a commit of its own must wait for the writer; others answer.
                let limited = Result { try store.outcome(of: asked, limit: WorkLimit(timeout: .milliseconds(50))) }
                if case .failure(let error) = limited {
                    let code = (error as? StorageError)?.code
                    check.isTrue(code == .timeout || code == .notFound, "behind another writer: \(error)")
                }
                writer.end()
                let repeated = Result { try store.outcome(of: asked, limit: WorkLimit(timeout: .seconds(20))) }
                if case .failure(let error) = repeated { check.equal((error as? StorageError)?.code, .notFound, "repeated: \(error)") }
            }
        },
    ]

    /// Returns the token of a transaction, which then commits or not; nil if the store names a commit only when it is in doubt.
    private static func token(_ scratch: Scratch, commits: Bool) throws -> CommitToken? {
        let writer = try scratch.store.beginWrite(WriteOptions())
        defer { writer.end() }
        try scratch.insert("Thing", [["number": .int(commits ? 1 : 2)]], writer)
        let record = CommitRecord(author: "outcome", time: 1_000_000), token = try writer.commitToken(for: record)
        if commits { _ = try writer.commit(record) }
        return token
    }

    /// Returns the answer after the engine has decided.
    private static func outcome(_ token: CommitToken, _ scratch: Scratch) throws -> CommitOutcome? {
        for _ in 0..<1_000 {
            let outcome = try scratch.store.ability((any CommitOutcomeStorage).self)?.outcome(of: token)
            if outcome != .inProgress { return outcome }
            Thread.sleep(forTimeInterval: 0.01)
        }
        return .inProgress
    }
}
