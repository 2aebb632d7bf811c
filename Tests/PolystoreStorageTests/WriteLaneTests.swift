import Foundation
import PolystoreStorage
import Synchronization
import Testing

@Suite struct WriteLaneTests {
    private let lane = WriteLane()

    private func failure(timeout: TimeInterval, _ limit: WorkLimit?) -> StorageError.Code? {
        #expect(throws: StorageError.self) { try lane.enter(timeout: timeout, limit: limit) }?.code
    }

    @Test func theTimeoutEndsTheWait() throws {
        try lane.enter(timeout: 0)
        #expect(failure(timeout: 0.01, nil) == .busy)
        lane.leave()
        try lane.enter(timeout: 0)
    }

    @Test func theDeadlineEndsTheWait() throws {
        try lane.enter(timeout: 0)
        #expect(failure(timeout: 600, WorkLimit(timeout: .milliseconds(20))) == .timeout)
    }

    @Test func anEndedLimitTakesNoFreeWriteLock() throws {
        let limit = WorkLimit()
        limit.cancel()
        #expect(failure(timeout: 600, limit) == .cancelled)
        try lane.enter(timeout: 0)
    }

    @Test func aCancelledWriterLeavesTheLineAtOnce() throws {
        try lane.enter(timeout: 0)
        let limit = WorkLimit(), ended = DispatchSemaphore(value: 0), code = Mutex<StorageError.Code?>(nil)
        Thread.detachNewThread { [lane] in
            do throws(StorageError) { try lane.enter(timeout: 600, limit: limit) } catch { code.withLock { $0 = error.code } }
            ended.signal()
        }
        Thread.sleep(forTimeInterval: 0.02)
        limit.cancel()
        #expect(ended.wait(timeout: .now() + 60) == .success)
        #expect(code.withLock { $0 } == .cancelled)
        // The next in line is not the one who left.
        lane.leave()
        try lane.enter(timeout: 0)
    }

    @Test func aWriterOfAClosedStoreLeavesTheLineAtOnce() throws {
        try lane.enter(timeout: 0)
        let isClosed = Atomic(false), ended = DispatchSemaphore(value: 0), codes = Mutex<[StorageError.Code?]>([])
        func enter() {
            do throws(StorageError) {
                _ = try lane.enter(WriteOptions(timeout: 600)) { isClosed.load(ordering: .sequentiallyConsistent) }
            } catch { codes.withLock { $0.append(error.code) } }
        }
        for _ in 0..<3 {
            Thread.detachNewThread { [lane] in
                do throws(StorageError) {
                    _ = try lane.enter(WriteOptions(timeout: 600)) { isClosed.load(ordering: .sequentiallyConsistent) }
                } catch { codes.withLock { $0.append(error.code) } }
                ended.signal()
            }
        }
        Thread.sleep(forTimeInterval: 0.05)
        isClosed.store(true, ordering: .sequentiallyConsistent)
        lane.dismiss()
        for _ in 0..<3 { #expect(ended.wait(timeout: .now() + 60) == .success) }
        // One that comes later does not begin to wait, and does not keep the lock if it is free.
        enter()
        lane.leave()
        enter()
        #expect(codes.withLock { $0 } == Array(repeating: .storeClosed, count: 5))
        try lane.enter(timeout: 0)
    }

    @Test func aRequestOfAClosedStoreEndsAlsoIfTheStoreIsOpenedAgain() throws {
        try lane.enter(timeout: 0)
        // The store is closed when the request arrives, and open when it gives up.
        let questions = Atomic(0)
        let error = #expect(throws: StorageError.self) {
            try lane.enter(timeout: 600) { questions.add(1, ordering: .relaxed).oldValue == 0 }
        }
        #expect(error?.code == .storeClosed)
        // A request that waits does not see that the store was closed in between.
        let ended = DispatchSemaphore(value: 0), code = Mutex<StorageError.Code?>(nil)
        Thread.detachNewThread { [lane] in
            do throws(StorageError) { try lane.enter(timeout: 600) } catch { code.withLock { $0 = error.code } }
            ended.signal()
        }
        Thread.sleep(forTimeInterval: 0.05)
        lane.dismiss()
        #expect(ended.wait(timeout: .now() + 60) == .success)
        #expect(code.withLock { $0 } == .storeClosed)
        lane.leave()
        try lane.enter(timeout: 0)
    }

    /// Each writer ends at a moment of its own, by a timeout, a cancellation or with the lane, which only one has at a time.
    @Test func theWriteLockIsNeitherLostNorGrantedTwice() {
        let inside = Atomic(0), entered = Atomic(0), lane = lane
        DispatchQueue.concurrentPerform(iterations: 8) { writer in
            for round in 0..<300 {
                let limit = WorkLimit(timeout: round % 3 == 0 ? .microseconds(Int.random(in: 1...2_000)) : nil)
                if round % 3 == 1 { DispatchQueue.global().asyncAfter(deadline: .now() + 0.0005) { limit.cancel() } }
                guard (try? lane.enter(timeout: round % 3 == 2 ? Double.random(in: 0...0.002) : 600, limit: limit)) != nil else { continue }
                #expect(inside.add(1, ordering: .sequentiallyConsistent).newValue == 1)
                entered.add(1, ordering: .relaxed)
                _ = inside.subtract(1, ordering: .sequentiallyConsistent)
                lane.leave()
            }
        }
        #expect(entered.load(ordering: .relaxed) > 0)
        #expect(throws: Never.self) { try lane.enter(timeout: 0) }
    }
}
