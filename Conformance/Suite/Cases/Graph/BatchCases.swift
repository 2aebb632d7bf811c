internal import Polystore
internal import PolystoreStorage

/// Cases about changes of many rows in the store, and their effect on the object graph above it.
enum BatchCases {
    static let all: [ConformanceCase] = updates + computed + deletions + insertions

    private static func people(_ stack: DataStack, _ ages: [Int]) throws {
        try stack.write { transaction in
            for (number, age) in ages.enumerated() {
                let person = try transaction.create(Person.self)
                (person.name, person.age, person.room, person.seat) = ("\(number)", age, "A", number)
            }
        }
    }

    private static func ages(_ stack: DataStack) throws -> [Int] { try stack.fetchAll(From<Person>()).map(\.age) }

    private static let updates: [ConformanceCase] = [
        .graph("L008.a-batch-raises-versions", "H2", needs: [.history]) { stack, check in
            try people(stack, [1, 2, 3])
            let view = stack.makeViewContext(), seen = try view.fetchAll(From<Person>())
            let count = try stack.perform(
                author: "batch",
                synchronous: { transaction in
                    let known = try transaction.fetchAll(From<Person>())
                    known[0].name = "changed"
                    let count = try transaction.updateAll(From<Person>().where(\.age > 1), .set(\.age, to: 9), .set(\.score, to: 1.5))
                    check.equal(known.map(\.age), [1, 9, 9], "objects that the transaction has")
                    check.equal(known[0].name, "changed", "its own change")
                    check.equal(try transaction.fetchCount(From<Person>().where(\.age == 9)), 2, "a fetch sees the change")
                    return count
                })
            check.equal(count, 2, "objects")
            check.equal(try stack.fetchAll(From<Person>()).map(\.version), [2, 2, 2], "versions")
            try view.merge()
            check.equal(seen.map(\.age), [1, 9, 9], "a view context follows")
            let changes = Array(try stack.storages[0].entry(by: "batch")?.changes ?? HistoryChanges())
            check.equal(changes.count, 3, "changes in the history")
        },
        .graph("L008.values-that-are-computed", "Q9") { stack, check in
            try people(stack, [1, -7, 40])
            check.equal(try stack.write { try $0.updateAll(From<Person>(), .set(\.age, to: \.age + 1)) }, 3, "objects")
            check.equal(try ages(stack), [2, -6, 41], "a sum")
            try stack.write { _ = try $0.updateAll(From<Person>(), .set(\.age, to: \.age / 4), .set(\.name, to: (\Person.name).uppercase)) }
            check.equal(try ages(stack), [0, -1, 10], "a quotient")
            try stack.write { _ = try $0.updateAll(From<Person>().where(\.age > 0), .set(\.seat, to: nil), .set(\.email, to: \.room)) }
            check.equal(try stack.fetchAll(From<Person>().where(\.email == "A")).map(\.seat), [nil], "nil and another attribute")
        },
        .graph("L008.a-value-that-overflows-changes-nothing", "Q2") { stack, check in
            try people(stack, [1, .max, 3])
            check.throwing(.arithmeticOverflow, "a sum") {
                _ = try stack.write { try $0.updateAll(From<Person>(), .set(\.age, to: \.age + 1)) }
            }
            check.throwing(.divisionByZero, "a quotient") {
                _ = try stack.write { try $0.updateAll(From<Person>(), .set(\.age, to: \.age / 0)) }
            }
            check.equal(try ages(stack), [1, .max, 3], "nothing is changed")
        },
        .graph("L008.a-condition-over-relationships", "W16") { stack, check in
            try people(stack, [1, 2, 3])
            try stack.write { transaction in
                let all = try transaction.fetchAll(From<Person>())
                all[1].parent = all[0]
                try transaction.create(Dog.self).owner = all[2]
            }
            try stack.write { transaction in
                check.equal(try transaction.updateAll(From<Person>().where(\.parent?.age == 1), .set(\.age, to: 20)), 1, "over to-one")
                check.equal(
                    try transaction.updateAll(From<Person>().where((\Person.pets).count > 0), .set(\.age, to: 30)), 1, "over to-many")
                check.equal(
                    try transaction.updateAll(From<Person>().orderBy(.descending(\.age)).limit(1), .set(\.age, to: 99)), 1, "the first")
            }
            check.equal(try ages(stack), [1, 20, 99], "ages")
        },
        .graph("U017.a-batch-keeps-the-rules", "W13") { stack, check in
            try stack.write { transaction in
                for rank in 1...3 {
                    let squad = try transaction.create(Squad.self)
                    (squad.name, squad.rank) = ("Abc", rank)
                    squad.players = [try transaction.create(Player.self)]
                }
            }
            do {
                _ = try stack.write { try $0.updateAll(From<Squad>().where(\.rank > 1), .set(\.rank, to: 11)) }
                check.isTrue(false, "a rank of 11 is refused")
            } catch let error as StorageError {
                check.equal(error.code, .validationFailed, "code")
                check.equal(error.details.failures.count, 2, "failures")
            }
            check.equal(try stack.fetchAll(From<Squad>()).map(\.rank), [1, 2, 3], "nothing is changed")
            check.throwing(.unsupported, "a relationship") {
                _ = try stack.write { transaction in
                    try transaction.updateAll(From<Player>(), .set(\.number, to: 1), .set(\.squad!.rank, to: 1))
                }
            }
        },
        .graph("U019.a-batch-exchanges-unique-values", "W14") { stack, check in
            try people(stack, [1, 2, 3])
            let reversed = ValueExpression<Person, Int?>(.function(.subtract, [.value(.int(2)), .path("seat")]))
            check.equal(try stack.write { try $0.updateAll(From<Person>(), .set(\.seat, to: reversed)) }, 3, "objects")
            check.equal(try stack.fetchAll(From<Person>()).map(\.seat), [2, 1, 0], "seats")
            check.throwing(.uniqueConstraintViolated, "one unique value for all") {
                _ = try stack.write { try $0.updateAll(From<Person>(), .set(\.seat, to: 1)) }
            }
        },
        .pairs("G049.batches-in-two-stores", "X2", "People", "Rest") { pair, check in
            try pair.needsCommonCommits()
            for number in 0..<3 {
                try pair.stack.write { transaction in
                    try transaction.create(Into<Song>("People")).title = "p"
                    try transaction.insertAll(Into<Entry>(), sources: 0..<3) { $0.number = $1 }
                    try transaction.updateAll(From<Song>(), .set(\.title, to: "\(number)"))
                    try transaction.deleteAll(From<Entry>().where(\.number == 1))
                }
            }
            check.equal(try pair.stack.fetchAll(From<Song>()).map(\.title), ["2", "2", "2"], "titles")
            check.equal(try pair.stack.fetchCount(From<Entry>()), 6, "entries")
        },
    ]

