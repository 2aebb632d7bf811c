internal import Foundation
internal import Polystore
internal import PolystoreStorage
internal import Synchronization

/// Cases of group P over the object graph: objects, values and variables in conditions.
enum ConditionCases {
    static let all: [ConformanceCase] = objects + values + paths

    private static func pets(_ rex: Dog) -> Where<Person> { Where(format: "ANY pets == %@", rex) }

    private static let objects: [ConformanceCase] = [
        .graph("P035.deleted-object", "E1") { stack, check in
            try stack.add("Ann")
            try stack.write { transaction in
                let ann = try person("Ann", in: transaction), rex = try transaction.create(Dog.self)
                try transaction.delete(ann, rex)
                let conditions: [(String, Where<Dog>)] = [
                    ("equal", \.owner == ann), ("not equal", \.owner != ann), ("a text", Where(format: "owner == %@", ann)),
                    ("a list", Where(format: "owner IN %@", [ann])), ("a variable", Where(format: "owner == $A").substituting(["A": ann])),
                ]
                for (name, condition) in conditions {
                    check.throwing(.invalidPredicate, name) { _ = try transaction.fetchAll(From<Dog>().where(condition)) }
                }
                check.throwing(.invalidPredicate, "among related objects") {
                    _ = try transaction.fetchAll(From<Person>().where(pets(rex)))
                }
                check.equal(try transaction.fetchCount(From<Dog>().where((\Dog.owner).isObject(ann.objectID))), 0, "by its id")
            }
        },
        .graph("P035.deleted-elsewhere", "E1") { stack, check in
            try stack.add("Ann")
            let view = stack.makeViewContext()
            let ann = try person("Ann", in: view)
            check.equal(try view.fetchCount(From<Dog>().where(\.owner == ann)), 0, "before")
            try stack.write { try $0.delete(person("Ann", in: $0)) }
            try view.merge()
            check.throwing(.invalidPredicate, "after the merge") { _ = try view.fetchCount(From<Dog>().where(\.owner == ann)) }
        },
        .graph("P036.unsaved-object", "W3") { stack, check in
            try stack.add("Ann")
            try stack.write { transaction in
                let bob = try transaction.create(Person.self), rex = try transaction.create(Dog.self)
                rex.owner = bob
                check.equal(try transaction.fetchIDs(From<Dog>().where(\.owner == bob)), [rex.objectID], "pending changes")
                check.equal(try transaction.fetchIDs(From<Person>().where(pets(rex))), [bob.objectID], "the other way")
                check.equal(try transaction.fetchCount(From<Dog>().where(\.owner != bob)), 0, "the opposite")
                let committed = From<Dog>().where(\.owner == bob).select(Int.self, .count())
                check.equal(try transaction.queryValue(committed), 0, "the newest committed state")
            }
        },
        .graph("P036.unsaved-object-of-detached-work", "W9") { stack, check in
            let work = stack.beginUnsafe()
            let bob = try work.create(Person.self), rex = try work.create(Dog.self)
            rex.owner = bob
            let condition: Where<Dog> = \.owner == bob
            check.equal(try work.fetchCount(From<Dog>().where(condition)), 1, "inside")
            check.equal(try stack.fetchCount(From<Dog>().where(condition)), 0, "outside, before the commit")
            try work.commit()
            check.equal(try stack.fetchCount(From<Dog>().where(condition)), 1, "outside, after it: the id stays")
        },
    ]

