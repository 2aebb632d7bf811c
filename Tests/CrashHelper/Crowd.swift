import Foundation
import Polystore
import PolystoreCatalog
import Synchronization

/// Writers and observers of one program among several on one store: polystore-crash --crowd URL COMMITS FIRST WRITERS TOTAL. Each writer adds
/// notes one by one, numbered from its million on; the observers follow until `TOTAL` notes are there. What they saw is written at the end.
struct Crowd: Sendable {
    let url: String
    /// The commits of each writer.
    let commits: Int
    /// The number of the first writer.
    let first: Int
    let writers: Int
    /// The notes that all programs write together.
    let total: Int

    private static let pause = 0.004
    private static let patience = 90.0

    func run() throws {
        let stack = try DataStack(schema: Schema(entities: [Entity("Note", attributes: [Attribute("number", .int64)])]))
        try stack.addStorageAndWait(StoreCatalog.standard.store(at: StoreURL(url), configuration: nil))
        let from = From<DynamicObject>(entity: "Note").orderBy(.ascending("number"))
        let list = try stack.publishList(from), feed = try stack.commits(.gap(after: 1_000_000))
        let fed = Mutex<(keys: [Int64], gaps: Int)>(([], 0))
        let task = Task {
            for await commit in feed {
                let keys = commit.changes.insertedObjectIDs(DynamicObject.self).map(\.key.key)
                fed.withLock { $0 = ($0.keys + keys, $0.gaps + (commit.unknownStores.isEmpty ? 0 : 1)) }
            }
        }
        Watching.say("ready")
        _ = readLine()
        let writing = DispatchGroup()
        for writer in first..<first + writers {
            DispatchQueue(label: "writer \(writer)").async(group: writing) { write(writer, stack) }
        }
        let end = Date(timeIntervalSinceNow: Self.patience)
        while fed.withLock({ $0.keys.count }) < total || list.snapshot.count < total || writing.wait(timeout: .now()) == .timedOut {
            if Date() > end { break }
            Thread.sleep(forTimeInterval: 0.01)
        }
        // What would be told twice comes soon after.
        Thread.sleep(forTimeInterval: 0.3)
        task.cancel()
        let (keys, gaps) = fed.withLock { $0 }
        let notes = try Self.all(from, stack)
        let numbers = Dictionary(uniqueKeysWithValues: notes.map { ($0.objectID.key.key, Self.number($0)) })
        var last: [Int64: Int64] = [:], isOrdered = true
        for key in keys {
            let number = numbers[key] ?? -1
            if let before = last[number / 1_000_000], before >= number { isOrdered = false }
            last[number / 1_000_000] = number
        }
        Watching.say("fed \(keys.count) of \(Set(keys).count) in order \(isOrdered)")
        Watching.say("listed \(list.snapshot.map(\.key.key) == notes.map(\.objectID.key.key)) \(notes.count)")
        Watching.say("gaps \(gaps)")
    }

    /// All notes. A session whose server was restarted under it says so, once.
    private static func all(_ from: From<DynamicObject>, _ stack: DataStack) throws -> [DynamicObject] {
        for _ in 0..<20 {
            if let notes = try? stack.fetchAll(from) { return notes }
            Thread.sleep(forTimeInterval: 0.1)
        }
        return try stack.fetchAll(from)
    }

    private static func number(_ note: DynamicObject) -> Int64 {
        if case .int(let number)? = try? note.value("number") { number } else { 0 }
    }

    /// Adds the notes of a writer; what failed is tried again unless it is there, which only an answer of the server decides.
    private func write(_ writer: Int, _ stack: DataStack) {
        for index in 0..<commits {
            let number = Int64(writer * 1_000_000 + index)
            while true {
                do {
                    try stack.perform(
                        author: TransactionAuthor("writer \(writer)"),
                        synchronous: { try $0.create(Into<DynamicObject>(entity: "Note")).setValue(.int(number), for: "number") })
                    break
                } catch {
                    if isThere(number, stack) { break }
                }
            }
            Thread.sleep(forTimeInterval: Self.pause)
        }
    }

    /// Whether a note has been committed, asked until somebody answers: a commit whose answer was lost may be there.
    private func isThere(_ number: Int64, _ stack: DataStack) -> Bool {
        let note = From<DynamicObject>(entity: "Note").where(Where(.compare(.path(PropertyPath("number")), .equal, .value(.int(number)))))
        let end = Date(timeIntervalSinceNow: Self.patience)
        while Date() < end {
            Thread.sleep(forTimeInterval: 0.05)
            if let count = try? stack.fetchCount(note) { return count > 0 }
        }
        return false
    }
}