    private static let deletions: [ConformanceCase] = [
        .graph("C060.a-batch-deletes", "W16", needs: [.history]) { stack, check in
            try stack.write { try $0.insertAll(Into<Entry>(), sources: 0..<10) { $0.number = $1 } }
            let view = stack.makeViewContext(), seen = try view.fetchAll(From<Entry>())
            try stack.perform(
                author: "batch",
                synchronous: { transaction in
                    let known = try transaction.fetchAll(From<Entry>())
                    try? transaction.nested {
                        check.equal(try transaction.deleteAll(From<Entry>().where(\.number > 1)), 8, "in a part")
                        throw ImportRefused()
                    }
                    check.equal(try transaction.fetchCount(From<Entry>()), 10, "after the part was undone")
                    check.equal(try transaction.deleteAll(From<Entry>().where(\.number < 4)), 4, "deleted")
                    check.equal(known.filter(\.isDeleted).count, 4, "objects that the transaction has")
                    check.equal(try transaction.deleteAll(From<Entry>().orderBy(.descending(\.number)).limit(1)), 1, "the first")
                })
            try view.merge()
            check.equal(seen.filter(\.isDeleted).count, 5, "a view context follows")
            check.equal(try stack.fetchAll(From<Entry>()).map(\.number), [4, 5, 6, 7, 8], "remaining objects")
            let changes = Array(try stack.storages[0].entry(by: "batch")?.changes ?? HistoryChanges())
            check.equal(changes.filter { $0.kind == .delete }.count, 5, "deletions in the history")
        },
        .graph("C060.rules-are-followed", "R4") { stack, check in
            try people(stack, [1, 2])
            try stack.write { transaction in
                try transaction.create(Dog.self).owner = try person("0", in: transaction)
            }
            check.equal(try stack.write { try $0.deleteAll(From<Person>().where(\.age == 1)) }, 2, "the person and the dog")
            check.equal(try stack.fetchCount(From<Dog>()), 0, "dogs")
        },
    ]

