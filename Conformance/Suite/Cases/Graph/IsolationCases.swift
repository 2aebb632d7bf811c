internal import Foundation
internal import Polystore
internal import PolystoreStorage
internal import Synchronization

/// Cases of group I: isolation anomalies (with Hermitage's names), each run in many interleavings and compared with the serial orders.
enum IsolationCases {
    static let all: [ConformanceCase] = anomalies + others

    /// Whether every interleaving is run. The runner can set it.
    nonisolated(unsafe) static var isThorough = false

    private static func anomaly(_ id: String, _ ages: [String: Int], _ programs: Program...) -> ConformanceCase {
        .graph(id, "W1") { stack, check in
            try Interleaving(stack: stack, ages: ages, programs: programs).check(check, limit: isThorough ? .max : 6)
        }
    }

    private static let two = ["a": 10, "b": 20]

    private static let anomalies: [ConformanceCase] = [
        anomaly("I001.dirty-write", two, .write(.set("a", 11), .set("b", 21)), .write(.set("a", 12), .set("b", 22))),
        anomaly("I002.aborted-read", two, .write(.set("a", 101), .abort), .read(.get("a"), .get("a"))),
        anomaly("I003.intermediate-read", two, .write(.set("a", 101), .set("a", 11)), .write(.get("a"), .get("a"))),
        anomaly("I004.circular-information-flow", two, .write(.set("a", 11), .get("b")), .write(.set("b", 22), .get("a"))),
        anomaly(
            "I005.observed-transaction-vanishes", two, .write(.set("a", 11), .set("b", 19)), .write(.set("a", 12), .set("b", 18)),
            .read(.get("a"), .get("b"))),
        anomaly("I006.phantom-read", two, .write(.count(atLeast: 30), .count(atLeast: 30)), .write(.insert("c", 30))),
        anomaly("I007.phantom-in-a-write", two, .write(.raiseAll(atLeast: 10, by: 10)), .write(.deleteAll(atLeast: 20))),
        anomaly("I008.lost-update", two, .write(.get("a"), .raise("a", by: 1)), .write(.get("a"), .raise("a", by: 2))),
        anomaly("I009.read-skew", two, .read(.get("a"), .get("b")), .write(.set("a", 12), .set("b", 18))),
        anomaly("I010.read-skew-of-a-predicate", two, .read(.count(atLeast: 15), .sum), .write(.set("a", 18), .insert("c", 25))),
        anomaly("I011.read-skew-in-a-write", two, .write(.get("a"), .deleteAll(atLeast: 20)), .write(.set("a", 20), .set("b", 10))),
        anomaly("I012.write-skew", two, .write(.get("a"), .get("b"), .set("a", 11)), .write(.get("a"), .get("b"), .set("b", 21))),
        anomaly(
            "I013.predicate-write-skew", two, .write(.count(atLeast: 30), .insert("c", 30)), .write(.count(atLeast: 30), .insert("d", 42))),
        anomaly(
            "I014.two-edges", two, .write(.sum, .set("a", 0)), .write(.raise("b", by: 5)), .read(.sum)),
        anomaly(
            "I015.a-reader-that-writes-nothing", ["a": 0, "b": 0], .write(.get("a"), .get("b"), .set("a", -11)), .write(.set("b", 20)),
            .write(.get("a"), .get("b"))),
        anomaly("I027.a-read-that-becomes-a-write", two, .write(.sum, .setToCount("a", atLeast: 15)), .write(.raiseAll(atLeast: 0, by: 5))),
        anomaly(
            "I016.an-empty-index", [:], .write(.count(atLeast: 1), .insert("a", 1)), .write(.count(atLeast: 1), .insert("b", 2))),
        anomaly("I017.insert-if-absent", two, .write(.insertUnlessAge("c", 30)), .write(.insertUnlessAge("d", 30))),
        anomaly("I023.delete-against-insert", two, .write(.delete("a"), .count(atLeast: 10)), .write(.get("a"), .insert("c", 10))),
        anomaly("I024.delete-all-against-insert", two, .write(.deleteAll(atLeast: 0)), .write(.sum, .insert("c", 5))),
        .graph("I034.all-interleavings-of-two", "W1") { stack, check in
            try Interleaving(
                stack: stack, ages: two,
                programs: [
                    .write(.get("a"), .set("b", 5), .sum, .raise("a", by: 1)),
                    .write(.get("b"), .setToCount("a", atLeast: 10), .get("a"), .raise("b", by: 2)),
                ]
            ).check(check, limit: isThorough ? .max : 20)
        },
        .graph("I034.interleavings-of-three", "W1") { stack, check in
            try Interleaving(
                stack: stack, ages: two,
                programs: [
                    .write(.get("a"), .raise("b", by: 1), .sum), .write(.get("b"), .raise("a", by: 2), .count(atLeast: 15)),
                    .write(.setToCount("a", atLeast: 12), .get("b"), .raise("b", by: 4)),
                ]
            ).check(check, limit: isThorough ? .max : 20)
        },
    ]

