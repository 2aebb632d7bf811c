internal import Foundation
internal import Polystore
internal import PolystoreStorage

/// Cases of group N: positions, sections, and values of related objects in a list.
enum PlaceCases {
    static let all: [ConformanceCase] = moves + sections + related

    private static let byAge = From<Person>().orderBy(.ascending(\.age))
    private static let inSections = From<Person>().orderBy(.ascending(\.room), .ascending(\.age))

    private static let moves: [ConformanceCase] = [
        .graph("N005.moves-from-and-to", "H7") { stack, check in
            try EventCases.add(["a": 1, "b": 2, "c": 3, "d": 4, "e": 5], to: stack)
            let view = stack.makeViewContext(), list = ListRecorder(try view.monitorList(byAge))
            let steps: [([(String, Int)], [String])] = [
                ([("a", 9)], ["move 0.0 0.4"]),  // bcdea
                ([("a", 0)], ["move 0.4 0.0"]),  // abcde
                ([("b", 4)], ["move 0.1 0.2"]),  // acbde: b comes before d by its key
                ([("b", 3)], ["move 0.2 0.1"]),  // abcde
                ([("e", 1), ("d", 2)], ["move 0.4 0.1", "move 0.3 0.2"]),  // aedbc
                ([("a", 5), ("e", 6)], ["move 0.0 0.3", "move 0.1 0.4"]),  // dbcae
                ([("d", 1)], ["update 0.0"]),
            ]
            for (changes, calls) in steps {
                try stack.write { transaction in for (name, age) in changes { try person(name, in: transaction).age = age } }
                try view.merge()
                check.equal(list.take().filter { !["will", "did"].contains($0) }, calls, "\(changes)")
            }
            check.equal(list.problems, [], "problems")
        },
        .graph("N005.a-window-is-filled-from-behind-and-from-before", "H7") { stack, check in
            try stack.write { transaction in for age in 0..<80 { try EventCases.add("P\(age)", age, transaction) } }
            let view = stack.makeViewContext(), window = byAge.offset(2).limit(3)
            let monitor = try view.monitorList(window), list = ListRecorder(monitor)
            let published = PublisherRecorder(try stack.publishList(window))
            func expect(_ calls: [String], _ ages: [Int], _ what: String) throws {
                try view.merge()
                check.equal(list.take().filter { !["will", "did"].contains($0) }, calls, what)
                check.equal(try monitor.objectsInAllSections().map(\.age), ages, "\(what): ages")
                check.isTrue(published.waits { $0.shown == list.shown }, "\(what): published")
            }
            try stack.write { try EventCases.remove("P3", $0) }
            try expect(["delete 0.1", "insert 0.2"], [2, 4, 5], "one is deleted")
            try stack.write { try EventCases.add("New", -1, $0) }
            try expect(["delete 0.2", "insert 0.0"], [1, 2, 4], "one is inserted before it")
            try stack.write { try EventCases.add("Last", 99, $0) }
            try expect([], [1, 2, 4], "one is inserted after it")
            try stack.write { try $0.deleteAll(From<Person>().where(\.age < 70)) }
            try expect(["delete 0.0", "delete 0.1", "delete 0.2", "insert 0.0", "insert 0.1", "insert 0.2"], [72, 73, 74], "most go")
            try stack.write { try $0.deleteAll(From<Person>().where(\.age > 72)) }
            try expect(["delete 0.1", "delete 0.2"], [72], "too few remain")
            check.equal(list.problems + published.delivered.problems, [], "problems")
            check.equal(list.refetches, 0, "changes are delivered also where rows are fetched")
        },
    ]