    private static func expression(_ text: String) throws -> ValueExpression<Person, Int> {
        ValueExpression(try QueryExpression(parsing: text))
    }

    /// Cases about values that are computed from properties which the statement itself changes.
    private static let computed: [ConformanceCase] = [
        .graph("L022.an-overflow-on-the-way-changes-nothing", "Q2") { stack, check in
            try people(stack, [.max - 5, .min + 5, 3])
            check.throwing(.arithmeticOverflow, "a sum that overflows before a difference") {
                _ = try stack.write { try $0.updateAll(From<Person>(), .set(\.age, to: (\.age + 100) - 1000)) }
            }
            check.throwing(.arithmeticOverflow, "a product that overflows before a difference") {
                _ = try stack.write { try $0.updateAll(From<Person>(), .set(\.age, to: (\.age * 4) - \.age * 4)) }
            }
            check.equal(try ages(stack), [.max - 5, .min + 5, 3], "nothing is changed")
        },
        .graph("L023.values-of-other-objects-are-those-before", "W16") { stack, check in
            try stack.write { transaction in
                var parent: Person?
                for age in 0..<5000 {
                    let person = try transaction.create(Person.self)
                    (person.age, person.parent) = (age, parent)
                    parent = person
                }
            }
            try stack.write { _ = try $0.updateAll(From<Person>(), .set(\.age, to: try expression("coalesce(parent.age, -1)"))) }
            check.equal(try ages(stack), Array(-1..<4999), "each has the age of its parent")
        },
        .graph("L024.related-objects-are-those-before", "W16") { stack, check in
            func chain() throws {
                try stack.write { transaction in
                    _ = try transaction.deleteAll(From<Person>())
                    var child: Person?
                    for age in 1...3 {
                        let person = try transaction.create(Person.self)
                        person.age = age
                        child?.parent = person
                        child = person
                    }
                }
            }
            try chain()
            try stack.write { _ = try $0.updateAll(From<Person>(), .set(\.age, to: try expression("coalesce(children.@max.age, 0)"))) }
            check.equal(try ages(stack), [0, 1, 2], "values")
            try chain()
            let haveChildren = Where<Person>(format: "ANY children.age > 0")
            check.equal(try stack.write { try $0.updateAll(From<Person>().where(haveChildren), .set(\.age, to: 0)) }, 2, "objects")
            check.equal(try ages(stack), [1, 0, 0], "a condition")
        },
    ]

