internal import Foundation
internal import Polystore
internal import PolystoreStorage
internal import Synchronization

/// A small transaction over the ages of people, as data, which describes isolation anomalies.
struct Program: Sendable, CustomStringConvertible {
    enum Step: Sendable, Hashable {
        /// Observes an age; -1 if the person does not exist.
        case get(String)
        case set(String, Int)
        /// Reads and writes one age.
        case raise(String, by: Int)
        /// Observes the number of people of at least an age.
        case count(atLeast: Int)
        /// Observes the sum of all ages.
        case sum
        case insert(String, Int)
        /// Inserts a person unless a person with this age exists.
        case insertUnlessAge(String, Int)
        /// Sets an age to the number of people of at least a given age.
        case setToCount(String, atLeast: Int)
        case raiseAll(atLeast: Int, by: Int)
        case delete(String)
        case deleteAll(atLeast: Int)
        /// Throws, so that the transaction is rolled back.
        case abort
    }

    let steps: [Step]
    var isReader = false

    static func write(_ steps: Step...) -> Program { Program(steps: steps) }
    static func read(_ steps: Step...) -> Program { Program(steps: steps, isReader: true) }

    var description: String { "\(steps)" }
}

/// The observations of programs and the final state.
struct Outcome: Hashable, CustomStringConvertible {
    /// The observations of each program; nil for one that was aborted.
    var observed: [[Int]?]
    var ages: [String: Int]

    var description: String { "saw \(observed.map { $0.map { "\($0)" } ?? "aborted" }), left \(ages.sorted { $0.key < $1.key })" }
}

private struct Aborted: Error {}

/// A runner that executes programs concurrently in given schedules, and compares the outcomes with every serial order.
struct Interleaving: Sendable {
    let stack: DataStack
    let ages: [String: Int]
    let programs: [Program]

    /// Returns the possible interleavings of the steps of the programs, at most `limit` of them, evenly chosen.
    func schedules(limit: Int) -> [[Int]] {
        var result: [[Int]] = []
        func extend(_ prefix: [Int], _ left: [Int]) {
            if left.allSatisfy({ $0 == 0 }) { result.append(prefix) }
            for index in left.indices where left[index] > 0 {
                var rest = left
                rest[index] -= 1
                extend(prefix + [index], rest)
            }
        }
        extend([], programs.map(\.steps.count))
        let stride = max(result.count / limit, 1)
        return result.enumerated().filter { $0.offset % stride == 0 }.map(\.element)
    }

    /// Checks that every schedule has the same outcome as some serial order.
    func check(_ check: Check, limit: Int) throws {
        var serial: Set<Outcome> = []
        for order in permutations(Array(programs.indices)) { serial.insert(try run { body in for index in order { body(index, nil) } }) }
        for schedule in schedules(limit: limit) {
            let outcome = try run { body in
                let turns = Turns(schedule)
                Threads.run(programs.count) { index in
                    body(index, turns)
                    turns.finish(index)
                }
            }
            check.isTrue(serial.contains(outcome), "\(programs) in the order \(schedule) \(outcome), which no serial order produces")
        }
    }

    private func permutations(_ items: [Int]) -> [[Int]] {
        if items.count < 2 { return [items] }
        return items.indices.flatMap { index -> [[Int]] in
            var rest = items
            let first = rest.remove(at: index)
            return permutations(rest).map { [first] + $0 }
        }
    }

    private func run(_ runAll: (@escaping @Sendable (_ index: Int, _ turns: Turns?) -> Void) -> Void) throws -> Outcome {
        try stack.write { transaction in
            try transaction.delete(transaction.fetchAll(From<Person>()))
            for (name, age) in ages.sorted(by: { $0.key < $1.key }) {
                let person = try transaction.create(Person.self)
                person.name = name
                person.age = age
            }
        }
        let observed = Mutex([[Int]?](repeating: nil, count: programs.count)), failure = Mutex<(any Error)?>(nil)
        runAll { index, turns in
            do {
                let seen = try run(programs[index], index, turns)
                observed.withLock { $0[index] = seen }
            } catch is Aborted {
            } catch {
                failure.withLock { $0 = error }
            }
        }
        if let failure = failure.withLock({ $0 }) { throw failure }
        let left = try stack.fetchAll(From<Person>()).map { ($0.name, $0.age) }
        return Outcome(observed: observed.withLock { $0 }, ages: Dictionary(left) { first, _ in first })
    }

