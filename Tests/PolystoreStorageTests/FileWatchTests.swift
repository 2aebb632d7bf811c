import Foundation
import PolystoreStorage
import Synchronization
import Testing

/// Counts what happened, and waits for it.
private final class Counter: Sendable {
    private let count = Mutex(0)
    var value: Int { count.withLock { $0 } }
    func add() { count.withLock { $0 += 1 } }

    /// Whether it reaches a number within so many seconds.
    func reaches(_ number: Int, within seconds: Double = 5) -> Bool {
        let end = Date(timeIntervalSinceNow: seconds)
        while value < number, Date() < end { Thread.sleep(forTimeInterval: 0.001) }
        return value >= number
    }

    /// Whether it stays as it is for so many seconds.
    func rests(for seconds: Double) -> Bool {
        let before = value
        Thread.sleep(forTimeInterval: seconds)
        return value == before
    }
}

@Suite(.serialized) struct FileWatchTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("polystore-files-\(UUID().uuidString)").path

    private func withFolder(_ body: () throws -> Void) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try body()
    }

    private func append(_ path: String) throws {
        let file = try #require(FileHandle(forWritingAtPath: path))
        try file.seekToEnd()
        try file.write(contentsOf: Data([1]))
        try file.close()
    }

    private func make(_ path: String) { #expect(FileManager.default.createFile(atPath: path, contents: Data([0]))) }

    /// Waits until the looks after the last change are over: about a second of them.
    private func settle(_ looks: Counter) { while !looks.rests(for: 0.6) {} }

    @Test func aWriteIsSeenAtOnce() throws {
        try withFolder {
            let path = folder + "/a", looks = Counter()
            make(path)
            let watch = FileWatch([path]) { looks.add() }
            defer { watch.stop() }
            settle(looks)
            for _ in 0..<3 {
                let before = looks.value
                try append(path)
                // Far sooner than the slow look comes.
                #expect(looks.reaches(before + 1, within: 0.3))
                settle(looks)
            }
        }
    }

    @Test func filesThatAreCreatedLaterOrAgainAreWatched() throws {
        try withFolder {
            let path = folder + "/a", log = folder + "/a-wal", looks = Counter()
            make(path)
            let watch = FileWatch([path, log]) { looks.add() }
            defer { watch.stop() }
            for _ in 0..<2 {
                make(log)
                settle(looks)
                let before = looks.value
                try append(log)
                #expect(looks.reaches(before + 1, within: 0.3))
                try FileManager.default.removeItem(atPath: log)
                settle(looks)
            }
        }
    }

    @Test func writesToOtherFilesAreNotReported() throws {
        try withFolder {
            let path = folder + "/a", other = folder + "/b", looks = Counter()
            make(path)
            make(other)
            let watch = FileWatch([path]) { looks.add() }
            defer { watch.stop() }
            settle(looks)
            let before = looks.value
            for _ in 0..<100 { try append(other) }
            #expect(looks.value - before <= 1)
        }
    }

    @Test func anIdleWatchPollsOnceASecond() throws {
        try withFolder {
            let path = folder + "/a", looks = Counter()
            make(path)
            let watch = FileWatch([path]) { looks.add() }
            defer { watch.stop() }
            settle(looks)
            let before = looks.value
            Thread.sleep(forTimeInterval: 3)
            #expect((2...4).contains(looks.value - before))
            #expect(watch.looks == looks.value)
        }
    }

    @Test func manyWritesCauseFewPollsAndTheLastIsReported() throws {
        try withFolder {
            let path = folder + "/a", sizes = Mutex<[Int]>([])
            make(path)
            let watch = FileWatch([path]) {
                let size = (try? FileManager.default.attributesOfItem(atPath: path)[.size]) as? Int ?? 0
                sizes.withLock { $0.append(size) }
            }
            defer { watch.stop() }
            let start = Date()
            for _ in 0..<2000 { try append(path) }
            let milliseconds = Int(Date().timeIntervalSince(start) * 1000)
            let end = Date(timeIntervalSinceNow: 2)
            while sizes.withLock({ $0.last != 2001 }), Date() < end { Thread.sleep(forTimeInterval: 0.001) }
            #expect(sizes.withLock { $0.last } == 2001)
            #expect(sizes.withLock { $0.count } <= milliseconds + 50)
        }
    }

    @Test func aLinkIsResolvedToItsFile() throws {
        try withFolder {
            let path = folder + "/a", link = folder + "/link", looks = Counter()
            make(path)
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "a")
            let real = FileWatch.realPath(link)
            #expect(real == FileWatch.realPath(path))
            let watch = FileWatch([real]) { looks.add() }
            defer { watch.stop() }
            settle(looks)
            let before = looks.value
            try append(path)
            #expect(looks.reaches(before + 1, within: 0.3))
        }
    }

    @Test func aRelativePathBeginsAtTheRoot() throws {
        #expect(FileWatch.realPath("Package.swift").hasPrefix("/"))
        #expect(FileWatch.realPath("a-file-that-is-not-there").hasPrefix("/"))
    }

    @Test func nothingIsCalledAfterStop() throws {
        try withFolder {
            let path = folder + "/a", looks = Counter()
            make(path)
            for _ in 0..<50 {
                let watch = FileWatch([path]) { looks.add() }
                try append(path)
                watch.stop()
                let before = looks.value
                try append(path)
                #expect(looks.value == before)
            }
            #expect(looks.rests(for: 0.2))
        }
    }

    @Test func aMissingFolderIsPolledSlowly() throws {
        let looks = Counter()
        let watch = FileWatch(["/nowhere/\(UUID().uuidString)/a"]) { looks.add() }
        defer { watch.stop() }
        #expect(looks.reaches(12, within: 10))
    }

    // MARK: Watches

    @Test func watchesAreIndependent() throws {
        let first = Counter(), second = Counter(), ends = Counter()
        let watches = ChangeWatches { ends.add() }
        let one = watches.add { _ in first.add() }, two = watches.add { _ in second.add() }
        watches.signal(.history)
        one.cancel()
        one.cancel()
        watches.signal(.unknown)
        #expect(first.value == 1)
        #expect(second.value == 2)
        #expect(ends.value == 0)
        two.cancel()
        #expect(ends.value == 1)
        #expect(watches.isEmpty)
    }

    @Test func aReleasedWatchEnds() throws {
        let calls = Counter(), ends = Counter()
        let watches = ChangeWatches { ends.add() }
        do { _ = watches.add { _ in calls.add() } }
        watches.signal(.history)
        #expect(calls.value == 0)
        #expect(ends.value == 1)
    }

    @Test func aHandlerMayCancelItsWatch() throws {
        let calls = Counter(), held = Mutex<(any ChangeWatch)?>(nil)
        let watches = ChangeWatches {}
        let watch = watches.add { _ in
            calls.add()
            held.withLock({ $0 })?.cancel()
        }
        held.withLock { $0 = watch }
        watches.signal(.history)
        watches.signal(.history)
        #expect(calls.value == 1)
    }

    @Test func cancellingWaitsForTheHandler() throws {
        let entered = DispatchSemaphore(value: 0), calls = Counter()
        let watches = ChangeWatches {}
        let watch = watches.add { _ in
            entered.signal()
            Thread.sleep(forTimeInterval: 0.2)
            calls.add()
        }
        let thread = Thread { watches.signal(.history) }
        thread.start()
        entered.wait()
        watch.cancel()
        #expect(calls.value == 1)
    }
}
