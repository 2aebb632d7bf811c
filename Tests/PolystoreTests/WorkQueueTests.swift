import Foundation
import PolystoreStorage
import Synchronization
import TestStores
import Testing

@testable import PolystoreObjects

@Suite struct WorkQueueTests {
    /// Waits until something holds; false when it does not within half a minute.
    private func until(_ holds: () -> Bool) async -> Bool {
        for _ in 0..<30_000 {
            if holds() { return true }
            try? await Task.sleep(for: .milliseconds(1))
        }
        return false
    }

    /// Counts threads that have begun and ended.
    private final class Counted: Sendable {
        let begun = Atomic(0)
        let ended = Atomic(0)

        func threads(patience: Double) -> WorkerThreads {
            WorkerThreads(patience: patience) { body in
                self.begun.add(1, ordering: .relaxed)
                return WorkerThreads.startThread {
                    body()
                    self.ended.add(1, ordering: .relaxed)
                }
            }
        }
    }

    @Test func elementsAreTakenInOrderWithoutRemovedOnes() {
        var queue = NumberedQueue<String>()
        let numbers = ["a", "b", "c", "d"].map { queue.append($0) }
        #expect(queue.remove(numbers[0]) == "a" && queue.remove(numbers[0]) == nil)
        #expect(queue.remove(numbers[2]) == "c")
        #expect(queue.peek() == "b" && queue.count == 2)
        #expect(queue.popFirst() == "b" && queue.popFirst() == "d")
        #expect(queue.popFirst() == nil && queue.count == 0)
        _ = queue.append("e")
        #expect(queue.popFirst() == "e")
    }

    @Test func threadsThatAreIdleForLongEnd() async throws {
        let counted = Counted(), threads = counted.threads(patience: 0.02), done = Atomic(0)
        for _ in 0..<8 { try threads.run { done.add(1, ordering: .relaxed) } }
        #expect(await until { done.load(ordering: .relaxed) == 8 && threads.count == 0 })
        #expect(await until { counted.ended.load(ordering: .relaxed) == counted.begun.load(ordering: .relaxed) })
        // Others are started when there is work again.
        try threads.run { done.add(1, ordering: .relaxed) }
        #expect(await until { done.load(ordering: .relaxed) == 9 })
    }

    @Test func threadsEndWithTheirOwner() async throws {
        let counted = Counted(), held = DispatchSemaphore(value: 0)
        var threads: WorkerThreads? = counted.threads(patience: 1_000)
        for _ in 0..<4 { try threads?.run { held.wait() } }
        for _ in 0..<3 { held.signal() }
        threads = nil
        held.signal()
        #expect(await until { counted.ended.load(ordering: .relaxed) == 4 })
        #expect(counted.begun.load(ordering: .relaxed) == 4)
    }

    @Test func aThreadIsUsedAgain() async throws {
        let counted = Counted(), threads = counted.threads(patience: 1_000)
        for _ in 0..<100 {
            let done = DispatchSemaphore(value: 0)
            try threads.run { done.signal() }
            done.wait()
        }
        // The next work may come before a thread that has done its own is idle.
        #expect(counted.begun.load(ordering: .relaxed) < 50)
    }