    private static let others: [ConformanceCase] = [
        .graph("I019.an-acknowledged-commit-is-seen-by-all", "W1") { stack, check in
            try stack.add("Ann")
            for round in 1...20 {
                try stack.write { try person("Ann", in: $0).age = round }
                let seen = try stack.read(synchronous: { try person("Ann", in: $0).age })
                check.equal(seen, round, "age read after commit \(round)")
                check.equal(try stack.write { try person("Ann", in: $0).age }, round, "in the next transaction")
            }
        },
        .graph("I020.a-snapshot-stands-through-many-commits", "W2", needs: [.snapshotReads]) { stack, check in
            try stack.add("Ann")
            try stack.read(synchronous: { source in
                check.equal(try source.fetchOne(From<Person>())?.age, 0, "before")
                for round in 1...200 { try stack.write { try person("Ann", in: $0).age = round } }
                try stack.add("Bob")
                check.equal(try source.fetchCount(From<Person>()), 1, "people in the snapshot")
                check.equal(try source.fetchCount(From<Person>().where(\.age == 0)), 1, "the age in the snapshot")
            })
            check.equal(try stack.fetchOne(From<Person>().where(\.name == "Ann"))?.age, 200, "after")
        },
        .graph("I021.the-bank", "W1", needs: [.snapshotReads]) { stack, check in
            let result = try Bank(accounts: 10, seconds: isThorough ? 60 : 0.5).run(stack)
            check.equal(result.wrongSums, 0, "reads in which money was missing or too much")
            check.equal(result.failures, [], "failures")
            check.isTrue(result.transfers > 0 && result.reads > 0, "transfers and reads have run")
        },
        .graph("I022.only-one-creates-the-unique", "W1") { stack, check in
            let violations = Counter(), others = Counter()
            Threads.run(6) { _ in
                do {
                    try stack.write { try $0.create(Person.self).email = "only" }
                } catch let error as StorageError where error.code == .uniqueConstraintViolated {
                    violations.add()
                } catch {
                    others.add()
                }
            }
            check.equal(violations.value, 5, "refused")
            check.equal(others.value, 0, "other failures")
            check.equal(try stack.fetchCount(From<Person>()), 1, "people")
        },
        .graph("I025.concurrent-insertions-at-one-place", "R5") { stack, check in
            try stack.add("Ann")
            let failures = Counter()
            Threads.run(4) { index in
                for number in 0..<5 {
                    do {
                        try stack.write { transaction in
                            let song = try transaction.create(Song.self)
                            song.title = "\(index)-\(number)"
                            try person("Ann", in: transaction).songs.insert(song, at: 0)
                        }
                    } catch {
                        failures.add()
                    }
                }
            }
            check.equal(failures.value, 0, "failures")
            let titles = try stack.read(synchronous: { try person("Ann", in: $0).songs.map(\.title) })
            check.equal(Set(titles).count, 20, "all exist")
            for index in 0..<4 {
                let own = titles.filter { $0.hasPrefix("\(index)-") }
                check.equal(own, (0..<5).reversed().map { "\(index)-\($0)" }, "each thread's own in order")
            }
        },
        .graph("I035.a-failed-transaction-weakens-none-after-it", "W1") { stack, check in
            try stack.write { try $0.create(Person.self).email = "taken" }
            for _ in 0..<6 {
                check.throwing(.uniqueConstraintViolated, "a transaction that fails") {
                    try stack.write { try $0.create(Person.self).email = "taken" }
                }
                check.throwing(.cancelled, "one that is cancelled") {
                    try stack.write { transaction in
                        _ = try transaction.fetchCount(From<Person>())
                        try transaction.cancel()
                    }
                }
            }
            let programs: [Program] = [.write(.sum, .set("a", 11)), .write(.sum, .set("b", 21))]
            try Interleaving(stack: stack, ages: two, programs: programs).check(check, limit: 6)
        },
        .graph("I026.opposite-orders-both-commit", "W1") { stack, check in
            try stack.add("Ann", "Bob")
            let failures = Counter()
            Threads.run(2) { index in
                for _ in 0..<10 {
                    do {
                        try stack.write { transaction in
                            for name in index == 0 ? ["Ann", "Bob"] : ["Bob", "Ann"] { try person(name, in: transaction).age += 1 }
                        }
                    } catch {
                        failures.add()
                    }
                }
            }
            check.equal(failures.value, 0, "failures: a deadlock is run again")
            check.equal(try stack.fetchAll(From<Person>()).map(\.age), [20, 20], "ages")
        },
        .graph("I029.readers-do-not-wait-for-a-writer", "W2") { stack, check in
            try stack.add("Ann")
            try stack.write { transaction in
                try person("Ann", in: transaction).age = 1
                _ = try transaction.fetchCount(From<Person>())
                check.equal(try stack.fetchAll(From<Person>())[0].age, 0, "seen by a fetch during the write")
                check.equal(try stack.read(synchronous: { try person("Ann", in: $0).age }), 0, "by a concurrent read")
            }
        },
        .graph("I018.two-readers-agree-on-the-order", "W1", needs: [.snapshotReads]) { stack, check in
            try stack.write { transaction in
                for name in ["x", "y"] { try transaction.create(Person.self).name = name }
            }
            let forks = Counter()
            Threads.run(4) { index in
                for _ in 0..<30 {
                    if index < 2 {
                        _ = try? stack.write { try person(index == 0 ? "x" : "y", in: $0).age += 1 }
                    } else {
                        let seen = try? stack.read(synchronous: { try [person("x", in: $0).age, person("y", in: $0).age] })
                        let later = try? stack.read(synchronous: { try [person("x", in: $0).age, person("y", in: $0).age] })
                        if let seen, let later, later[0] < seen[0] || later[1] < seen[1] { forks.add() }
                    }
                }
            }
            check.equal(forks.value, 0, "later reads that saw less")
        },
    ]
}

