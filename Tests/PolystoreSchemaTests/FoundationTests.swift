import Foundation
import PolystoreFoundation
import Synchronization
import Testing

@testable import PolystoreSchema

/// What the library has of its own, because FoundationEssentials lacks it, gives what Foundation gives.
@Suite struct FoundationTests {
    @Test(arguments: ["", "shop.db", "a%20b", "%C3%A9", "%c3%a9", "%", "%4", "%zz", "%+1", "%FF", "é%41", "%25%32%35", "a+b", "%00"])
    func percentEscapesAreDecodedAsByFoundation(_ text: String) {
        #expect(PercentEncoding.decoded(text) == text.removingPercentEncoding)
    }

    @Test(arguments: ["", "/a/b.db", "a b?c#d", "50%", "é", "日本", "\u{1}\u{7f}", "a;b:c@d&e=f+g,h!i*j'k(l)m~n_o-p$q", "[\"<>\\^`{|}]"])
    func pathsAreEncodedAsByFoundation(_ text: String) {
        #expect(PercentEncoding.path(text) == text.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed))
    }

    @Test func namesWithNumbersAreOrderedAsByFoundation() {
        let names = [
            "Shop", "Shop 2", "Shop 10", "Shop 9", "Shop 1.10", "Shop 1.9", "Shop 1.9.1", "10", "9", "V2b", "V2", "V10", "V2a",
            "V99999999999999999998",
        ]
        for a in names {
            for b in names {
                #expect(
                    (NumberedName(name: a) < NumberedName(name: b)) == (a.compare(b, options: .numeric) == .orderedAscending), "\(a), \(b)")
            }
        }
        #expect(["Shop 02", "Shop 2", "Shop 1"].map(NumberedName.init).sorted().map(\.name) == ["Shop 1", "Shop 02", "Shop 2"])
    }

    private static let isLinux = FileManager.default.fileExists(atPath: "/proc/self/maps")

    @Test(.enabled(if: isLinux)) func filesOfUnknownSizeAreReadToTheirEnd() throws {
        let text = String(decoding: try RegularFile.data("/proc/self/maps"), as: UTF8.self)
        #expect(text.hasSuffix("\n") && text.contains("[stack]"))
        #expect(throws: RegularFile.Problem.tooLarge) { try RegularFile.data("/proc/self/maps", atMost: 10) }
        #expect(try RegularFile.head("/proc/self/maps", count: 10).count == 10)
        #expect(throws: RegularFile.Problem.folder) { try RegularFile.data("/proc") }
        #expect(throws: RegularFile.Problem.missing) { try RegularFile.head("/proc/none", count: 1) }
        #expect(throws: RegularFile.Problem.notRegular) { try RegularFile.data("/dev/null") }
    }

    @Test(.enabled(if: isLinux)) func aThreadHasItsNameAndItsIdentity() {
        let names = Mutex<[String]>([]), ended = DispatchSemaphore(value: 0), own = Threads.ID.current
        let isStarted = Threads.start(named: "polystore-files") {
            let name = (try? RegularFile.data("/proc/thread-self/comm")).map { String(decoding: $0, as: UTF8.self) } ?? ""
            names.withLock { $0 = [name, "\(Threads.ID.current == own)", "\(Threads.ID.current == Threads.ID.current)"] }
            ended.signal()
        }
        #expect(isStarted && ended.wait(timeout: .now() + 10) == .success)
        #expect(names.withLock { $0 } == ["polystore-files\n", "false", "true"])
    }

    @Test func aPauseLastsAsLongAsItsSeconds() {
        let start = ContinuousClock.now
        Threads.pause(seconds: 0.02)
        #expect(ContinuousClock.now - start >= .milliseconds(20))
        Threads.pause(seconds: -1)
        Threads.pause(seconds: .nan)
        #expect(ContinuousClock.now - start < .seconds(10))
    }

    /// Counts under a lock on several threads, taking it twice if it is recursive.
    @Test(arguments: [false, true]) func aLockIsHeldByOneThread(_ isRecursive: Bool) {
        final class Counter: @unchecked Sendable { var count = 0 }
        let lock = Lock(isRecursive: isRecursive), counter = Counter()
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            for _ in 0..<1000 {
                lock.lock()
                if isRecursive { lock.lock() }
                counter.count += 1
                if isRecursive { lock.unlock() }
                lock.unlock()
            }
        }
        #expect(counter.count == 4000)
    }
}
