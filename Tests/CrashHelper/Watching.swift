import Foundation
import Polystore
import PolystoreCatalog
import RawSessions
import Synchronization

/// A program that shares a store with others and is told of their changes: polystore-crash --peer URL. It does what each line that it reads
/// says, and writes a line for each signal: `NAME history` or `NAME unknown`.
final class Watching: Sendable {
    static let schema = Result {
        try Schema(
            version: "V1",
            entities: [
                Entity(
                    "Note", attributes: [Attribute("number", .int64)],
                    relationships: [Relationship("others", to: "Note", .toMany, inverse: "back")]
                        + [Relationship("back", to: "Note", .toMany, inverse: "others")])
            ])
    }

    private let url: String
    private let watches = Mutex<[String: any ChangeWatch]>([:])

    init(url: String) { self.url = url }

    func store() throws -> any StorageInterface { try StoreCatalog.standard.store(at: StoreURL(url), configuration: nil) }

    private static let output = Mutex(FileHandle.standardOutput)
    static func say(_ line: String) { output.withLock { $0.write(Data("\(line)\n".utf8)) } }

    func run() throws {
        let store = try store()
        _ = try store.open(OpenRequest(schema: Self.schema.get()))
        Self.say("ready")
        while let line = readLine() {
            let words = line.split(separator: " ").map(String.init)
            do {
                try act(words[0], words.count > 1 ? words[1] : "", store)
                Self.say("\(line): done")
            } catch let error as StorageError {
                Self.say("\(line): \(error.code)")
            }
        }
        watches.withLock { $0 = [:] }
        try store.close()
    }

    private func act(_ verb: String, _ name: String, _ store: any StorageInterface) throws {
        switch verb {
        case "watch":
            let watch = try store.watchChanges { signal in Self.say("\(name) \(signal)") }
            watches.withLock { $0[name] = watch }
        case "cancel":
            let watch = watches.withLock { $0.removeValue(forKey: name) }
            watch?.cancel()
        case "sleep": Thread.sleep(forTimeInterval: (Double(name) ?? 0) / 1000)
        default: try Self.write(verb, store)
        }
    }

    /// One transaction of a kind.
    static func write(_ verb: String, _ store: any StorageInterface) throws {
        let writer = try store.beginWrite(WriteOptions())
        defer { writer.end() }
        switch verb {
        case "insert", "insert-then-load": try insert(writer)
        case "nothing": try insert(writer, count: 0)
        case "undone":
            let mark = try writer.savepoint()
            try insert(writer)
            try writer.rollback(to: mark)
        case "note": try writer.setNote("note", Data("\(UUID())".utf8))
        case "keys": _ = try writer.reserveKeys(0, count: 10)
        case "load": try load(writer)
        case "links": try writer.load(link: 0, [LinkPair(owner: 1, member: 1)])
        case "execute": _ = try writer.execute("UPDATE \"Note\" SET \"number\" = 7")
        default: throw StorageError(.unsupported, "no such work")
        }
        if verb == "insert-then-load" { try load(writer) }
        _ = try writer.commit(CommitRecord(author: "peer"))
    }

    static func insert(_ writer: any StorageWriter, count: Int = 1) throws {
        guard count > 0 else { return try writer.apply(ChangeSet()) }
        let keys = Array(try writer.reserveKeys(0, count: count))
        let rows = RowSource(count: keys.count) { range, batch in
            for index in range { batch.appendRow(key: keys[index], version: 1, entity: 0, slots: 1)[0] = .int(keys[index]) }
        }
        try writer.apply(ChangeSet(entities: [EntityChanges(entity: 0, inserts: rows)]))
    }

    private static func load(_ writer: any StorageWriter) throws {
        let key = try writer.reserveKeys(0, count: 1).lowerBound, rows = RowBatch(capacity: 1)
        rows.appendRow(key: key, version: 1, entity: 0, slots: 1)[0] = .int(key)
        try writer.load(0, rows)
    }
}

/// How long it takes from a commit in one process until another is told, and what waiting costs: polystore-crash --latency URL COUNT for a watch, --latency-observed
/// URL COUNT for an observer.
final class Latency: Sendable {
    private let watching: Watching
    private let url: String
    private let count: Int

    init(url: String, count: Int) {
        self.url = url
        self.count = count
        watching = Watching(url: url)
    }

