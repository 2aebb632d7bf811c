internal import Foundation
internal import Polystore
internal import PolystoreStorage

/// Cases of group T over the queues of a stack: which closures wait for each other, in which order they run, and how long they wait.
enum QueueCases {
    static let all: [ConformanceCase] = waiting + order + limits + reentrancy

    private static let waiting: [ConformanceCase] = [
        .graph("T050.a-read-goes-ahead-of-a-hundred-writers", "W15") { stack, check in
            try stack.add("Ann")
            let held = try HeldWriter(stack), done = SharedValue(0)
            for _ in 0..<100 {
                stack.perform(asynchronous: { _ = try $0.create(Person.self) }, completion: { _ in done.withLock { $0 += 1 } })
            }
            for _ in 0..<20 { Waiting.start { try? await stack.perform { _ = try $0.create(Person.self) } } }
            let names = try Waiting.run { try await stack.read(timeout: .seconds(60)) { try $0.fetchAll(From<Person>()).map(\.name) } }
            check.equal(names, ["Ann"], "values read while they wait")
            var streamed: [String]? = try Waiting.run {
                var names: [String] = []
                for try await person in stack.fetchStream(From<Person>()) { names.append(person.name) }
                return names
            }
            check.equal(streamed, ["Ann"], "objects streamed while they wait")
            streamed = nil
            check.equal(done.withLock { $0 }, 0, "completions before the writer has ended")
            check.isTrue(stack.workers.threads.count < 20, "those that wait take no threads")
            held.end()
            check.isTrue(Waiting.until { done.withLock { $0 } == 100 && stack.workers.writes.waitingCount == 0 }, "all have their turn")
            check.isTrue(try Waiting.until { try stack.fetchCount(From<Person>()) == 121 }, "people")
        }
    ]

    private static let order: [ConformanceCase] = [
        .graph("T051.a-thousand-transactions-in-their-order", "W15") { stack, check in
            let begun = SharedValue<[Int]>([]), completed = SharedValue<[Int]>([]), running = SharedValue((now: 0, most: 0))
            for number in 0..<1_000 {
                stack.perform(
                    asynchronous: { transaction in
                        running.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
                        defer { running.withLock { $0.now -= 1 } }
                        if transaction.attempt == 1 { begun.withLock { $0.append(number) } }
                        try transaction.create(Person.self).age = number
                    }, completion: { _ in completed.withLock { $0.append(number) } })
            }
            check.isTrue(Waiting.until(120) { completed.withLock { $0.count } == 1_000 }, "all end")
            check.equal(begun.withLock { $0 }, Array(0..<1_000), "the order of the closures")
            check.equal(completed.withLock { $0 }, Array(0..<1_000), "the order of the completions")
            check.equal(running.withLock { $0.most }, 1, "closures at a time")
            check.equal(try stack.fetchAll(From<Person>()).map(\.age), Array(0..<1_000), "the order of the objects")
        },
        .graph("T052.tasks-take-their-turns", "W15") { stack, check in
            let held = try HeldWriter(stack), begun = SharedValue<[Int]>([]), ended = SharedValue(0)
            for number in 0..<20 {
                Waiting.start {
                    try? await stack.perform { transaction in
                        if transaction.attempt == 1 { begun.withLock { $0.append(number) } }
                        _ = try transaction.create(Person.self)
                    }
                    ended.withLock { $0 += 1 }
                }
                check.isTrue(Waiting.until { stack.workers.writes.waitingCount == number + 1 }, "task \(number) waits")
            }
            held.end()
            check.isTrue(Waiting.until { ended.withLock { $0 } == 20 }, "all end")
            let order = begun.withLock { $0 }
            // If stores accept several writers, closures that began one after the other run at the same time.
            let isInOrder = stack.workers.writes.width == 1 ? order == Array(0..<20) : order.sorted() == Array(0..<20)
            check.isTrue(isInOrder, "the order of the closures: \(order)")
        },
        .graph("T053.a-completion-comes-after-the-observers", "H6") { stack, check in
            try stack.add("Ann", "Bob")
            let view = stack.makeViewContext(), ann = try person("Ann", in: view)
            // Only completions use the context, and they run one after the other.
            nonisolated(unsafe) let seenBy = (view: view, ann: ann)
            let seen = SharedValue<[Int]>([]), isOver = SharedValue(false), others = SharedValue(0)
            for _ in 0..<2 {
                Thread.detachNewThread {
                    while !isOver.withLock({ $0 }) { try? stack.write { try person("Bob", in: $0).age += 1 } }
                    others.withLock { $0 += 1 }
                }
            }
            for age in 1...100 {
                stack.perform(
                    asynchronous: { try person("Ann", in: $0).age = age },
                    completion: { _ in
                        _ = try? seenBy.view.merge()
                        seen.withLock { $0.append(seenBy.ann.age - age) }
                    })
                // The next closure has not begun when this one completes, so this completion cannot see its value.
                check.isTrue(Waiting.until { seen.withLock { $0.count } == age }, "completion \(age)")
            }
            isOver.withLock { $0 = true }
            check.isTrue(Waiting.until { others.withLock { $0 } == 2 }, "the others end")
            check.equal(seen.withLock { $0 }, Array(repeating: 0, count: 100), "values of the observer when the completion is called")
        },
    ]

