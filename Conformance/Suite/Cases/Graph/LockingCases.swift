internal import Foundation
internal import Polystore
internal import PolystoreStorage

/// Cases of group L over objects: versions, and conflicts between two changes of one object.
enum LockingCases {
    static let all: [ConformanceCase] = versions + raw + policies

    private static let versions: [ConformanceCase] = [
        .graph("L001.versions-of-objects", "W8") { stack, check in
            try stack.add("Ann")
            check.equal(try stack.fetchAll(From<Person>())[0].version, 1, "of a new object")
            try stack.write { try person("Ann", in: $0).age = 1 }
            try stack.write { _ = try person("Ann", in: $0).update(\.age, value: 1) }
            check.equal(try stack.fetchAll(From<Person>())[0].version, 2, "after one change and one that changed nothing")
        },
        .graph("L002.base-mine-and-theirs", "W8") { stack, check in
            try stack.add("Ann")
            let work = try stale(stack) {
                $0.age = 10
            } other: {
                $0.age = 20
            }
            do {
                try work.commit()
                check.isTrue(false, "the commit is stale")
            } catch let error as StorageError {
                check.equal(error.code, .staleObject, "code")
                let conflict = error.details.conflicts.first
                check.equal(conflict?.base["age"], .int(0), "base")
                check.equal(conflict?.mine, ["age": .int(10)], "mine")
                check.equal(conflict?.theirs?["age"], .int(20), "theirs")
            }
            check.equal(try stack.fetchAll(From<Person>())[0].age, 20, "stored values")
        },
        .graph("L003.a-stale-deletion", "W8") { stack, check in
            try stack.add("Ann")
            let work = stack.beginUnsafe()
            try work.delete(person("Ann", in: work))
            try stack.write { try person("Ann", in: $0).age = 20 }
            check.throwing(.staleObject, "deleting") { try work.commit() }
            check.equal(try stack.fetchCount(From<Person>()), 1, "people")
        },
        .graph("L004.a-change-of-what-was-deleted", "W8") { stack, check in
            try stack.add("Ann")
            let work = stack.beginUnsafe()
            try person("Ann", in: work).age = 10
            try stack.write { try $0.delete(person("Ann", in: $0)) }
            do {
                try work.commit()
                check.isTrue(false, "the commit is stale")
            } catch let error as StorageError {
                check.equal(error.code, .staleObject, "code")
                check.isTrue(error.details.conflicts.first.map { $0.theirs == nil } ?? false, "theirs is nothing")
            }
        },
        .graph("L005.different-rows-do-not-meet", "W8") { stack, check in
            try stack.add("Ann", "Bob")
            let work = stack.beginUnsafe()
            try person("Ann", in: work).age = 10
            try stack.write { try person("Bob", in: $0).age = 20 }
            try work.commit()
            check.equal(try stack.fetchAll(From<Person>().orderBy(.ascending(\.name))).map(\.age), [10, 20], "ages")
        },
        .graph("L007.a-to-one-is-a-change-of-the-side-that-holds-it", "W8") { stack, check in
            try stack.add("Ann")
            try stack.write { try $0.create(Dog.self).owner = person("Ann", in: $0) }
            let before = try stack.fetchAll(From<Dog>())[0].version
            try stack.write { try $0.fetchAll(From<Dog>())[0].owner = nil }
            check.equal(try stack.fetchAll(From<Dog>())[0].version, before + 1, "of the pet")
            check.equal(try stack.fetchAll(From<Person>())[0].version, 1, "of the owner")
        },
        .graph("L009.a-conflict-writes-nothing", "W8") { stack, check in
            try stack.add("Ann", "Bob", "Cid")
            let work = stack.beginUnsafe()
            for name in ["Ann", "Bob", "Cid"] { try person(name, in: work).age = 10 }
            try stack.write { try person("Cid", in: $0).age = 20 }
            check.throwing(.staleObject, "the commit") { try work.commit() }
            check.equal(try stack.fetchAll(From<Person>().orderBy(.ascending(\.name))).map(\.age), [0, 0, 20], "ages")
        },
        .graph("L010.refresh-and-commit-again", "W8") { stack, check in
            try stack.add("Ann")
            let work = try stale(stack) {
                $0.age = 10
            } other: {
                $0.age = 20
            }
            check.throwing(.staleObject, "the first commit") { try work.commit() }
            try work.rollback()
            let ann = try person("Ann", in: work)
            check.equal(ann.age, 20, "values of the other transaction")
            ann.age += 1
            try work.commit()
            check.equal(try stack.fetchAll(From<Person>())[0].age, 21, "age")
        },
        .graph("L011.increments-from-eight-threads", "W8") { stack, check in
            try stack.add("Ann")
            let failures = Counter()
            Threads.run(8) { _ in
                for _ in 0..<25 {
                    do { try stack.write { try person("Ann", in: $0).age += 1 } } catch { failures.add() }
                }
            }
            check.equal(failures.value, 0, "failures")
            check.equal(try stack.fetchAll(From<Person>())[0].age, 200, "age")
        },
        .graph("L014.what-was-only-read-can-be-validated", "W8") { stack, check in
            try stack.add("Ann", "Bob")
            let work = stack.beginUnsafe()
            let ann = try person("Ann", in: work), bob = try person("Bob", in: work)
            bob.age = ann.age + 1
            try stack.write { try person("Ann", in: $0).age = 50 }
            check.throwing(.staleObject, "a decision that rests on Ann") { try work.commit(validatesReads: true) }
            try work.commit()
            check.equal(try stack.fetchAll(From<Person>().where(\.name == "Bob"))[0].age, 1, "without validation")
        },
        .graph("L015.refresh-shows-theirs", "W8") { stack, check in
            try stack.add("Ann")
            let work = stack.beginUnsafe()
            let ann = try person("Ann", in: work)
            try stack.write { try person("Ann", in: $0).age = 50 }
            check.equal(ann.age, 0, "before")
            try work.refresh()
            check.equal(ann.age, 50, "after")
        },
        .graph("L006.an-edit-is-never-stale", "W8") { stack, check in
            try stack.add("Ann")
            let ann = try stack.fetchAll(From<Person>())[0]
            try stack.write { try person("Ann", in: $0).age = 50 }
            try stack.write { try $0.edit(ann)?.age += 1 }
            check.equal(try stack.fetchAll(From<Person>())[0].age, 51, "the current row was edited")
        },
        .graph("L006.an-edit-of-an-expected-version", "W8") { stack, check in
            try stack.add("Ann")
            let ann = try stack.fetchAll(From<Person>())[0]
            try stack.write { try $0.edit(ann, expecting: ann.version)?.age = 1 }
            check.throwing(.staleObject, "an older version") {
                try stack.write { try $0.edit(ann, expecting: ann.version)?.age = 2 }
            }
            check.equal(try stack.fetchAll(From<Person>())[0].age, 1, "age")
        },
    ]

