internal import Polystore
internal import PolystoreStorage

/// Cases of group G: objects of two stores with the same keys are different objects, wherever a request names them.
enum IdentityCases {
    static let all: [ConformanceCase] = conditions + batches + order + lists

    private static let conditions: [ConformanceCase] = [
        twins("G090.an-object-in-a-condition-is-one-of-its-store", "R9") { pair, ann, check in
            let stack = pair.stack
            let people = From<Person>(), pets = From<Pet>(), key = ann.objectID
            let homes: [(String, Where<Person>)] = [
                ("isObject(in:)", .isObject(in: [key])),
                ("SELF ==", Where(format: "SELF == %@", ann)),
                ("SELF == by id", Where(format: "SELF == %@", key)),
                ("SELF == by URI", Where(format: "SELF == %@", key.description)),
                ("SELF IN", Where(format: "SELF IN %@", [key])),
                ("a URI in the text", Where(format: "SELF == \"\(key)\"")),
                ("contains", (\Person.pets).any((\Pet.owner).isObject(key))),
                ("within a subquery", Where(format: "SUBQUERY(pets, $p, $p.owner == %@).@count == 1", ann)),
                ("an object outside", Where(format: "SUBQUERY(pets, $p, SELF == %@).@count == 1", ann)),
                ("a list with an object outside", Where(format: "SUBQUERY(pets, $p, SELF IN %@).@count == 1", [ann])),
                ("not any other", !Where(format: "SELF != %@", ann)),
            ]
            for (name, condition) in homes { check.equal(try stack.fetchIDs(people.where(condition)), [key], name) }
            let owned: [(String, Where<Pet>)] = [
                ("==", \.owner == ann), ("isObject", (\Pet.owner).isObject(key)), ("format", Where(format: "owner == %@", ann)),
                ("IN", Where(format: "owner IN %@", [ann])), ("through a path", Where(format: "owner.parent == nil AND owner == %@", ann)),
            ]
            for (name, condition) in owned {
                let found = try stack.fetchAll(pets.where(condition))
                check.equal(found.map(\.name), ["Rex of A"], "owner \(name)")
                check.equal(found.map(\.objectID.key.store), [key.key.store], "store of owner \(name)")
                check.equal(try stack.fetchCount(pets.where(!condition)), 3, "not owner \(name)")
            }
            let rex = try stack.fetchAll(pets.where(\.owner == ann))[0]
            check.equal(try stack.fetchIDs(people.where((\Person.pets).contains(rex))), [key], "contains a pet")
            check.equal(try stack.fetchIDs(people.where(Where(format: "ANY pets == %@", rex))), [key], "ANY ==")
            check.equal(try stack.fetchIDs(people.where(Where(format: "NONE pets == %@", rex))).count, 3, "NONE ==")
            check.equal(try stack.fetchCount(people.where(\.parent != ann)), 4, "!= of nil")
        },
        twins("G090.an-object-of-another-hierarchy-is-none", "R9") { pair, ann, check in
            let stack = pair.stack
            let rex = try stack.fetchAll(From<Pet>().where(\.owner == ann))[0]
            check.equal(rex.objectID.key.key, ann.objectID.key.key, "the keys are the same number")
            check.equal(try stack.fetchCount(From<Person>().where(Where(format: "SELF == %@", rex))), 0, "a pet is no person")
            check.equal(try stack.fetchCount(From<Person>().where(Where(format: "SELF != %@", rex))), 4, "each is another")
            check.equal(try stack.fetchCount(From<Pet>().where(Where(format: "owner == %@", rex))), 0, "nor an owner")
            check.equal(try stack.fetchCount(From<Person>().where(Where(format: "SELF IN %@", [rex]))), 0, "in a list")
            check.equal(
                try stack.fetchCount(From<Person>().where(.isObject(in: [ann.objectID, ObjectID<Person>(rex.objectID.key)]))), 1,
                "beside one")
        },
        twins("G090.what-is-no-object-is-refused", "R9") { pair, ann, check in
            let stack = pair.stack
            for text in ["Ann", "", "polystore://", "polystore://x/Person/1", ann.objectID.description + "x"] {
                check.throwing(.invalidPredicate, "SELF == \(text)") {
                    _ = try stack.fetchAll(From<Person>().where(Where(format: "SELF == %@", text)))
                }
                check.throwing(.invalidPredicate, "IN \(text)") {
                    _ = try stack.fetchAll(From<Person>().where(Where(format: "SELF IN %@", [text])))
                }
            }
            check.throwing(.invalidPredicate, "an order of objects") {
                _ = try stack.fetchAll(From<Person>().where(Where(format: "SELF > %@", ann)))
            }
        },
        twins("G090.pending-changes-are-judged-by-store", "R9") { pair, ann, check in
            let stack = pair.stack
            let work = stack.beginUnsafe()
            for pet in try work.fetchAll(From<Pet>()) { pet.name += "!" }
            check.equal(try work.fetchAll(From<Pet>().where(\.owner == ann)).map(\.name), ["Rex of A!"], "changed pets")
            check.equal(try work.fetchIDs(From<Person>().where(.isObject(in: [ann.objectID]))), [ann.objectID], "people")
        },
    ]