    @Test func aSystemWithoutThreadsIsAnError() async throws {
        let isEmpty = Atomic(true),
            threads = WorkerThreads { body in
                isEmpty.load(ordering: .relaxed) ? false : WorkerThreads.startThread(body)
            }
        let queue = WorkQueue(threads, width: 1)
        let refused = await queue.result(of: { () throws(StorageError) in 1 })
        #expect(throws: StorageError.self) { try refused.get() }
        if case .failure(let error) = refused { #expect(error.code == .busy && error.isRetryable) }
        #expect(threads.count == 0 && queue.runningCount == 0)
        isEmpty.store(false, ordering: .relaxed)
        #expect(try await queue.result(of: { () throws(StorageError) in 2 }).get() == 2)
    }

    @Test func noMoreThanTheWidthOfTheQueueRun() async throws {
        let queue = WorkQueue(WorkerThreads(), width: 3), running = Mutex((now: 0, most: 0))
        let work: @Sendable (StorageError?, WorkTurn?) throws -> Void = { _, _ in
            running.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
            usleep(100)
            running.withLock { $0.now -= 1 }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<200 { group.addTask { try await queue.run(WorkLimit(), work) } }
            try await group.waitForAll()
        }
        #expect(running.withLock { $0.most } <= 3)
        #expect(await until { queue.doneCount == 200 })
    }

    @Test func serialWorkIsAloneAmongItsKind() async throws {
        let queue = WorkQueue(WorkerThreads(), width: 4), serial = Mutex((now: 0, most: 0, order: [Int]())), done = Atomic(0)
        for number in 0..<300 {
            let isSerial = number % 3 == 0
            queue.submit(WorkLimit(), isSerial: isSerial) { _, _ in
                if isSerial { serial.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1), $0.order + [number]) } }
                usleep(50)
                if isSerial { serial.withLock { $0.now -= 1 } }
                done.add(1, ordering: .relaxed)
            }
        }
        #expect(await until { done.load(ordering: .relaxed) == 300 })
        #expect(serial.withLock { $0.most } == 1)
        #expect(serial.withLock { $0.order } == Array(stride(from: 0, to: 300, by: 3)))
    }

    @Test func workThatLeavesItsTurnLetsTheNextBegin() async throws {
        let queue = WorkQueue(WorkerThreads(), width: 1), held = DispatchSemaphore(value: 0), order = Mutex<[Int]>([])
        // The bound of a queue is 64; one more item keeps its turn.
        for number in 0..<70 {
            queue.submit(WorkLimit()) { _, turn in
                order.withLock { $0.append(number) }
                turn?.leave()
                turn?.leave()
                held.wait()
            }
        }
        #expect(await until { queue.runningCount == 65 })
        #expect(queue.waitingCount == 5 && order.withLock { $0 } == Array(0..<65))
        for _ in 0..<70 { held.signal() }
        #expect(await until { queue.doneCount == 70 })
        #expect(queue.runningCount == 0 && order.withLock { $0 } == Array(0..<70))
    }

    @Test func serialWorkThatLeavesItsTurnIsStillAloneAmongItsKind() async throws {
        let queue = WorkQueue(WorkerThreads(), width: 1), held = DispatchSemaphore(value: 0), order = Mutex<[String]>([])
        for name in ["first", "second"] {
            queue.submit(WorkLimit(), isSerial: true) { _, turn in
                order.withLock { $0.append(name) }
                turn?.leave()
                if name == "first" { held.wait() }
            }
            if name == "first" { #expect(await until { order.withLock { $0 } == ["first"] }) }
        }
        #expect(queue.waitingCount == 1)
        held.signal()
        #expect(await until { queue.doneCount == 2 })
        #expect(order.withLock { $0 } == ["first", "second"])
    }

    @Test func workWhoseLimitEndsLeavesAtOnce() async throws {
        let queue = WorkQueue(WorkerThreads(), width: 1), held = DispatchSemaphore(value: 0)
        queue.submit(WorkLimit()) { _, _ in held.wait() }
        let tasks = (0..<1_000).map { _ in
            Task { try await queue.run(WorkLimit()) { refusal, _ in if let refusal { throw refusal } } }
        }
        #expect(await until { queue.waitingCount == 1_000 })
        for task in tasks { task.cancel() }
        for task in tasks { await #expect { try await task.value } throws: { ($0 as? StorageError)?.code == .cancelled } }
        #expect(queue.waitingCount == 0 && queue.runningCount == 1)
        await #expect {
            try await queue.run(WorkLimit(timeout: .milliseconds(10))) { refusal, _ in if let refusal { throw refusal } }
        } throws: {
            ($0 as? StorageError)?.code == .timeout
        }
        held.signal()
        #expect(await until { queue.runningCount == 0 })
        #expect(queue.doneCount == 1)
    }

    @Test func aClosureThatWaitsForItsOwnTaskDoesNotBlockForever() async throws {
        let stack = try TestStore.memory.stack(), queue = WorkQueue(WorkerThreads(), width: 1, patience: 0.05)
        let code = Mutex<StorageError.Code?>(nil)
        queue.submit(WorkLimit()) { _, _ in
            let done = DispatchSemaphore(value: 0)
            try? RunningTransaction.run(stack.core) {
                queue.submit(WorkLimit(), inside: RunningTransaction.around(stack.core)) { refusal, _ in
                    code.withLock { $0 = refusal?.code }
                    done.signal()
                }
                done.wait()
            }
        }
        #expect(await until { code.withLock { $0 } != nil })
        #expect(code.withLock { $0 } == .reentrantCall)
    }

    @Test func aReleasedStackReleasesItsWorkers() async throws {
        weak var core: StackCore?
        weak var workers: StackWorkers?
        do {
            let stack = try TestStore.memory.stack()
            (core, workers) = (stack.core, stack.core.workers)
            for _ in 0..<10 { try await stack.perform { try $0.create(Person.self).name = "Ann" } }
            #expect(try await stack.read { try $0.fetchCount(From<Person>()) } == 10)
        }
        #expect(await until { core == nil && workers == nil })
    }

    @Test func completionsRunOnTheSpecifiedQueue() async throws {
        let stack = try TestStore.memory.stack(), key = DispatchSpecificKey<Int>(), queue = DispatchQueue(label: "named")
        queue.setSpecific(key: key, value: 7)
        let found = await withCheckedContinuation { continuation in
            stack.perform(
                asynchronous: { _ = try $0.create(Person.self) }, on: queue,
                completion: { _ in continuation.resume(returning: DispatchQueue.getSpecific(key: key)) })
        }
        #expect(found == 7)
        let byDefault = await withCheckedContinuation { continuation in
            stack.perform(
                asynchronous: { _ = try $0.create(Person.self) },
                completion: { _ in continuation.resume(returning: DispatchQueue.getSpecific(key: key)) })
        }
        #expect(byDefault == nil)
    }

    /// A completion may wait for another transaction of the stack: it holds no turn of the queue.
    @Test(arguments: TestStore.all) func aCompletionMayUseTheStack(_ store: TestStore) async throws {
        let stack = try store.stack()
        let count: Int? = await withCheckedContinuation { continuation in
            stack.perform(
                asynchronous: { _ = try $0.create(Person.self) },
                completion: { _ in
                    let done = DispatchSemaphore(value: 0)
                    stack.perform(
                        asynchronous: { _ = try $0.create(Person.self) }, on: .global(), completion: { _ in done.signal() })
                    done.wait()
                    continuation.resume(returning: try? stack.perform(synchronous: { try $0.fetchCount(From<Person>()) }))
                })
        }
        #expect(count == 2)
    }

    @Test func workThatGetsNoThreadIsRefusedHoweverMuchOfItWaits() {
        let queue = WorkQueue(WorkerThreads(startThread: { _ in false }), width: 0), refused = Atomic(0)
        for _ in 0..<200_000 {
            queue.submit(WorkLimit()) { refusal, _ in if refusal?.code == .busy { refused.add(1, ordering: .relaxed) } }
        }
        queue.setWidth { 1 }
        #expect(refused.load(ordering: .relaxed) == 200_000)
        #expect(queue.waitingCount == 0 && queue.runningCount == 0)
    }

    @Test func ofSeveralWidthsAtOnceTheNewestStays() {
        let queue = WorkQueue(WorkerThreads(), width: 1), count = Atomic(1)
        DispatchQueue.concurrentPerform(iterations: 20_000) { _ in
            count.add(1, ordering: .relaxed)
            queue.setWidth { count.load(ordering: .relaxed) }
        }
        #expect(queue.width == 20_001)
    }

    /// A stack whose stores all take several writers begins several transactions; one that has another store begins one at a time.
    @Test(arguments: TestStore.all) func aStackBeginsAsManyWritersAsItsStoresTake(_ store: TestStore) throws {
        let stack = try DataStack(Person.self, Animal.self, Dog.self)
        #expect(stack.workers.writes.width == 1)
        let first = store.make()
        try stack.addStorageAndWait(first)
        #expect(stack.workers.writes.width == (store == .postgresql ? 4 : 1))
        try stack.addStorageAndWait(TestStore.memory.make())
        #expect(stack.workers.writes.width == 1)
    }
}