    private static let raw: [ConformanceCase] = [
        ConformanceCase("L013.a-version-at-its-end", clause: "W8") { harness, check in
            try harness.withStore { scratch in
                let thing = try scratch.entity("Thing")
                let batch = RowBatch(capacity: 1), slots = scratch.schema[thing].slots.count
                batch.appendRow(key: 1, version: .max, entity: thing, slots: slots).update(repeating: .null, count: slots)
                try scratch.write { try $0.load(thing, batch) }
                // Any error of the engine is accepted, but success is not.
                do {
                    try scratch.update("Thing", 1, ["number": .int(1)])
                    check.isTrue(false, "a further change is refused")
                } catch {
                    check.isTrue(error is StorageError, "with an error of the contract")
                }
                check.equal(try scratch.rows("Thing", keys: [1]).map { $0.values["number"] ?? .null }, [.null], "number")
            }
        },
        ConformanceCase("U004.unique-numbers-and-dates", clause: "W14") { harness, check in
            let types: [(String, ValueType)] = [("real", .double), ("price", .decimal), ("at", .date), ("uid", .uuid), ("bytes", .data)]
            let schema = try Schema(
                entities: types.map { name, type in
                    Entity(
                        "Of_\(name)", attributes: [Attribute(name, type, isOptional: true)], uniqueConstraints: [UniqueConstraint([name])])
                })
            try harness.withStore(schema) { scratch in
                let uid = UUID()
                let pairs: [(String, Value, Value)] = [
                    ("real", .double(0), .double(1)), ("price", .decimal(1), .decimal(Decimal(string: "1.01") ?? 0)),
                    ("at", .date(1_000_000), .date(1_000_001)), ("uid", .uuid(uid), .uuid(UUID())),
                    ("bytes", .data(Data([1])), .data(Data([1, 0]))),
                ]
                for (name, value, other) in pairs {
                    try scratch.insert("Of_\(name)", [[name: value], [name: other], [:], [:]])
                    check.throwing(.uniqueConstraintViolated, "\(name) twice") { try scratch.insert("Of_\(name)", [[name: value]]) }
                }
                // 1.00 becomes 1, and -0.0 becomes 0, before a store receives them.
                let price = Attribute("price", .decimal), real = Attribute("real", .double)
                check.equal(try price.normalise(.decimal(Decimal(string: "1.00") ?? 0)), .decimal(1), "1.00")
                check.equal(try real.normalise(.double(-0.0)), .double(0), "-0.0")
            }
        },
        ConformanceCase("U005.unique-relationships", clause: "W14") { harness, check in
            let schema = try Schema(entities: [
                Entity("Seat"),
                Entity(
                    "Ticket", attributes: [Attribute("day", .int64)], relationships: [Relationship("seat", to: "Seat")],
                    uniqueConstraints: [UniqueConstraint(["seat", "day"])]),
            ])
            try harness.withStore(schema) { scratch in
                let seats = try scratch.insert("Seat", [[:], [:]])
                try scratch.insert(
                    "Ticket",
                    [
                        ["seat": .int(seats[0]), "day": .int(1)], ["seat": .int(seats[1]), "day": .int(1)],
                        ["seat": .int(seats[0]), "day": .int(2)], ["day": .int(1)], ["day": .int(1)],
                    ])
                check.throwing(.uniqueConstraintViolated, "the same seat on the same day") {
                    try scratch.insert("Ticket", [["seat": .int(seats[1]), "day": .int(1)]])
                }
            }
        },
    ]