    private static let batches: [ConformanceCase] = [
        twins("G091.a-batch-changes-the-objects-that-it-names", "R9") { pair, ann, check in
            let stack = pair.stack
            try pair.needsCommonCommits()
            try stack.write { transaction in
                let only = From<Person>().where(.isObject(in: [ann.objectID]))
                check.equal(try transaction.updateAll(only, .set(\.age, to: 7)), 1, "updated")
            }
            check.equal(try stack.fetchIDs(From<Person>().where(\.age == 7)), [ann.objectID], "updated objects")
            try stack.write { transaction in
                check.equal(try transaction.deleteAll(From<Person>().where(Where(format: "SELF == %@", ann))), 2, "deleted, with the dog")
            }
            check.equal(
                try stack.fetchAll(From<Person>().orderBy(.ascending(\.name))).map(\.name), ["Ann of B", "Bob of A", "Bob of B"], "left")
        },
        .pairs("G091.a-limited-batch-takes-the-first-objects-of-all-stores", "R9", "People", "Rest") { pair, check in
            try pair.needsCommonCommits()
            // Alternately: a0 in the first store, a1 in the second, and so on.
            for number in 0..<6 { try song(pair, "a\(number)", in: number % 2 == 0 ? "People" : "Rest") }
            let songs = From<Song>().orderBy(.ascending(\.title)), stack = pair.stack
            try stack.write { transaction in
                check.equal(try transaction.updateAll(songs.offset(1).limit(3), .set(\.title, to: "b")), 3, "updated")
                check.equal(try transaction.fetchAll(songs).map(\.title), ["a0", "a4", "a5", "b", "b", "b"], "with the pending update")
                check.equal(try transaction.deleteAll(songs.limit(2)), 2, "deleted")
                check.equal(try transaction.deleteAll(songs.offset(9)), 0, "deleted after the last")
            }
            check.equal(try stack.fetchAll(songs).map(\.title), ["a5", "b", "b", "b"], "left")
            try stack.write { transaction in
                check.equal(try transaction.updateAll(songs, .set(\.title, to: "c")), 4, "all, in an order")
                check.equal(try transaction.deleteAll(songs), 4, "all of them")
            }
        },
        .pairs("G091.a-batch-without-objects-deletes-what-it-names", "R9", "People", "Rest") { pair, check in
            try pair.needsCommonCommits()
            for configuration in ["People", "Rest"] { try song(pair, "same", in: configuration) }
            let id = try pair.stack.fetchIDs(From<Song>("Rest"))[0]
            try pair.stack.write { transaction in
                check.equal(try transaction.deleteAll(From<Song>().where(.isObject(in: [id]))), 1, "deleted")
            }
            check.equal(try pair.stack.fetchCount(From<Song>("People")), 1, "left in the first")
            check.equal(try pair.stack.fetchCount(From<Song>("Rest")), 0, "left in the second")
        },
    ]

