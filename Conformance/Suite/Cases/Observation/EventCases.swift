internal import Foundation
internal import Polystore
internal import PolystoreStorage

/// Cases of group N: observers are notified of each change once, and only after the commit.
enum EventCases {
    static let all: [ConformanceCase] = events + silence + order + ends

    /// Adds people with ages.
    static func add(_ people: KeyValuePairs<String, Int>, to stack: DataStack) throws {
        try stack.write { transaction in for (name, age) in people { try add(name, age, transaction) } }
    }

    @discardableResult
    static func add(_ name: String, _ age: Int, _ transaction: WriteTransaction) throws -> Person {
        let person = try transaction.create(Person.self)
        (person.name, person.age) = (name, age)
        return person
    }

    static func remove(_ name: String, _ transaction: WriteTransaction) throws {
        try transaction.delete(person(name, in: transaction))
    }

    static let byAge = From<Person>().orderBy(.ascending(\.age))

    private static let events: [ConformanceCase] = [
        .graph("N001.insert-update-delete-and-move-once-after-the-commit", "H6") { stack, check in
            try add(["Ann": 1, "Ben": 2, "Cid": 3, "Zoe": 10], to: stack)
            let view = stack.makeViewContext(), monitor = try view.monitorList(byAge)
            let list = ListRecorder(monitor), published = PublisherRecorder(try stack.publishList(byAge))
            check.isTrue(published.waits(for: 1), "the current list is published")
            try stack.perform(
                sourceIdentifier: "form",
                synchronous: { transaction in
                    try add("Dan", 0, transaction)
                    try person("Ann", in: transaction).age = 50
                    try person("Ben", in: transaction).name = "Bea"
                    try remove("Cid", transaction)
                    _ = try transaction.fetchCount(From<Person>())
                    // All changes have been sent to the store, and none is committed.
                    _ = try? view.merge()
                    check.equal(list.calls, [], "the monitor before the commit")
                    check.equal(published.delivered.updates, 1, "the publisher before the commit")
                })
            while try view.merge() {}
            check.equal(list.take(), ["will", "delete 0.2", "insert 0.0", "update 0.1", "move 0.0 0.3", "did"], "calls")
            check.equal(list.sources, ["form"], "its author")
            check.isTrue(published.waits(for: 2), "one update")
            check.equal(published.delivered.sources, [nil, "form"], "its author, published")
            check.equal(published.delivered.shown, list.shown, "published changes")
            check.equal(try monitor.objectsInAllSections().map(\.name), ["Dan", "Bea", "Zoe", "Ann"], "names")
            check.equal(list.problems + published.delivered.problems, [], "problems")
        },
        .graph("N001.an-update-alone", "H6") { stack, check in
            try add(["Ann": 1, "Ben": 2], to: stack)
            let view = stack.makeViewContext(), list = ListRecorder(try view.monitorList(byAge))
            try stack.write { try person("Ann", in: $0).name = "Amy" }
            try view.merge()
            check.equal(list.take(), ["will", "update 0.0", "did"], "calls")
        },
        .graph("N001.a-deletion-alone", "H6") { stack, check in
            try add(["Ann": 1, "Ben": 2], to: stack)
            let view = stack.makeViewContext(), list = ListRecorder(try view.monitorList(byAge))
            try stack.write { try remove("Ben", $0) }
            try view.merge()
            check.equal(list.take(), ["will", "delete 0.1", "did"], "calls")
        },
        .graph("N001.a-snapshot-has-the-order-of-a-list", "H6") { stack, check in
            try stack.write { transaction in
                let squad = try transaction.create(Squad.self), players = try (0..<3).map { _ in try transaction.create(Player.self) }
                (squad.name, squad.players) = ("Abc", [players[1], players[2], players[0]])
            }
            let keys = try stack.fetchAll(From<Player>()).map(\.objectID.key).sorted { $0.key < $1.key }
            let squad = try stack.fetchAll(From<Squad>())[0].objectID
            func order() throws -> [ObjectKey]? { try stack.publishObject(squad).snapshot?.objectIDs("players")?.map(\.key) }
            check.equal(try order(), [keys[1], keys[2], keys[0]], "an order that is not that of the keys")
            try stack.write { transaction in
                guard let squad = try transaction.fetchOne(From<Squad>()) else { return }
                squad.players.reverse()
            }
            check.equal(try order(), [keys[0], keys[2], keys[1]], "another one")
        },
        .graph("N001.one-object", "H6") { stack, check in
            try add(["Ann": 1, "Ben": 2], to: stack)
            let view = stack.makeViewContext(), monitor = try view.monitorObject(person("Ann", in: view))
            let object = ObjectRecorder(monitor), published = try stack.publishObject(monitor.objectID)
            try stack.write { transaction in
                let ann = try person("Ann", in: transaction)
                (ann.age, ann.score) = (7, 1.5)
                try person("Ben", in: transaction).age = 9
            }
            try stack.write { try person("Ben", in: $0).age = 10 }
            while try view.merge() {}
            check.equal(object.take(), ["will 1", "did 7 age,score"], "values")
            try stack.write { try $0.create(Dog.self).owner = person("Ann", in: $0) }
            try view.merge()
            check.equal(object.take(), ["will 7", "did 7 pets"], "a relationship to many, by its other end")
            try stack.write { try person("Ann", in: $0).partner = person("Ben", in: $0) }
            try view.merge()
            check.equal(object.take(), ["will 7", "did 7 partner"], "a relationship to one")
            check.isTrue(Waiting.until { published.snapshot?.partner != nil }, "published")
            check.equal(published.snapshot?.pets.count, 1, "pets, published")
            try stack.write { try remove("Ann", $0) }
            try view.merge()
            check.equal(object.take(), ["deleted 7"], "deletion")
            check.isTrue(monitor.isObjectDeleted && monitor.object == nil, "nothing is followed any more")
            check.isTrue(Waiting.until { published.snapshot == nil }, "deletion, published")
        },
        .graph("N001.one-property", "H6") { stack, check in
            try add(["Ann": 1, "Ben": 2], to: stack)
            try stack.write { try person("Ann", in: $0).parent = person("Ben", in: $0) }
            let view = stack.makeViewContext(), ann = try person("Ann", in: view)
            var ages: [Int?] = [], parents: [String?] = []
            let age = try view.observe(ann, \.age, notifyInitial: true) { ages.append($1.newValue) }
            let parent = try view.observe(ann, \.parent?.name) { parents.append($1.newValue ?? nil) }
            try stack.write { try person("Ann", in: $0).age = 7 }
            try view.merge()
            try stack.write { try person("Ann", in: $0).score = 7 }
            try view.merge()
            try stack.write { try person("Ben", in: $0).name = "Bea" }
            try view.merge()
            check.equal(ages, [1, 7], "the first value, then each other one")
            check.equal(parents, ["Bea"], "through a relationship")
            age.invalidate()
            parent.invalidate()
        },
        .graph("N004.entering-and-leaving-a-condition", "H7") { stack, check in
            try add(["Ann": 1, "Ben": 2, "Cid": 3], to: stack)
            let view = stack.makeViewContext(), young = byAge.where(\.age < 3)
            let list = ListRecorder(try view.monitorList(young)), published = PublisherRecorder(try stack.publishList(young))
            let ages = [("Cid", 0, "insert 0.0"), ("Ann", 3, "delete 0.1"), ("Ann", 1, "insert 0.1"), ("Ben", 9, "delete 0.2")]
            for (number, (name, age, call)) in ages.enumerated() {
                try stack.write { try person(name, in: $0).age = age }
                try view.merge()
                check.equal(list.take(), ["will", call, "did"], "\(name), \(age)")
                check.isTrue(published.waits { $0.shown == list.shown }, "\(name), \(age), published")
                check.isTrue(published.delivered.updates <= number + 2, "updates")
            }
            // Leaving the list and returning within one transaction is an update at most.
            try stack.write { transaction in
                let ann = try person("Ann", in: transaction)
                ann.age = 9
                _ = try transaction.fetchCount(From<Person>())
                ann.age = 1
            }
            try view.merge()
            check.equal(list.take().filter { !$0.hasPrefix("update") && !["will", "did"].contains($0) }, [], "out and in again")
            check.equal(list.problems + published.delivered.problems, [], "problems")
        },
    ]

