internal import Foundation
internal import Polystore
internal import PolystoreStorage

/// Cases of group N: the source identifiers of changes.
enum SourceCases {
    static let all: [ConformanceCase] = [
        .graph("N019.what-two-sources-did-to-one-object-has-none", "H9") { stack, check in
            try EventCases.add(["Ann": 1, "Ben": 2], to: stack)
            let view = stack.makeViewContext(), monitor = try view.monitorList(EventCases.byAge), list = ListRecorder(monitor)
            let ann = try person("Ann", in: view), object = SourceRecorder(try view.monitorObject(ann))
            try set(10, of: "Ann", stack, "screen")
            try set(20, of: "Ann", stack, "sync")
            while try view.merge() {}
            check.equal(ann.age, 20, "the newest value")
            check.equal(list.sources, [nil], "of the list")
            check.equal(object.sources, [nil], "of the object")
            check.equal(list.problems, [], "problems")
        },
        .graph("N019.what-two-sources-did-to-two-objects-has-both", "H9") { stack, check in
            try EventCases.add(["Ann": 1, "Ben": 2], to: stack)
            let view = stack.makeViewContext(), list = ListRecorder(try view.monitorList(EventCases.byAge))
            let object = SourceRecorder(try view.monitorObject(try person("Ben", in: view)))
            try set(10, of: "Ann", stack, "screen")
            try set(20, of: "Ben", stack, "sync")
            while try view.merge() {}
            check.equal(list.sources, ["screen", "sync"], "of the list")
            check.equal(object.sources, ["sync"], "of the object")
            check.equal(list.problems, [], "problems")
        },
        .graph("N019.a-pair-and-a-value-of-one-object-have-none", "H9") { stack, check in
            try EventCases.add(["Ann": 1], to: stack)
            try stack.write { try $0.create(Club.self).name = "Chess" }
            let all = From<Club>(), view = stack.makeViewContext(), list = ListRecorder(try view.monitorList(all))
            try stack.perform(
                sourceIdentifier: "screen",
                synchronous: { transaction in
                    for club in try transaction.fetchAll(all) { club.members = [try person("Ann", in: transaction)] }
                })
            try stack.perform(sourceIdentifier: "sync", synchronous: { for club in try $0.fetchAll(all) { club.name = "Go" } })
            while try view.merge() {}
            check.equal(list.take(), ["will", "update 0.0", "did"], "calls")
            check.equal(list.sources, [nil], "of both")
        },
        .graph("N019.a-list-that-is-fetched-shows-what-all-sources-did", "H9") { stack, check in
            try EventCases.add(["Ann": 1, "Ben": 2], to: stack)
            // A condition on members is evaluated for all people at once.
            let owners = EventCases.byAge.where((\Person.pets).any(\Pet.name == "Rex"))
            let view = stack.makeViewContext(), list = ListRecorder(try view.monitorList(owners))
            for (name, source) in [("Ann", "screen"), ("Ben", "sync")] {
                try stack.perform(
                    sourceIdentifier: source,
                    synchronous: { transaction in
                        let pet = try transaction.create(Dog.self)
                        pet.name = "Rex"
                        try person(name, in: transaction).pets = [pet]
                    })
            }
            while try view.merge() {}
            check.equal(list.shown.keys.count, 2, "owners")
            check.equal(list.sources, [nil], "of both")
            check.equal(list.problems, [], "problems")
        },
        .graph("N019.a-publisher-reports-only-the-changes-of-its-source", "H9", needs: [.history]) { stack, check in
            try EventCases.add(["Ann": 1], to: stack)
            let people = try stack.publishList(From<Person>().where(\.age >= 0)), updates = people.updates
            let ann = try stack.publishObject(try stack.fetchIDs(From<Person>())[0])
            let problems = SharedValue<[String]>([])
            let task = Waiting.start {
                // A consumer that ignores the changes of "screen" must still receive insertions and deletions.
                for await update in updates {
                    guard let changes = update.changes, update.sourceIdentifier as? String == "screen" else { continue }
                    if !changes.inserted.isEmpty || !changes.deleted.isEmpty { problems.withLock { $0.append("\(changes)") } }
                }
            }
            defer { task.cancel() }
            let rounds = stack.storages[0].capabilities.contains(.persistent) && !IsolationCases.isThorough ? 30 : 300
            for round in 0..<rounds {
                try stack.perform(
                    sourceIdentifier: "screen",
                    synchronous: { try $0.fetchOne(From<Person>().where(\.age >= 0))?.email = "\(round)@example.org" })
                for age in [-1, round] {
                    try stack.perform(sourceIdentifier: "sync", synchronous: { try $0.fetchOne(From<Person>())?.age = age })
                }
            }
            check.isTrue(Waiting.until(20) { people.snapshot.count == 1 && ann.snapshot?.age == rounds - 1 }, "the newest list")
            check.equal(problems.withLock { $0 }, [], "insertions and deletions of another source")
        },
    ]

    private static func set(_ age: Int, of name: String, _ stack: DataStack, _ source: String) throws {
        try stack.perform(sourceIdentifier: source, synchronous: { try person(name, in: $0).age = age })
    }
}

/// A recorder of the source identifiers of an object's changes.
private final class SourceRecorder: ObjectObserver {
    private(set) var sources: [String?] = []
    private let monitor: ObjectMonitor<Person>

    init(_ monitor: ObjectMonitor<Person>) {
        self.monitor = monitor
        monitor.addObserver(self)
    }

    func objectMonitor(_ monitor: ObjectMonitor<Person>, didUpdateObject object: Person, changedPersistentKeys: Set<String>) {
        sources.append(monitor.sourceIdentifier as? String)
    }

    func objectMonitor(_ monitor: ObjectMonitor<Person>, didDeleteObject object: Person) {
        sources.append(monitor.sourceIdentifier as? String)
    }
}