    private static let insertions: [ConformanceCase] = [
        .graph("C061.a-batch-inserts", "W16") { stack, check in
            let ids = try stack.write { transaction in
                let ids = try transaction.insertAll(Into<Entry>(), sources: 0..<10_000) { entry, number in
                    entry.number = number
                    entry.text = "entry \(number)"
                }
                check.equal(try transaction.fetchCount(From<Entry>()), 10_000, "a fetch sees them")
                return ids
            }
            check.equal(ids.count, 10_000, "ids")
            check.equal(try stack.fetchExisting([ids[0], ids[9_999]]).map(\.text), ["entry 0", "entry 9999"], "texts")
            check.equal(try stack.queryValue(From<Entry>().select(Int.self, .sum(\.number))), 49_995_000, "the sum of the numbers")
        },
        .graph("C061.a-batch-of-inserts-is-all-or-nothing", "W4") { stack, check in
            check.throwing(.uniqueConstraintViolated, "two equal emails") {
                _ = try stack.write { try $0.insertAll(Into<Person>(), sources: ["a", "b", "a"]) { $0.email = $1 } }
            }
            check.throwing(.validationFailed, "a name that is too short") {
                _ = try stack.write { try $0.insertAll(Into<Squad>(), sources: ["x"]) { $0.name = $1 } }
            }
            check.equal(try stack.fetchCount(From<Person>()), 0, "people")
        },
        // The attributes from the 64th on are recorded elsewhere than the first ones.
        ConformanceCase("C063.an-upsert-keeps-what-was-assigned-before-a-part-that-fails", clause: "W5, W17") { harness, check in
            let attributes = (0..<80).map { Attribute("x\($0)", .int64, isOptional: true) }
            let schema = try Schema(
                version: "1", entities: [Entity("Wide", attributes: attributes, uniqueConstraints: [UniqueConstraint(["x0"])])])
            let place = try harness.place(), stack = try DataStack(schema: schema), wide = Into<DynamicObject>(entity: "Wide")
            defer { place.remove() }
            try stack.addStorageAndWait(try place.store(nil))
            defer { for store in stack.storages { try? store.close() } }
            struct Failed: Error {}
            for (number, isBatch) in [(Int64(1), false), (2, true), (3, false), (4, true)] {
                try stack.write { transaction in
                    // The first two are inserted, and the others updated.
                    try transaction.upsertAll(wide, onNamed: ["x0"], sources: [(number - 1) % 2]) { object, key in
                        for name in ["x3", "x62", "x63", "x64", "x79"] { try object.setValue(.int(number), for: name) }
                        do {
                            if isBatch {
                                try transaction.insertAll(wide, sources: [1]) { _, _ in throw Failed() }
                            } else {
                                try transaction.nested { throw Failed() }
                            }
                        } catch is Failed {}
                        try object.setValue(.int(key), for: "x0")
                    }
                }
                let found = try stack.read(synchronous: { source in
                    let object = try source.fetchAll(From<DynamicObject>(entity: "Wide")).first {
                        try $0.value("x0") == .int((number - 1) % 2)
                    }
                    return try ["x3", "x62", "x63", "x64", "x79"].map { try object?.value($0) }
                })
                check.equal(found, Array(repeating: .int(number), count: 5), "values \(number)")
            }
        },
        .graph("C061.an-object-of-a-batch-is-assigned-in-its-closure-only", "W16") { stack, check in
            check.throwing(.readOnly, "an assignment after the batch") {
                try stack.write { transaction in
                    var kept: Entry?
                    try transaction.insertAll(Into<Entry>(), sources: [1]) { entry, number in (entry.number, kept) = (number, entry) }
                    kept?.number = 99
                    check.equal(kept?.number, 1, "the number")
                }
            }
            check.throwing(.readOnly, "an assignment in the closure of the next one") {
                try stack.write { transaction in
                    var kept: Person?
                    try transaction.upsertAll(Into<Person>(), on: \.email, sources: ["a", "b"]) { person, email in
                        kept?.age = 99
                        (person.email, kept) = (email, person)
                    }
                }
            }
            check.equal(try stack.fetchCount(From<Entry>()) + stack.fetchCount(From<Person>()), 0, "objects")
        },
    ]
}