    private static let values: [ConformanceCase] = [
        ConformanceCase("P038.one-variable-twice", clause: "Q11") { harness, check in
            try harness.withFixture { scratch in
                let template = try QueryPredicate(parsing: "number == $N OR SUBQUERY(children, $x, $x.number == $N).@count > 0")
                for (number, keys) in [(2, [1, 2, 5]), (-7, [1, 4]), (100, [])] as [(Int64, [Int64])] {
                    let predicate = try template.substituting(["N": .value(.int(number))])
                    check.equal(try scratch.keys(ObjectRequest("Thing", where: predicate)), keys, "\(number)")
                }
                let list = try QueryPredicate(parsing: "number IN $L AND NOT text BEGINSWITH $T").substituting([
                    "L": .list([.int(1), .int(2), .null]), "T": .value(.string("app")),
                ])
                check.equal(try scratch.keys(ObjectRequest("Thing", where: list)), [2, 3, 5], "a list and a text")
                do {
                    _ = try scratch.keys(ObjectRequest("Thing", where: template))
                    check.isTrue(false, "a variable without a value is refused")
                } catch let error as QueryError {
                    check.equal(error.path, "$N", "the variable that is named")
                }
            }
        },
        .graph("P038.no-later-change-is-seen", "Q11") { stack, check in
            try stack.add("Ann", "Bob")
            var name = "Ann", names = ["Ann"], values: [String: Any?] = ["N": "Ann"]
            let conditions: [Where<Person>] = [
                \.name == name, (\Person.name).isIn(names), Where(format: "name == %@", name), Where(format: "name IN %@", names),
                Where(format: "name == $N").substituting(values),
            ]
            (name, names, values) = ("Bob", ["Bob"], ["N": "Bob"])
            for (index, condition) in conditions.enumerated() {
                check.equal(try stack.fetchAll(From<Person>().where(condition)).map(\.name), ["Ann"], "condition \(index)")
            }
            check.equal([name] + names, ["Bob", "Bob"], "the changed variables")
            // A condition compares the identity of an object, whatever is assigned to the object.
            try stack.write { transaction in
                let ann = try person("Ann", in: transaction)
                try transaction.create(Dog.self).owner = ann
                let condition: Where<Dog> = \.owner == ann
                ann.name = "Cid"
                check.equal(try transaction.fetchCount(From<Dog>().where(condition)), 1, "an object")
            }
        },
        .graph("P039.one-condition-on-a-hundred-threads", "Q11") { stack, check in
            try stack.add("Ann", "Bob", "Cid")
            let condition: Where<Person> = Where(format: "name BEGINSWITH[c] 'b' OR SUBQUERY(pets, $x, $x.name == name).@count > 0")
            let outcomes = Mutex<[String]>([])
            Threads.run(100) { _ in
                let found: String
                do {
                    found = try stack.fetchAll(From<Person>().where(condition)).map(\.name).joined(separator: " ")
                } catch {
                    found = "\(error)"
                }
                outcomes.withLock { $0.append(found) }
            }
            check.equal(outcomes.withLock { $0 }, Array(repeating: "Bob", count: 100), "answers")
        },
    ]

    private static func path(_ first: String, _ hops: Int) -> String {
        ([first] + Array(repeating: "parent", count: hops - 1)).joined(separator: ".")
    }

    private static let paths: [ConformanceCase] = [
        .graph("P069.paths-have-a-limit", "Q10") { stack, check in
            try stack.add("Ann")
            let longest = path("parent", 32), tooLong = path("parent", 33)
            check.equal(try stack.fetchCount(From<Person>().where(Where(format: "\(longest).age == NIL"))), 1, "the longest")
            for condition in [
                "\(tooLong).age == 1", "age == 1 OR \(tooLong).parent == NIL", "ANY \(tooLong).children.age == 1",
                "\(tooLong).children.@count == 0",
                "ANY children.\(tooLong).age == 1",
            ] {
                check.throwing(.limitExceeded, condition.excerpt(60)) {
                    _ = try stack.fetchCount(From<Person>().where(Where(format: condition)))
                }
            }
            check.throwing(.limitExceeded, "an order") {
                let age = ValueExpression<Person, Int>(try QueryExpression(parsing: "\(tooLong).age"))
                _ = try stack.fetchAll(From<Person>().orderBy(.ascending(age)))
            }
        },
        .graph("P070.conditions-over-many-relationships", "Q8") { stack, check in
            try stack.write { transaction in
                var parent: Person?
                for age in 0..<40 {
                    let person = try transaction.create(Person.self)
                    (person.age, person.parent) = (age, parent)
                    parent = person
                }
                parent?.partner = try transaction.create(Person.self)
                parent?.partner?.age = 40
            }
            // More joins than engines support: parents of the object, of its partner and of its partner's partner.
            let parents = (1...32).flatMap { [path("parent", $0), path("partner", $0)] }.map { "\($0).age == 39" }
            let condition = (parents + ["partner.partner.parent.parent.age == 37"]).joined(separator: " OR ")
            let found = try stack.fetchAll(From<Person>().where(Where(format: condition)).orderBy(.descending(\.age)))
            check.equal(found.map(\.age), [40, 39], "objects")
        },
        .graph("P071.rows-on-the-way-of-nested-conditions", "Q8") { stack, check in
            try stack.write { transaction in
                let ann = try transaction.create(Person.self)
                ann.age = 7
                try transaction.create(Dog.self).owner = ann
                for age in 100..<200 {
                    let child = try transaction.create(Person.self), partner = try transaction.create(Person.self)
                    (child.age, child.parent, partner.age, child.partner) = (age, ann, age, partner)
                }
            }
            let condition =
                "SUBQUERY(pets.owner, $x, SUBQUERY($x.children, $y, $y.partner.age >= 100).@count == 100 AND $x.age == 7).@count > 0"
            check.equal(try stack.fetchAll(From<Person>().where(Where(format: condition))).map(\.age), [7], "the owner")
        },
    ]
}