    private static func now() -> UInt64 {
        // The same for all processes.
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// The process that commits: it says when each commit began and when it was done.
    func commit() throws {
        let store = try watching.store()
        _ = try store.open(OpenRequest(schema: Watching.schema.get()))
        for _ in 0..<count {
            let writer = try store.beginWrite(WriteOptions())
            try Watching.insert(writer)
            let begun = Self.now()
            _ = try writer.commit(CommitRecord(author: "peer"))
            Watching.say("\(begun) \(Self.now())")
            Thread.sleep(forTimeInterval: Double.random(in: 0.004...0.008))
        }
        try store.close()
    }

    /// Until a watch over the store is told.
    func measure() throws {
        let store = try watching.store()
        _ = try store.open(OpenRequest(schema: Watching.schema.get()))
        let signals = Mutex<[UInt64]>([])
        let watch = try store.watchChanges { _ in signals.withLock { $0.append(Self.now()) } }
        let commits = try othersCommits(), times = signals.withLock { $0 }
        var delays: [Double] = [], next = times.startIndex
        for commit in commits {
            while next < times.endIndex, times[next] < commit.begun { next += 1 }
            if next < times.endIndex { delays.append(Self.milliseconds(from: commit.done, to: times[next])) }
        }
        Self.report(delays, of: commits.count)
        watch?.cancel()
        try store.erase()
    }

    /// Until an observer of a list has the object in a snapshot.
    func measureObserver() throws {
        let store = try watching.store(), stack = try DataStack(schema: Watching.schema.get())
        try stack.addStorageAndWait(store)
        let list = try stack.publishList(From<DynamicObject>(entity: "Note").orderBy(.ascending("number")))
        let seen = Mutex<[UInt64]>([])
        let task = Task {
            for await snapshot in list.snapshots {
                let now = Self.now()
                seen.withLock { $0 += Array(repeating: now, count: max(snapshot.count - $0.count, 0)) }
            }
        }
        let commits = try othersCommits(), times = seen.withLock { $0 }
        Self.report(zip(commits, times).map { Self.milliseconds(from: $0.done, to: $1) }, of: commits.count)
        task.cancel()
        try store.erase()
    }

    private static func milliseconds(from start: UInt64, to end: UInt64) -> Double { Double(max(end, start) - start) / 1e6 }

    /// Has another process commit, and gives the times when each of its commits began and was done.
    private func othersCommits() throws -> [(begun: UInt64, done: UInt64)] {
        let process = Process(), output = Pipe()
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
        process.arguments = ["--latency-commits", url, String(count)]
        process.standardOutput = output
        try process.run()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        Thread.sleep(forTimeInterval: 1.5)
        return text.split(separator: "\n").compactMap { line in
            let pair = line.split(separator: " ").compactMap { UInt64($0) }
            return pair.count == 2 ? (pair[0], pair[1]) : nil
        }
    }

    private static func report(_ delays: [Double], of commits: Int) {
        let delays = delays.sorted()
        func at(_ share: Double) -> String {
            delays.isEmpty ? "-" : String(format: "%.2f ms", delays[min(Int(Double(delays.count) * share), delays.count - 1)])
        }
        print("\(commits) commits: median \(at(0.5)), p99 \(at(0.99)), most \(at(1)); \(commits - delays.count) not told")
        let before = processorTime()
        Thread.sleep(forTimeInterval: 20)
        print(String(format: "idle: %.3f %% of a core over 20 s", (processorTime() - before) / 20 * 100))
    }

    /// How long commits of some rows take, by some writers at once: polystore-crash --commit-times URL COUNT ROWS WRITERS.
    func commitTimes(rows: Int, writers: Int) throws {
        let store = try watching.store()
        _ = try store.open(OpenRequest(schema: Watching.schema.get()))
        let times = Mutex<[Double]>([]), start = Self.now()
        DispatchQueue.concurrentPerform(iterations: writers) { _ in
            for _ in 0..<count {
                let begun = Self.now()
                guard let writer = try? store.beginWrite(WriteOptions()) else { continue }
                try? Watching.insert(writer, count: rows)
                if (try? writer.commit(CommitRecord(author: "peer"))) != nil {
                    let time = Double(Self.now() - begun) / 1e6
                    times.withLock { $0.append(time) }
                }
                writer.end()
            }
        }
        let sorted = times.withLock { $0.sorted() }, seconds = Double(Self.now() - start) / 1e9
        print(String(format: "median %.3f ms, %.0f commits a second", sorted[sorted.count / 2], Double(sorted.count) / seconds))
        try store.close()
    }

    private static func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
