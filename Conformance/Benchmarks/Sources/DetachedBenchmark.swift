import Foundation
import Polystore
import PolystoreCatalog
import PolystoreCompatibility

/// The time of other commits while detached transactions and an update context with changes stay open, compared with commits while none is
/// open. Below a ratio of 1.1, commits keep nine tenths of their rate.
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
        let others = try stack.perform(synchronous: { transaction in
            _ = try transaction.importObjects(Into<Item>(), sourceArray: [ItemSource(code: "a", title: "", amount: 0)])
            return try (0..<1000).map { number in
                let item = try transaction.create(Item.self)
                item.code = "n\(number)"
                return item.objectID
            }
        })
        // Changes always affect the same thousand objects, so that the store does not grow during the measurement.
        var commits = 0
        func rate() throws -> Double {
            let end = ContinuousClock.now + .seconds(turn)
            var done = 0
            let time = try nanoseconds {
                while ContinuousClock.now < end {
                    try stack.perform(synchronous: { try $0.fetchExisting(others[commits % others.count])?.seen += 1 })
                    commits += 1
                    done += 1
                }
            }
            return time / Double(max(done, 1))
        }
        // Commits run alone before and after, and in between with two detached transactions and an update context that have changes.
        var measurement = Measurement("detached-open", store: store, against: "none open", count: 1)
        let turns = max(Int(seconds / turn), 2)
        for _ in 0..<turns / 2 { measurement.add(theirs: try rate()) }
        var held: [() throws -> Void] = []
        for number in 0..<2 {
            let work = stack.beginUnsafe()
            try work.fetchOne(From<Item>().where(\.code == "a"))?.title = "held"
            try work.create(Item.self).code = "held \(number)"
            held.append { try work.commit() }
        }
        let update = try CoreDataContext(stack: CoreDataStack(stack, rootContext: .none)).beginUpdateContext()
        try update.perform { update in
            try update.fetch(Item.self, \.code == "a").title = "held"
            try update.create(Item.self).code = "held by the update"
        }
        held.append { try update.perform { try $0.commit() } }
        for _ in 0..<turns { measurement.add(ours: try rate()) }
        try stack.perform(synchronous: { try $0.fetchOne(From<Item>().where(\.code == "a"))?.title = "theirs" })
        for commit in held {
            do {
                try commit()
                throw BenchmarkError.wrongAnswer
            } catch let error as StorageError where error.code == .staleObject {}
        }
        held.removeAll()
        for _ in 0..<turns / 2 { measurement.add(theirs: try rate()) }
        report(measurement)
    }

    private var turn: Double { 5 }
}