    private static let limits: [ConformanceCase] = [
        .graph("T054.what-is-cancelled-leaves-the-queue-at-once", "W6") { stack, check in
            let held = try HeldWriter(stack), code = SharedValue<StorageError.Code?>(nil)
            let task = Waiting.start {
                do { try await stack.perform { _ = try $0.create(Person.self) } } catch { code.set(error) }
            }
            check.isTrue(Waiting.until { stack.workers.writes.waitingCount == 1 }, "it waits")
            task.cancel()
            check.isTrue(Waiting.until { code.withLock { $0 } != nil }, "it ends while the writer continues")
            check.equal(code.withLock { $0 }, .cancelled, "why")
            check.equal(stack.workers.writes.waitingCount, 0, "jobs that wait")
            held.end()
            try stack.add("Ann")
            check.equal(try stack.names(), ["Ann"], "names")
        },
        .graph("T055.a-timeout-counts-in-the-queue", "W6") { stack, check in
            let held = try HeldWriter(stack), code = SharedValue<StorageError.Code?>(nil), other = SharedValue<StorageError.Code?>(nil)
            stack.perform(
                timeout: .milliseconds(20), asynchronous: { _ = try $0.create(Person.self) },
                completion: { if case .failure(let error) = $0 { code.set(error) } })
            Waiting.start {
                do { try await stack.perform(timeout: .milliseconds(20)) { _ = try $0.create(Person.self) } } catch { other.set(error) }
            }
            check.isTrue(
                Waiting.until { code.withLock { $0 } != nil && other.withLock { $0 } != nil }, "they end while the writer continues")
            check.equal([code.withLock { $0 }, other.withLock { $0 }], [.timeout, .timeout], "why")
            check.equal(stack.workers.writes.waitingCount, 0, "jobs that wait")
            held.end()
            check.equal(try stack.names(), [], "names")
        },
        .graph("T056.a-read-has-a-limit", "W6") { stack, check in
            try stack.add("Ann")
            let slow: @Sendable (ReadTransaction) throws -> Int = { source in
                for _ in 0..<10_000 {
                    _ = try source.fetchCount(From<Person>())
                    Thread.sleep(forTimeInterval: 0.002)
                }
                return 0
            }
            check.throwing(.timeout, "of a task") { _ = try Waiting.run { try await stack.read(timeout: .milliseconds(30), slow) } }
            check.throwing(.timeout, "of the caller") { _ = try stack.read(timeout: .milliseconds(30), synchronous: slow) }
            check.throwing(.timeout, "of a fetch") { _ = try stack.fetchAll(From<Person>(), timeout: .zero) }
            check.throwing(.timeout, "of a count") { _ = try stack.fetchCount(From<Person>(), timeout: .zero) }
            check.equal(try stack.fetchAll(From<Person>(), timeout: .seconds(60)).map(\.name), ["Ann"], "with time enough")
            let object = try stack.fetchOne(From<Person>(), timeout: .seconds(60))
            check.equal(object?.pets.count, 0, "later loads do not have the timeout of the fetch")
        },
        .graph("T059.a-writer-that-is-stuck-is-not-waited-for-longer", "W6") { stack, check in
            try stack.add("Ann")
            let work = stack.beginUnsafe()
            try person("Ann", in: work).age = 5
            let isStuck = DispatchSemaphore(value: 0), isOver = DispatchSemaphore(value: 0), hasEnded = SharedValue(false)
            Thread.detachNewThread {
                // The transaction holds its changes, and is not in the queue.
                try? stack.write { transaction in
                    try person("Ann", in: transaction).age = 1
                    _ = try transaction.fetchCount(From<Person>())
                    isStuck.signal()
                    _ = isOver.wait(timeout: .now() + 60)
                }
                hasEnded.withLock { $0 = true }
            }
            isStuck.wait()
            let change: @Sendable (WriteTransaction) throws -> Void = { transaction in
                try person("Ann", in: transaction).age = 2
                _ = try transaction.fetchCount(From<Person>())
            }
            check.throwing(.timeout, "of a task") { try Waiting.run { try await stack.perform(timeout: .milliseconds(100), change) } }
            check.throwing(.timeout, "of the caller") { try stack.perform(timeout: .milliseconds(100), synchronous: change) }
            check.throwing(.timeout, "of a detached commit") { try work.commit(timeout: .milliseconds(100)) }
            // Transactions of a stack wait no longer than half a minute, after which a cancelled one ends too; a session waits as long as its options say.
            let limit = WorkLimit(), refusal = SharedValue<StorageError.Code?>(nil), store = stack.storages[0]
            Thread.detachNewThread {
                do { try store.beginWrite(WriteOptions(timeout: 600, isExclusive: true, limit: limit)).end() } catch { refusal.set(error) }
            }
            Thread.sleep(forTimeInterval: 0.2)
            limit.cancel()
            check.isTrue(Waiting.until { refusal.withLock { $0 } != nil }, "a session that is cancelled ends while the writer goes on")
            check.equal(refusal.withLock { $0 }, .cancelled, "why the session ends")
            let code = SharedValue<StorageError.Code?>(nil),
                task = Waiting.start {
                    do { try await stack.perform(change) } catch { code.set(error) }
                }
            check.isTrue(Waiting.until { stack.workers.writes.runningCount == 1 }, "a task waits in the store")
            // The task has begun, and reaches its wait shortly afterwards.
            Thread.sleep(forTimeInterval: 0.2)
            task.cancel()
            check.isTrue(Waiting.until { code.withLock { $0 } != nil }, "it ends while the writer continues")
            check.equal(code.withLock { $0 }, .cancelled, "why")
            check.isTrue(!hasEnded.withLock { $0 }, "the writer continues without a pause")
            isOver.signal()
            check.isTrue(Waiting.until { hasEnded.withLock { $0 } }, "the writer ends")
            check.equal(try stack.fetchAll(From<Person>()).map(\.age), [1], "age")
        },
    ]