    private static let sections: [ConformanceCase] = [
        .graph("N006.sections-come-go-and-change", "H7") { stack, check in
            try stack.write { transaction in
                for (number, (name, room)) in [("a", "A"), ("b", "A"), ("c", "B"), ("d", "C")].enumerated() {
                    try EventCases.add(name, number, transaction).room = room
                }
            }
            let view = stack.makeViewContext()
            let monitor = try view.monitorSectionedList(inSections, sectionBy: SectionBy(\.room) { "Room \($0)" })
            let list = ListRecorder(monitor)
            let published = PublisherRecorder(try stack.publishList(inSections, sectionBy: SectionBy(\.room)))
            func expect(_ calls: [String], _ sections: [String], _ what: String) throws {
                try view.merge()
                check.equal(list.take().filter { !["will", "did"].contains($0) }, calls, what)
                check.equal(monitor.sections.map { "\($0.identifier)\($0.numberOfObjects)" }, sections, "\(what): sections")
                check.isTrue(published.waits { $0.shown == list.shown }, "\(what): published")
            }
            check.equal(monitor.sections.map(\.name), ["Room A", "Room B", "Room C"], "titles")
            try stack.write { try person("c", in: $0).room = "A" }
            try expect(["section- Room B", "move 1.0 0.2"], ["A3", "C1"], "the last of a section moves")
            try stack.write { try person("a", in: $0).room = "B" }
            try expect(["section+ Room B", "move 0.0 1.0"], ["A2", "B1", "C1"], "the first of a section")
            try stack.write { transaction in
                try EventCases.remove("d", transaction)
                try EventCases.add("e", 9, transaction).room = "D"
            }
            try expect(
                ["section- Room C", "section+ Room D", "delete 2.0", "insert 2.0"], ["A2", "B1", "D1"], "one is deleted, one is inserted")
            try stack.write { try person("e", in: $0).room = nil }
            try expect(["section- Room D", "section+ Room ", "move 2.0 0.0"], ["1", "A2", "B1"], "nil is a section without a name")
            try stack.write { try $0.deleteAll(From<Person>()) }
            try expect(
                ["section- Room ", "section- Room A", "section- Room B", "delete 0.0", "delete 1.0", "delete 1.1", "delete 2.0"], [],
                "all go")
            check.equal(list.problems + published.delivered.problems, [], "problems")
        },
        .graph("N006.a-section-by-a-related-object", "H7") { stack, check in
            try EventCases.add(["Ann": 30, "Ben": 40, "x": 1, "y": 2, "z": 3], to: stack)
            try stack.write { transaction in
                for (child, parent) in [("x", "Ann"), ("y", "Ann"), ("z", "Ben")] {
                    try person(child, in: transaction).parent = person(parent, in: transaction)
                }
            }
            let children = From<Person>().where(\.age < 10).orderBy(.ascending(\.parent?.name), .ascending(\.name))
            let view = stack.makeViewContext()
            let monitor = try view.monitorSectionedList(children, sectionBy: SectionBy(\.parent?.name)), list = ListRecorder(monitor)
            try stack.write { try person("Ann", in: $0).name = "Zoe" }
            try view.merge()
            check.equal(monitor.sections.map { "\($0.identifier)\($0.numberOfObjects)" }, ["Ben1", "Zoe2"], "sections")
            check.equal(list.problems, [], "problems")
            check.equal([list.events, list.refetches], [1, 0], "one change")
        },
    ]

    /// Creates three dogs with owners, and a grandparent.
    private static func fill(_ stack: DataStack) throws {
        try EventCases.add(["Ann": 1, "Ben": 2, "Cid": 3, "Gil": 70], to: stack)
        try stack.write { transaction in
            for (name, owner) in [("Rex", "Ann"), ("Tom", "Ben"), ("Ufo", "Cid")] {
                let dog = try transaction.create(Dog.self)
                (dog.name, dog.owner) = (name, try person(owner, in: transaction))
            }
            try person("Ann", in: transaction).parent = person("Gil", in: transaction)
        }
    }

    private static let dogs = From<Dog>().orderBy(.ascending(\.name))

