internal import Polystore
internal import PolystoreStorage

/// Cases of group G: commits over two stores of which one fails, or is removed.
enum JointCases {
    static let all: [ConformanceCase] = [
        failing("G067.what-the-first-store-refuses-is-nowhere", "X2") { pair, failures, check in
            failures.arm(after: 0)
            check.throwing(.inputOutput, "the first commit fails") { try write("b", pair) }
            check.equal(try titles(pair), ["a", "a"], "no partial commit")
            try write("c", pair)
            check.equal(try titles(pair), ["a", "a", "c", "c"], "the next transaction succeeds")
        },
        failing("G068.what-the-second-store-misses-it-takes-over", "X3") { pair, failures, check in
            // If both stores prepare, the second has no commit that could fail.
            if [pair.first, pair.second].allSatisfy({ $0.capabilities.contains(.concurrentWriters) }) { return }
            failures.arm(after: 1)
            if [pair.first, pair.second].allSatisfy({ $0.capabilities.contains(.persistent) }) {
                try write("b", pair)
                check.equal(try titles(pair), ["a", "a", "b", "b"], "both have it")
            } else {
                check.throwing(.commitIncomplete, "no store holds changes for a store in memory") { try write("b", pair) }
                check.equal(try titles(pair), ["a", "a", "b"], "the first has it")
            }
            let before = try titles(pair)
            try write("c", pair)
            check.equal(try titles(pair), before + ["c", "c"], "the next transaction succeeds")
        },
        failing("G069.a-store-that-is-removed-undoes-the-transaction", "X2") { pair, _, check in
            guard [pair.first, pair.second].allSatisfy({ $0.capabilities.contains(.persistent) }) else {
                throw NothingToCheck("one of the two stores is not persistent")
            }
            for store in [pair.first, pair.second] {
                check.throwing(.storeClosed, "a store is removed before the commit") {
                    try pair.stack.write { transaction in
                        try write("b", transaction)
                        _ = try transaction.fetchCount(From<Song>())
                        Threads.run(1) { _ in try? pair.stack.removeStorage(store) }
                    }
                }
                try pair.stack.addStorageAndWait(store)
                check.equal(try titles(pair), ["a", "a"], "no partial commit")
            }
            try write("c", pair)
            check.equal(try titles(pair), ["a", "a", "c", "c"], "the next transaction succeeds")
        },
    ]

    /// Returns a case over pairs of stores that have committed together once, and whose commits can be made to fail.
    private static func failing(
        _ id: String, _ clause: String, _ body: @escaping @Sendable (StorePair, FailingCommits, Check) throws -> Void
    ) -> ConformanceCase {
        ConformanceCase(id, clause: clause, needs: [.persistent]) { harness, check in
            let failures = FailingCommits()
            try harness.withPairs("People", "Rest", check, through: failures.store) { pair in
                try pair.needsCommonCommits()
                try write("a", pair)
                try body(pair, failures, check)
            }
        }
    }

    private static func write(_ title: String, _ pair: StorePair) throws {
        try pair.stack.write { try write(title, $0) }
    }

    private static func write(_ title: String, _ transaction: WriteTransaction) throws {
        for name in ["People", "Rest"] { try transaction.create(Into<Song>(name)).title = title }
    }

    private static func titles(_ pair: StorePair) throws -> [String] {
        try pair.stack.fetchAll(From<Song>().orderBy(.ascending(\.title))).map(\.title)
    }
}