    private func run(_ program: Program, _ index: Int, _ turns: Turns?) throws -> [Int] {
        if program.isReader {
            return try stack.read(synchronous: { source in
                var seen: [Int] = []
                for step in program.steps {
                    turns?.wait(index)
                    try observe(step, source, &seen)
                }
                return seen
            })
        }
        return try stack.write { transaction in
            var seen: [Int] = []
            for step in program.steps {
                // A program that is repeated after a conflict runs without a schedule.
                if transaction.attempt == 1 { turns?.wait(index) }
                try perform(step, transaction, &seen)
            }
            return seen
        }
    }

    private func observe(_ step: Program.Step, _ source: some FetchSource, _ seen: inout [Int]) throws {
        switch step {
        case .get(let name): seen.append(try source.fetchOne(From<Person>().where(\.name == name))?.age ?? -1)
        case .count(let age): seen.append(try source.fetchCount(From<Person>().where(\.age >= age)))
        case .sum: seen.append(try source.fetchAll(From<Person>()).reduce(0) { $0 + $1.age })
        default: break
        }
    }

    private func perform(_ step: Program.Step, _ transaction: WriteTransaction, _ seen: inout [Int]) throws {
        func one(_ name: String) throws -> Person? { try transaction.fetchOne(From<Person>().where(\.name == name)) }
        switch step {
        case .get, .count, .sum: try observe(step, transaction, &seen)
        case .set(let name, let age): try one(name)?.age = age
        case .raise(let name, let amount): try one(name)?.age += amount
        case .setToCount(let name, let age):
            let count = try transaction.fetchCount(From<Person>().where(\.age >= age))
            try one(name)?.age = count
        case .raiseAll(let age, let amount):
            for person in try transaction.fetchAll(From<Person>().where(\.age >= age)) { person.age += amount }
        case .insert(let name, let age): try insert(name, age, transaction)
        case .insertUnlessAge(let name, let age):
            if try transaction.fetchCount(From<Person>().where(\.age == age)) == 0 { try insert(name, age, transaction) }
        case .delete(let name): if let person = try one(name) { try transaction.delete(person) }
        case .deleteAll(let age): try transaction.deleteAll(From<Person>().where(\.age >= age))
        case .abort: throw Aborted()
        }
    }

    private func insert(_ name: String, _ age: Int, _ transaction: WriteTransaction) throws {
        let person = try transaction.create(Person.self)
        person.name = name
        person.age = age
    }
}

/// A scheduler that lets programs perform their steps in the order of a schedule. It skips a program that waits in a store for another one.
final class Turns: Sendable {
    private struct State {
        var schedule: [Int]
        var finished: Set<Int> = []
    }

    private static let patience = 0.02

    private let state: Mutex<State>

    init(_ schedule: [Int]) { state = Mutex(State(schedule: schedule)) }

    /// Waits until it is the program's turn, or the program whose turn it is does not arrive.
    func wait(_ index: Int) {
        let end = Date().addingTimeInterval(Self.patience)
        while !take(index) {
            if Date() > end {
                skip(to: index)
                return
            }
            Thread.sleep(forTimeInterval: 0.0005)
        }
    }

    private func take(_ index: Int) -> Bool {
        state.withLock { state in
            while let first = state.schedule.first, state.finished.contains(first) { state.schedule.removeFirst() }
            guard state.schedule.first == index || state.schedule.isEmpty else { return false }
            if !state.schedule.isEmpty { state.schedule.removeFirst() }
            return true
        }
    }

    private func skip(to index: Int) {
        state.withLock { state in
            if let position = state.schedule.firstIndex(of: index) { state.schedule.remove(at: position) }
        }
    }

    func finish(_ index: Int) { state.withLock { _ = $0.finished.insert(index) } }
}