    private static let silence: [ConformanceCase] = [
        .graph("N002.nothing-of-what-is-not-committed", "H6") { stack, check in
            try add(["Ann": 1, "Ben": 2], to: stack)
            try stack.write { try person("Ann", in: $0).email = "a" }
            let view = stack.makeViewContext(), list = ListRecorder(try view.monitorList(byAge))
            let object = ObjectRecorder(try view.monitorObject(person("Ann", in: view)))
            let published = PublisherRecorder(try stack.publishList(byAge))
            let count = try stack.publishValue(of: Person.self) { try $0.fetchCount(From<Person>()) }
            check.isTrue(published.waits(for: 1), "the first list")
            _ = try? stack.write { transaction in
                try person("Ann", in: transaction).age = 7
                _ = try transaction.fetchCount(From<Person>())
                throw ImportRefused()
            }
            check.throwing(.uniqueConstraintViolated, "a commit that fails") {
                try stack.write { transaction in
                    try person("Ann", in: transaction).age = 7
                    try add("Dan", 0, transaction).email = "a"
                }
            }
            check.throwing(.cancelled, "a transaction that is cancelled") {
                try stack.write { transaction in
                    try remove("Ann", transaction)
                    try transaction.cancel()
                }
            }
            let work = stack.beginUnsafe()
            try work.create(Person.self).name = "Eve"
            try work.rollback()
            try work.commit()
            try settle(stack, view, published)
            check.equal(list.calls + object.calls, [], "calls")
            check.equal(published.delivered.updates, 1, "updates")
            check.equal(count.value, 2, "the count")
        },
        .graph("N002.nothing-of-what-changes-nothing", "H6") { stack, check in
            try add(["Ann": 1, "Ben": 2], to: stack)
            let view = stack.makeViewContext(), list = ListRecorder(try view.monitorList(byAge))
            let object = ObjectRecorder(try view.monitorObject(person("Ann", in: view)))
            let published = PublisherRecorder(try stack.publishList(byAge))
            check.isTrue(published.waits(for: 1), "the first list")
            try stack.write { _ in }
            try stack.write { _ = try person("Ann", in: $0).age }
            try stack.write { transaction in
                let eve = try add("Eve", 1, transaction)
                _ = try transaction.fetchCount(From<Person>())
                try transaction.delete(eve)
            }
            try stack.write { try $0.updateAll(From<Person>().where(\.age > 99), .set(\.age, to: 1)) }
            try stack.write { try $0.deleteAll(From<Person>().where(\.age > 99)) }
            try stack.write { try $0.create(Song.self).title = "of another entity" }
            try settle(stack, view, published)
            check.equal(list.calls + object.calls, [], "calls")
            check.equal(published.delivered.updates, 1, "updates")
        },
        .graph("N002.a-part-that-is-undone", "H6", needs: [.savepoints]) { stack, check in
            try add(["Ann": 1, "Ben": 2], to: stack)
            let view = stack.makeViewContext(), list = ListRecorder(try view.monitorList(byAge))
            try stack.write { transaction in
                try? transaction.nested {
                    try person("Ann", in: transaction).age = 7
                    try transaction.deleteAll(From<Person>().where(\.name == "Ben"))
                    throw ImportRefused()
                }
                try transaction.nested { _ = try add("Dan", 0, transaction) }
            }
            try view.merge()
            check.equal(list.take(), ["will", "insert 0.0", "did"], "calls")
        },
        .graph("N003.each-list-receives-the-changes-of-its-objects", "H6") { stack, check in
            try stack.write { transaction in for age in 0..<12 { try add("P\(age)", age, transaction) } }
            let view = stack.makeViewContext()
            let lists = try (1...4).map { divisor in
                ListRecorder(try view.monitorList(byAge.where((\Person.age) % divisor == 0)))
            }
            // 3 becomes 8 and 8 becomes 3; 6 and 7 keep their ages and are changed; 9 is deleted and 13 inserted.
            try stack.write { transaction in
                let three = try person("P3", in: transaction), eight = try person("P8", in: transaction)
                (three.age, eight.age) = (8, 3)
                try person("P6", in: transaction).score = 1
                try person("P7", in: transaction).score = 1
                try remove("P9", transaction)
                try add("P13", 13, transaction)
            }
            try view.merge()
            let expected = [
                ["will", "delete 0.9", "insert 0.11", "update 0.6", "update 0.7", "move 0.8 0.3", "move 0.3 0.8", "did"],
                ["will", "delete 0.4", "insert 0.4", "update 0.3", "did"],
                ["will", "delete 0.1", "delete 0.3", "insert 0.1", "update 0.2", "did"],
                ["will", "delete 0.2", "insert 0.2", "did"],
            ]
            for (divisor, (list, calls)) in zip(lists, expected).enumerated() {
                check.equal(list.take(), calls, "those that \(divisor + 1) divides")
                check.equal(list.problems, [], "problems")
            }
        },
    ]

    /// Waits until observers have received all notifications of the commits so far, by a further commit of which they are certainly
    /// notified.
    static func settle(_ stack: DataStack, _ view: ViewContext, _ published: PublisherRecorder<Person>) throws {
        while try view.merge() {}
        // A single worker updates publishers in commit order, so a value of another entity arrives after everything before it.
        let titles = try stack.publishValue(of: Song.self) { try $0.fetchCount(From<Song>()) }
        let before = titles.value ?? 0
        try stack.write { try $0.create(Song.self).title = "settled" }
        _ = Waiting.until { titles.value != before }
        // An unexpected update would have arrived by now.
        _ = published.waits(0.01) { _ in false }
    }
}