    private static let related: [ConformanceCase] = [
        .graph("N007.nothing-of-related-objects-that-are-not-read", "H7") { stack, check in
            try fill(stack)
            let view = stack.makeViewContext()
            let plain = ListRecorder(try view.monitorList(dogs))
            let condition = ListRecorder(try view.monitorList(dogs.where(\.owner?.age < 10)))
            let order = ListRecorder(try view.monitorList(From<Dog>().orderBy(.ascending(\.owner?.age))))
            try stack.write { try person("Ann", in: $0).name = "Amy" }
            try stack.write { try person("Gil", in: $0).age = 71 }
            try view.merge()
            check.equal(plain.calls + condition.calls + order.calls, [], "another property of an owner, and another object")
            try stack.write { try person("Amy", in: $0).age = 4 }
            try view.merge()
            check.equal(plain.calls, [], "a list that reads nothing of owners")
            check.equal(condition.take(), ["will", "update 0.0", "did"], "a condition that still holds")
            check.equal(order.take(), ["will", "move 0.0 0.2", "did"], "an order")
        },
        .graph("N007.conditions-over-relationships", "H7") { stack, check in
            try fill(stack)
            let view = stack.makeViewContext()
            let one = ListRecorder(try view.monitorList(dogs.where(\.owner?.age < 3)))
            let two = ListRecorder(try view.monitorList(dogs.where(\.owner?.parent?.age > 60)))
            let owners = From<Person>().orderBy(.ascending(\.name)).where((\Person.pets).any(\Pet.name == "Rex"))
            let many = ListRecorder(try view.monitorList(owners))
            let linked = ListRecorder(
                try view.monitorList(From<Person>().orderBy(.ascending(\.name)).where((\Person.clubs).any(\Club.name == "Chess"))))
            try stack.write { try person("Cid", in: $0).age = 2 }
            try stack.write { try person("Gil", in: $0).age = 60 }
            try stack.write { try $0.fetchOne(From<Dog>().where(\.name == "Ufo"))?.name = "Rex" }
            try stack.write { transaction in
                let chess = try transaction.create(Club.self)
                chess.name = "Chess"
                try person("Ben", in: transaction).clubs = [chess]
            }
            while try view.merge() {}
            check.equal(one.shown.keys.count, 3, "over one relationship")
            check.equal(two.shown.keys.count, 0, "over two")
            check.equal(many.shown.keys.count, 2, "over a relationship to many")
            check.equal(linked.shown.keys.count, 1, "over links")
            try stack.write { try $0.fetchOne(From<Club>())?.members = [try person("Ann", in: $0), try person("Cid", in: $0)] }
            while try view.merge() {}
            check.equal(linked.shown.keys.count, 2, "over links that change at their other end")
            try stack.write { try $0.fetchOne(From<Club>())?.members = [try person("Ben", in: $0)] }
            while try view.merge() {}
            check.equal(linked.shown.keys.count, 1, "and back")
            try stack.write { try person("Ben", in: $0).clubs = [] }
            try stack.write { try $0.deleteAll(From<Dog>()) }
            try view.merge()
            check.equal(linked.shown.keys.count + many.shown.keys.count + one.shown.keys.count, 0, "and out again")
            check.equal(one.problems + two.problems + many.problems + linked.problems, [], "problems")
            check.equal(one.refetches + two.refetches + many.refetches + linked.refetches, 0, "no list starts from scratch")
        },
        .graph("N007.a-prefetched-relationship-is-observed", "H7") { stack, check in
            try fill(stack)
            let view = stack.makeViewContext()
            let list = ListRecorder(try view.monitorList(dogs.prefetch(\.owner?.parent)))
            let published = PublisherRecorder(try stack.publishList(dogs.prefetch(\.owner?.parent)))
            check.isTrue(published.waits(for: 1), "the first")
            try stack.write { try person("Ben", in: $0).score = 2 }
            try view.merge()
            check.equal(list.take(), ["will", "update 0.1", "did"], "the owner")
            check.isTrue(published.waits(for: 2), "published: the owner")
            try stack.write { try person("Gil", in: $0).score = 2 }
            try view.merge()
            check.equal(list.take(), ["will", "update 0.0", "did"], "the owner's parent")
            check.isTrue(published.waits(for: 3), "published: the owner's parent")
        },
        .graph("N007.the-first-objects-of-a-list-are-delivered-once", "H7") { stack, check in
            try fill(stack)
            let view = stack.makeViewContext(merging: .onDemand), prefetched = dogs.prefetch(\.owner)
            func recorder() throws -> ListRecorder<Dog> { ListRecorder(try view.monitorList(prefetched)) }
            let before = try recorder()
            try stack.write { try person("Ben", in: $0).score = 2 }
            let after = try recorder()
            try view.merge()
            check.equal(before.take(), ["will", "update 0.1", "did"], "to a list from before")
            // Without tokens the list cannot determine that it already contains the change: the change is reported, and has no effect.
            let isKnown = stack.storages[0].capabilities.contains(.history)
            check.equal(after.take(), isKnown ? [] : ["will", "update 0.1", "did"], "to a list that began with it")
            try stack.write { try person("Ben", in: $0).score = 3 }
            try view.merge()
            check.equal(before.take() + after.take(), ["will", "update 0.1", "did", "will", "update 0.1", "did"], "to both")
        },
        .graph("N007.also-beside-many-other-changes", "H7") { stack, check in
            try fill(stack)
            let view = stack.makeViewContext()
            // The former owners of pets are unknown from the values that the list reads: the list is fetched again, and changes are still
            // reported.
            let ordered = From<Dog>().orderBy(.ascending(\.owner?.name), .ascending(\.name))
            let plain = ListRecorder(try view.monitorList(ordered)), prefetched = ListRecorder(try view.monitorList(dogs.prefetch(\.owner)))
            let siblings = ValueExpression<Dog, Int>(.related(RelatedAggregate(.count, "owner.pets")))
            let undecided = ListRecorder(try view.monitorList(dogs.where(siblings > 0).prefetch(\.owner)))
            try stack.write { transaction in
                try transaction.insertAll(Into<Dog>(), sources: 0..<600) { $0.name = "Zed \($1)" }
                try person("Cid", in: transaction).name = "Cyd"
            }
            try view.merge()
            let ufo = try view.fetchAll(dogs.where(\.name == "Ufo")).map(\.objectID.key)
            for (list, what) in [(plain, "by the order"), (prefetched, "prefetched"), (undecided, "with a condition on members")] {
                check.equal(Array(list.updated), ufo, what)
                check.equal([list.events, list.refetches], [1, 0], "\(what): one change")
                check.equal(list.problems, [], "\(what): problems")
            }
        },
        .graph("N007.many-related-objects-at-once", "H7") { stack, check in
            try fill(stack)
            let view = stack.makeViewContext()
            let list = ListRecorder(try view.monitorList(From<Dog>().orderBy(.descending(\.owner?.score), .ascending(\.name))))
            try stack.write { try $0.insertAll(Into<Person>(), sources: 0..<40_000) { $0.age = $1 } }
            try stack.write { try $0.updateAll(From<Person>(), .set(\.score, to: 1)) }
            try stack.write { try person("Cid", in: $0).score = 2 }
            while try view.merge() {}
            check.equal(
                list.shown.keys, try stack.fetchIDs(From<Dog>().orderBy(.descending(\.owner?.score), .ascending(\.name))).map(\.key),
                "order")
            check.equal([list.refetches, list.problems.count], [0, 0], "problems \(list.problems)")
        },
        .graph("N007.one-object-and-its-relationships", "H7") { stack, check in
            try fill(stack)
            let view = stack.makeViewContext(), ann = try person("Ann", in: view)
            let object = ObjectRecorder(try view.monitorObject(ann))
            try stack.write { try person("Gil", in: $0).age = 71 }
            try stack.write { try $0.fetchOne(From<Dog>().where(\.name == "Rex"))?.name = "Max" }
            try view.merge()
            check.equal(object.take(), [], "values of related objects are not those of the object")
            try stack.write { transaction in try EventCases.remove("Gil", transaction) }
            try view.merge()
            check.equal(object.take(), ["deleted 1"], "a parent takes its children along")
        },
    ]
}