    private static let policies: [ConformanceCase] = [
        .graph("L006.mine-wins", "W8") { stack, check in
            try stack.add("Ann")
            let work = try stale(stack) {
                $0.age = 10
            } other: {
                $0.age = 20
                $0.score = 2
            }
            try work.commit(merging: .mine)
            let ann = try stack.fetchAll(From<Person>())[0]
            check.isTrue(ann.age == 10 && ann.score == 2, "my age, their score")
        },
        .graph("L006.theirs-wins", "W8") { stack, check in
            try stack.add("Ann")
            let work = try stale(stack) {
                $0.age = 10
                $0.score = 1
            } other: {
                $0.age = 20
            }
            try work.commit(merging: .theirs)
            let ann = try stack.fetchAll(From<Person>())[0]
            check.isTrue(ann.age == 20 && ann.score == 0, "nothing of mine")
        },
        .graph("L006.by-attribute", "W8") { stack, check in
            try stack.add("Ann")
            let work = try stale(stack) {
                $0.age = 10
                $0.score = 1
            } other: {
                $0.age = 25
            }
            try work.commit(
                merging: .byAttribute { _, _, base, mine, theirs in
                    guard case .int(let base) = base, case .int(let mine) = mine, case .int(let theirs) = theirs else { return mine }
                    return .int(base + (mine - base) + (theirs - base))
                })
            let ann = try stack.fetchAll(From<Person>())[0]
            check.isTrue(ann.age == 35 && ann.score == 1, "both increments, my score")
        },
        .graph("U014.mine-against-a-deletion", "W8") { stack, check in
            try stack.add("Ann")
            let work = stack.beginUnsafe()
            try person("Ann", in: work).age = 10
            try stack.write { try $0.delete(person("Ann", in: $0)) }
            try work.commit(merging: .mine)
            check.equal(try stack.fetchCount(From<Person>()), 0, "a deleted object stays deleted")
        },
        .graph("U014.a-deletion-against-a-change", "W8") { stack, check in
            for (policy, left) in [(MergePolicy.mine, 0), (.theirs, 1)] {
                try stack.write { try $0.delete($0.fetchAll(From<Person>())) }
                try stack.add("Ann")
                let work = stack.beginUnsafe()
                try work.delete(person("Ann", in: work))
                try stack.write { try person("Ann", in: $0).age = 20 }
                try work.commit(merging: policy)
                check.equal(try stack.fetchCount(From<Person>()), left, "people left with \(policy)")
            }
        },
    ]

    /// Returns a detached transaction with a change of Ann, after another transaction has changed Ann.
    private static func stale(
        _ stack: DataStack, _ mine: (Person) -> Void, other: (Person) -> Void
    ) throws -> UnsafeTransaction {
        let work = stack.beginUnsafe()
        mine(try person("Ann", in: work))
        try stack.write { other(try person("Ann", in: $0)) }
        return work
    }
}
