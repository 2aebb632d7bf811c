import Foundation
import Polystore
import PolystoreCatalog
import RawSessions
import Synchronization

/// A program that writes at a steady rate to a store of people, for a measurement that moves the store meanwhile: polystore-crash --steady URL
/// RATE, until its input ends.
///
/// The transaction with the number n makes five writes: it creates the person `s<n>` with a tag, adds 1000 to the ages of three people, and
/// makes one a friend of another; each tenth also deletes the person that was created nine transactions before. A transaction that is refused
/// is tried again with the same number. At the end the program writes what was acknowledged, as JSON.
final class Steady: Sendable {
    /// What was acknowledged, and the longest time between two acknowledgements.
    private struct Progress: Encodable {
        var transactions = 0
        var refusals = 0
        var longest = 0.0
        /// The time during which transactions were accepted.
        var accepted = 0.0
    }

    private static let writes = 5
    private static let people = 1000

    private let url: String
    private let rate: Int
    private let isEnded = Mutex(false)

    /// - Parameter rate: The writes in a second.
    init(url: String, rate: Int) {
        self.url = url
        self.rate = rate
    }

    func run() throws {
        let stack = try DataStack(schema: schema())
        try stack.addStorageAndWait(StoreCatalog.standard.store(at: StoreURL(url), configuration: nil))
        Thread.detachNewThread { [self] in
            while readLine() != nil {}
            isEnded.withLock { $0 = true }
        }
        Watching.say("ready")
        let progress = write(stack)
        Watching.say(String(decoding: try JSONEncoder().encode(progress), as: UTF8.self))
    }

    private func schema() throws(StorageError) -> Schema {
        let store = try StoreCatalog.standard.store(at: StoreURL(url), configuration: nil)
        let state = try store.open(OpenRequest(schema: nil, createIfMissing: false))
        try store.close()
        return state.schema
    }

    /// Writes until the input ends.
    private func write(_ stack: DataStack) -> Progress {
        var progress = Progress()
        let start = Date()
        var last = start, turn = 0, isRefused = false
        while !isEnded.withLock({ $0 }) {
            Thread.sleep(until: start.addingTimeInterval(Double(turn * Self.writes) / Double(rate)))
            turn += 1
            do {
                try transact(progress.transactions + 1, stack)
                progress.transactions += 1
                let now = Date(), pause = now.timeIntervalSince(last)
                progress.longest = max(progress.longest, pause)
                progress.accepted += isRefused ? 0 : pause
                (last, isRefused) = (now, false)
            } catch {
                if progress.refusals == 0 { Watching.say("refused \((error as? StorageError)?.code.description ?? "\(error)")") }
                progress.refusals += 1
                isRefused = true
            }
        }
        return progress
    }

    private func transact(_ number: Int, _ stack: DataStack) throws {
        try stack.perform(synchronous: { transaction in
            func find(_ entity: String, _ property: String, _ text: String) throws -> DynamicObject? {
                let isEqual = QueryPredicate.compare(.path(PropertyPath(property)), .equal, .value(.string(text)))
                return try transaction.fetchOne(From<DynamicObject>(entity: entity).where(Where(isEqual)))
            }
            let person = try transaction.create(Into<DynamicObject>(entity: "Person"))
            try person.setValue(.string("s\(number)"), for: "name")
            for (name, value) in [("age", Value.int(0)), ("wage", .double(0)), ("joined", .date(0))] {
                try person.setValue(value, for: name)
            }
            if let tag = try find("Tag", "word", "w\(number % 7)") { try person.setObjects([tag], for: "tags") }
            var friend: DynamicObject?
            for offset in 0..<3 {
                guard let other = try find("Person", "name", "p\((number * 31 + offset * 333) % Self.people)"),
                    case .int(let age) = try other.value("age")
                else { continue }
                try other.setValue(.int(age + 1000), for: "age")
                if let friend { try friend.setObject(other, for: "friend") }
                friend = other
            }
            if number % 10 == 0, let old = try find("Person", "name", "s\(number - 9)") { try transaction.delete(old) }
        })
    }
}