    private static let reentrancy: [ConformanceCase] = [
        .graph("T057.what-would-wait-for-itself-is-refused", "W10") { stack, check in
            try stack.add("Ann")
            let work = stack.beginUnsafe(), ann = try person("Ann", in: work), store = stack.storages[0]
            ann.age = 7
            try stack.write { transaction in
                try person("Ann", in: transaction).name = "Anna"
                _ = try transaction.fetchCount(From<Person>())
                check.throwing(.reentrantCall, "a detached commit") { try work.commit() }
                check.throwing(.reentrantCall, "keys for a detached transaction") { _ = try work.create(Person.self) }
                check.throwing(.reentrantCall, "another transaction") { try stack.perform(synchronous: { _ in }) }
                check.throwing(.reentrantCall, "forgetting peers") { try stack.forgetPeers(of: store) }
                check.throwing(.reentrantCall, "a removed store") { try stack.removeStorage(store) }
                check.throwing(.reentrantCall, "an added store") { try stack.addStorageAndWait(store) }
                check.throwing(.reentrantCall, "a migration") { _ = try stack.upgradeStorageIfNeeded(store) }
                check.throwing(.reentrantCall, "a repair") { _ = try stack.checkReferences(repairing: true) }
                if store.capabilities.contains(.history) {
                    check.throwing(.reentrantCall, "a purge") { _ = try stack.purgeHistory(.olderThan(.seconds(60))) }
                    check.throwing(.reentrantCall, "a consumer") { _ = try stack.historyConsumer("c").register(from: .now) }
                }
                let code = SharedValue<StorageError.Code?>(nil)
                stack.perform(asynchronous: { _ in }, completion: { if case .failure(let error) = $0 { code.set(error) } })
                check.isTrue(Waiting.until { code.withLock { $0 } != nil }, "its completion is called")
                check.equal(code.withLock { $0 }, .reentrantCall, "a transaction with a completion")
                check.equal(try stack.names(), ["Ann"], "objects that a fetch of the stack returns")
            }
            ann.name = "Anna"
            try work.rollback()
            ann.age = 8
            try work.commit()
            check.equal(try stack.fetchAll(From<Person>()).map(\.age), [8], "after the end")
        },
        .graph("T058.a-task-begun-inside-a-closure", "W10") { stack, check in
            let late = DispatchSemaphore(value: 0), lateCode = SharedValue<StorageError.Code?>(nil), lateEnds = SharedValue(false)
            let meanwhile = SharedValue<StorageError.Code?>(nil), hasEnded = SharedValue(false)
            try stack.write { transaction in
                try transaction.create(Person.self).name = "Ann"
                Waiting.start {
                    do { try await stack.perform { try $0.create(Person.self).name = "Bob" } } catch { meanwhile.set(error) }
                    hasEnded.withLock { $0 = true }
                }
                Waiting.start {
                    late.wait()
                    do { try await stack.perform { try $0.create(Person.self).name = "Cid" } } catch { lateCode.set(error) }
                    lateEnds.withLock { $0 = true }
                }
                check.isTrue(Waiting.until { stack.workers.writes.isBusy }, "the first task asks while the closure runs")
            }
            check.isTrue(Waiting.until { hasEnded.withLock { $0 } }, "the first task ends")
            check.equal(meanwhile.withLock { $0 }, nil, "it waited for its turn")
            late.signal()
            check.isTrue(Waiting.until { lateEnds.withLock { $0 } }, "the second task ends")
            check.equal(lateCode.withLock { $0 }, nil, "it no longer affects the closure")
            check.equal(try stack.names(), ["Ann", "Bob", "Cid"], "names")
        },
    ]
}