/// A workload in which writers transfer money between accounts while readers add up the balances, whose sum must never change (Jepsen's
/// bank workload).
struct Bank {
    let accounts: Int
    let seconds: Double

    struct Result: Sendable {
        var transfers = 0
        var reads = 0
        var wrongSums = 0
        var failures: [String] = []
    }

    func run(_ stack: DataStack) throws -> Result {
        try stack.write { transaction in
            for index in 0..<accounts {
                let account = try transaction.create(Person.self)
                account.name = "account \(index)"
                account.age = 100
            }
        }
        let ids = try stack.fetchIDs(From<Person>()), end = Date().addingTimeInterval(seconds)
        let result = Mutex(Result())
        Threads.run(8) { session in
            var random = SplitMix(seed: UInt64(session) + RandomCases.seed)
            while Date() < end {
                do {
                    if session < 4 {
                        let from = ids[Int(random.next() % UInt64(accounts))], to = ids[Int(random.next() % UInt64(accounts))]
                        let amount = Int(random.next() % 10)
                        try stack.write { transaction in
                            guard let a = try transaction.edit(from), let b = try transaction.edit(to) else { return }
                            a.age -= amount
                            b.age += amount
                        }
                        result.withLock { $0.transfers += 1 }
                    } else {
                        let sum = try stack.read(synchronous: { try $0.fetchAll(From<Person>()).reduce(0) { $0 + $1.age } })
                        result.withLock { $0.reads += 1 }
                        if sum != 100 * accounts { result.withLock { $0.wrongSums += 1 } }
                    }
                } catch {
                    result.withLock { $0.failures.append("\(error)") }
                }
            }
        }
        return result.withLock { $0 }
    }
}