    private static let order: [ConformanceCase] = [
        .pairs("G092.pages-over-both-have-each-object-once", "O5", "People", "Rest") { pair, check in
            for configuration in ["People", "Rest"] {
                for number in 0..<15 { try song(pair, "title \(number % 4)", in: configuration) }
            }
            let requests: [(String, From<Song>)] = [
                ("unsorted", From()), ("with ties", From().orderBy(.ascending(\.title))),
                ("descending", From().orderBy(.descending(\.title))),
                ("with a condition", From().where(\.title != "title 1").orderBy(.ascending(\.title))),
            ]
            for (name, from) in requests {
                let all = try pair.stack.fetchIDs(from)
                for size in [1, 4, 7, 30] {
                    var found: [ObjectID<Song>] = [], cursor: PageCursor?
                    repeat {
                        let page = try pair.stack.fetchPage(from.limit(size), after: cursor)
                        found += page.objects.map(\.objectID)
                        cursor = page.next
                    } while cursor != nil && found.count <= all.count
                    check.equal(found, all, "\(name) in pages of \(size)")
                }
            }
        },
        twins("G092.an-order-by-an-object-puts-one-first", "R9") { pair, ann, check in
            let stack = pair.stack
            let first = ValueExpression<Person, Int>(try QueryExpression(parsing: "TERNARY(SELF == \"\(ann.objectID)\", 0, 1)"))
            let names = try stack.fetchAll(From<Person>().orderBy(.ascending(first), .descending(\.name))).map(\.name)
            check.equal(names, ["Ann of A", "Bob of B", "Bob of A", "Ann of B"], "names")
        },
        twins("G092.limits-without-an-end", "R9") { pair, _, check in
            let all = From<Person>().limit(.max).offset(1).orderBy(.ascending(\.name))
            check.equal(try pair.stack.queryAttributes(all.select(.attribute(\.name))).count, 3, "rows")
            check.equal(try pair.stack.fetchAll(all).count, 3, "objects")
        },
        twins("G092.objects-of-two-stores-make-no-group", "R9") { pair, ann, check in
            let stack = pair.stack
            let counted = From<Pet>().select(Select(named: "owner"), .count(as: "number")).groupBy(named: "owner")
            check.throwing(.unsupported, "groups by owner") { _ = try stack.queryAttributes(counted) }
            let one = From<Pet>("People").select(Select(named: "owner"), .count(as: "number")).groupBy(named: "owner")
            check.equal(try stack.queryAttributes(one).count, 2, "of one store")
            check.equal(try stack.queryValue(From<Pet>().where(\.owner == ann).select(Int.self, .count())), 1, "a count with an object")
        },
    ]

    private static let lists: [ConformanceCase] = [
        twins("G093.a-list-follows-the-objects-that-it-names", "R9") { pair, ann, check in
            let stack = pair.stack
            let view = stack.makeViewContext()
            let list = ListRecorder(try view.monitorList(From<Pet>().where(\.owner == ann).orderBy(.ascending(\.name))))
            for pet in try stack.fetchAll(From<Pet>()) { try stack.write { try $0.edit(pet)?.name += "!" } }
            try view.merge()
            check.equal(list.shown.keys.map(\.store), [ann.objectID.key.store], "the pet of the one, and not of the other of the same key")
            check.equal(list.problems, [], "problems")
        }
    ]

    /// Returns a case over Ann and Bob with a dog each in two stores, with the same keys in both. Ann is the one of the store "People".
    private static func twins(
        _ id: String, _ clause: String, _ body: @escaping @Sendable (StorePair, Person, Check) throws -> Void
    ) -> ConformanceCase {
        .pairs(id, clause, "People", nil) { pair, check in
            for (configuration, store) in [("People", "A"), (nil, "B")] as [(String?, String)] {
                for name in ["Ann", "Bob"] {
                    try pair.stack.write { transaction in
                        let person = try transaction.create(Into<Person>(configuration)),
                            dog = try transaction.create(Into<Dog>(configuration))
                        (person.name, dog.name, dog.owner) = ("\(name) of \(store)", "Rex of \(store)", person)
                    }
                }
            }
            let twins = try pair.stack.fetchAll(From<Person>().where((\Person.name).beginsWith("Ann")).orderBy(.ascending(\.name)))
            check.equal(twins.map(\.objectID.key.key), [1, 1], "the same key in both")
            try body(pair, twins[0], check)
        }
    }

    private static func song(_ pair: StorePair, _ title: String, in configuration: String) throws {
        try pair.stack.write { try $0.create(Into<Song>(configuration)).title = title }
    }
}