/// A transaction of a stack that takes all slots of its queue until it is ended, or for a minute.
private final class HeldWriter: Sendable {
    private let stack: DataStack
    private let end_ = DispatchSemaphore(value: 0)
    private let count: Int

    init(_ stack: DataStack) throws {
        self.stack = stack
        count = stack.workers.writes.width
        let begun = DispatchSemaphore(value: 0), end = end_
        for index in 0..<count {
            // The first one is a transaction that later ones have to wait for, the others are tasks that take the remaining slots.
            if index == 0 {
                stack.perform(asynchronous: { _ in Self.hold(begun, end) }, completion: { _ in })
            } else {
                Waiting.start { try? await stack.perform { _ in Self.hold(begun, end) } }
            }
            begun.wait()
        }
    }

    @Sendable private static func hold(_ begun: DispatchSemaphore, _ end: DispatchSemaphore) {
        begun.signal()
        _ = end.wait(timeout: .now() + 60)
    }

    func end() { for _ in 0..<count { end_.signal() } }
}

extension WorkQueue {
    /// Whether any work is waiting or running.
    fileprivate var isBusy: Bool { waitingCount + runningCount > 0 }
}

extension SharedValue<StorageError.Code?> {
    /// Stores the code of an error.
    fileprivate func set(_ error: any Error) { withLock { $0 = (error as? StorageError)?.code ?? .inputOutput } }
}
