import Foundation
import PolystoreStorage
import Synchronization
import Testing

@Suite struct WorkLimitTests {
    @Test func whatATimerEndsFindsThatTheLimitHasEnded() {
        let early = Mutex(0)
        for _ in 0..<100 {
            let limit = WorkLimit(timeout: .milliseconds(3)), hasEnded = DispatchSemaphore(value: 0)
            _ = limit.onEnd {
                // Neither waits for the lock under which this closure is called.
                var code: StorageError.Code?
                do throws(StorageError) { try limit.check() } catch { code = error.code }
                if !limit.hasEnded || code != .timeout { early.withLock { $0 += 1 } }
                hasEnded.signal()
            }
            hasEnded.wait()
        }
        #expect(early.withLock { $0 } == 0)
    }

    @Test func aLiftedLimitDoesNotEndWithItsTimer() throws {
        var timeout = Duration.milliseconds(5)
        while true {
            let begin = ContinuousClock.now, hasEnded = Mutex(false)
            let limit = WorkLimit(timeout: timeout)
            _ = limit.onEnd { hasEnded.withLock { $0 = true } }
            limit.lift()
            // On a busy machine the timer may have been first.
            if begin.duration(to: .now) >= timeout {
                timeout *= 2
                continue
            }
            Thread.sleep(forTimeInterval: 0.02 + Double(timeout.components.attoseconds) / 1e18)
            try limit.check()
            #expect(!limit.hasEnded && !hasEnded.withLock { $0 })
            return
        }
    }

    @Test func aCancelledLimitIsCancelled() {
        let limit = WorkLimit(timeout: .seconds(60))
        limit.cancel()
        #expect(limit.hasEnded)
        #expect(throws: StorageError.self) { try limit.check() }
    }
}
