import Foundation
import Polystore
import PolystoreCatalog

/// Imports under unique ids beside the same number of plain ones, and beside half as many; one store at a time.
struct ImportBenchmark {
    let store: String
    let place: Places
    let count: Int
    let rounds: Int
    let report: (Measurement) -> Void

    func run() throws {
        var plain = Measurement("import-unique", store: store, against: "plain", count: count)
        try plain.run(rounds: rounds, ours: { try unique(count) }, theirs: { try self.plain(count) })
        report(plain)
        var half = Measurement("import-unique", store: store, against: "half", count: count)
        try half.run(rounds: rounds, ours: { try unique(count * 2) }, theirs: { try unique(count) })
        report(half)
    }

    private static func sources(_ count: Int) -> [ItemSource] {
        (0..<count).map { ItemSource(code: "item-\($0 &* 7919 % 1_000_003)-\($0)", title: "title \($0)", amount: Double($0)) }
    }

    private func withStack(_ body: (DataStack) throws -> Double) throws -> Double {
        let stack = try DataStack(Item.self)
        let opened = try StoreCatalog.standard.store(at: StoreURL(try place.url(store)), configuration: nil)
        try stack.addStorageAndWait(opened)
        defer { try? stack.removeStorage(opened) }
        return try body(stack)
    }

    private func plain(_ count: Int) throws -> Double {
        let sources = Self.sources(count)
        return try withStack { stack in
            try nanoseconds {
                try stack.perform(synchronous: { _ = try $0.importObjects(Into<Item>(), sourceArray: sources) })
            }
        }
    }

    /// `count` imports into as many objects that are there: half of them known, half of them new.
    private func unique(_ count: Int) throws -> Double {
        let sources = Self.sources(count), others = Self.sources(count * 2)
        return try withStack { stack in
            try stack.perform(synchronous: { _ = try $0.importObjects(Into<Item>(), sourceArray: others[(count / 2)..<(count * 3 / 2)]) })
            return try nanoseconds {
                try stack.perform(synchronous: { _ = try $0.importUniqueObjects(Into<Item>(), sourceArray: sources) })
            }
        }
    }
}

struct ItemSource {
    let code: String
    let title: String
    let amount: Double
}

extension Item: ImportableUniqueObject {
    static var uniqueIDKeyPath: String { "code" }
    var uniqueIDValue: String {
        get { code }
        set { code = newValue }
    }
    static func uniqueID(from source: ItemSource, in transaction: BaseTransaction) throws -> String? { source.code }
    func update(from source: ItemSource, in transaction: BaseTransaction) throws {
        title = source.title
        amount = source.amount
        seen += 1
    }
    func didInsert(from source: ItemSource, in transaction: BaseTransaction) throws {
        code = source.code
        try update(from: source, in: transaction)
    }
}

/// The time of a commit of others while detached transactions with changes stay open, beside that of one alone; below 1.1 they keep nine tenths of their rate.
struct DetachedBenchmark {
    let store: String
    let place: Places
    let seconds: Double
    let report: (Measurement) -> Void

    func run() throws {
        let stack = try DataStack(Item.self)
        let opened = try StoreCatalog.standard.store(at: StoreURL(try place.url(store)), configuration: nil)
        try stack.addStorageAndWait(opened)
        defer { try? stack.removeStorage(opened) }
        try stack.perform(synchronous: {
            _ = try $0.importObjects(Into<Item>(), sourceArray: [ItemSource(code: "a", title: "", amount: 0)])
        })
        var commits = 0
        func rate() throws -> Double {
            let end = ContinuousClock.now + .seconds(turn)
            var done = 0
            let time = try nanoseconds {
                while ContinuousClock.now < end {
                    try stack.perform(synchronous: { try $0.create(Item.self).code = "n\(commits)" })
                    commits += 1
                    done += 1
                }
            }
            return time / Double(max(done, 1))
        }
        // Alone before and after, and in between for the whole time with two detached transactions that hold changes.
        var measurement = Measurement("detached-open", store: store, against: "none open", count: 1)
        let turns = max(Int(seconds / turn), 2)
        for _ in 0..<turns / 2 { measurement.add(theirs: try rate()) }
        var held: [UnsafeTransaction] = []
        for number in 0..<2 {
            let work = stack.beginUnsafe()
            try work.fetchOne(From<Item>().where(\.code == "a"))?.title = "held"
            try work.create(Item.self).code = "held \(number)"
            held.append(work)
        }
        for _ in 0..<turns { measurement.add(ours: try rate()) }
        try stack.perform(synchronous: { try $0.fetchOne(From<Item>().where(\.code == "a"))?.title = "theirs" })
        for work in held {
            do {
                try work.commit()
                throw BenchmarkError.wrongAnswer
            } catch let error as StorageError where error.code == .staleObject {}
        }
        held.removeAll()
        for _ in 0..<turns / 2 { measurement.add(theirs: try rate()) }
        report(measurement)
    }

    private var turn: Double { 5 }
}
