internal import Polystore
internal import PolystoreStorage

/// Cases of group U about upserts in the store: rows that are inserted, or that update existing rows.
enum UpsertCases {
    static let all: [ConformanceCase] = [
        .graph("U008.an-upsert-says-which-branch-it-took", "W17") { stack, check in
            try UniqueCases.make(stack, "a")
            let results = try stack.write { try upsert($0, [("a", "A"), ("b", "B"), ("c", "C")]) }
            check.equal(results.map(\.isInserted), [false, true, true], "branches")
            check.equal(try stack.names(), ["A", "B", "C"], "names")
            let found = try stack.fetchExisting(results.map(\.id))
            check.equal(found.map(\.email), ["a", "b", "c"], "the objects of the ids")
            check.equal(found.map(\.version), [2, 1, 1], "versions")
        },
        .graph("U009.an-upsert-changes-only-what-is-assigned", "W17") { stack, check in
            try stack.write { transaction in
                let ann = try transaction.create(Person.self)
                ann.email = "a"
                ann.age = 40
                ann.pets = [try transaction.create(Dog.self)]
            }
            try stack.write { transaction in
                // The transaction has already loaded and changed the object: both changes take effect.
                let ann = try transaction.fetchOne(From<Person>())
                ann?.score = 2
                try upsert(transaction, [("a", "Ann"), ("b", "Bob")])
                check.equal(ann?.name, "Ann", "the object that the transaction has")
                check.equal(ann?.score, 2, "its own change")
            }
            let kept = try stack.read(synchronous: { source in
                let ann = try person("Ann", in: source)
                return [ann.age, ann.pets.count, Int(ann.score), try person("Bob", in: source).age]
            })
            check.equal(kept, [40, 1, 2, 0], "age, pets and score of Ann, age of Bob")
        },
        .graph("U010.an-upsert-takes-one-after-the-other", "W17") { stack, check in
            let results = try stack.write { try upsert($0, [("a", "first"), ("b", "B"), ("a", "last")]) }
            check.equal(results.map(\.isInserted), [true, true, false], "branches")
            check.equal(results[0].id, results[2].id, "one object")
            check.equal(try stack.names(), ["B", "last"], "names")
        },
        .graph("U010.many-upserts", "W17") { stack, check in
            try stack.write { try upsert($0, (0..<5_000).map { ("\($0)", "old") }) }
            let results = try stack.write { try upsert($0, (4_000..<10_000).map { ("\($0)", "new") }) }
            check.equal(results.count { $0.isInserted }, 5_000, "inserted")
            check.equal(results.count { !$0.isInserted }, 1_000, "changed")
            check.equal(try stack.fetchCount(From<Person>().where(\.name == "new")), 6_000, "named new")
            check.equal(try stack.fetchCount(From<Person>()), 10_000, "people")
        },
        .graph("U011.concurrent-native-upserts-of-one-key", "W17") { stack, check in
            let failures = Counter(), inserted = Counter()
            Threads.run(8) { number in
                do {
                    let results = try stack.write { try upsert($0, [("one", "\(number)")]) }
                    if results.first?.isInserted == true { inserted.add() }
                } catch {
                    failures.add()
                }
            }
            check.equal(failures.value, 0, "failures")
            check.equal(inserted.value, 1, "inserted by one")
            check.equal(try stack.fetchAll(From<Person>()).map(\.version), [8], "changed by the others")
        },
        .graph("U012.an-upsert-under-a-compound-constraint-with-nil", "N4, W17") { stack, check in
            func seat(_ room: String?, _ seat: Int?) throws -> Bool {
                try stack.write { transaction in
                    try transaction.upsertAll(Into<Person>(), on: \.room, \.seat, sources: [(room, seat)]) {
                        ($0.room, $0.seat) = ($1.0, $1.1)
                    }[0].isInserted
                }
            }
            let branches = try [seat("A", 1), seat("A", 1), seat("A", 2), seat("A", nil), seat("A", nil), seat(nil, nil)]
            check.equal(branches, [true, false, true, true, true, true], "nil is like no other value")
        },
        .graph("U013.a-second-constraint-refuses-a-native-upsert", "W14, W17") { stack, check in
            try stack.write { transaction in
                let ann = try transaction.create(Person.self)
                (ann.email, ann.room, ann.seat) = ("a", "A", 1)
                try transaction.create(Person.self).email = "b"
            }
            for email in ["b", "c"] {
                check.throwing(.uniqueConstraintViolated, "the seat, for \(email)") {
                    _ = try stack.write { transaction in
                        try transaction.upsertAll(Into<Person>(), on: \.email, sources: ["d", email]) { person, email in
                            (person.email, person.room, person.seat) = (email, email == "d" ? "D" : "A", 1)
                        }
                    }
                }
            }
            check.equal(try UniqueCases.emails(stack), ["a", "b"], "nothing is written")
        },
        .graph("U008.an-upsert-in-a-hierarchy", "W17") { stack, check in
            func upsert(_ transaction: WriteTransaction, _ chips: [String]) throws -> [Bool] {
                try transaction.upsertAll(Into<Dog>(), on: \.chip, sources: chips) { dog, chip in
                    dog.chip = chip
                    dog.tricks = 7
                }.map(\.isInserted)
            }
            try stack.write { transaction in
                try transaction.create(Cat.self).chip = "cat"
                let dog = try transaction.create(Dog.self)
                (dog.chip, dog.name) = ("dog", "Rex")
            }
            check.equal(try stack.write { try upsert($0, ["dog", "new"]) }, [false, true], "branches")
            check.equal(try stack.fetchAll(From<Dog>()).map { "\($0.name) \($0.tricks)" }, ["Rex 7", " 7"], "dogs")
            check.throwing(.uniqueConstraintViolated, "the chip of a cat") { _ = try stack.write { try upsert($0, ["cat"]) } }
            check.equal(try stack.fetchAll(From<Cat>()).map(\.lives), [9], "the cat")
        },
        .graph("U008.an-upsert-is-undone-and-remembered", "H2", needs: [.history]) { stack, check in
            try UniqueCases.make(stack, "a")
            let view = stack.makeViewContext(), seen = try view.fetchAll(From<Person>())
            try stack.perform(
                author: "upserter",
                synchronous: { transaction in
                    try? transaction.nested {
                        try upsert(transaction, [("a", "undone"), ("x", "undone")])
                        throw ImportRefused()
                    }
                    check.equal(try transaction.fetchAll(From<Person>()).map(\.name), [""], "after a part was undone")
                    check.isTrue(!transaction.hasChanges, "none of its changes remain")
                    try upsert(transaction, [("a", "A"), ("b", "B")])
                    check.isTrue(transaction.hasChanges, "an upsert is a change")
                })
            try view.merge()
            check.equal(seen.map(\.name), ["A"], "a view context follows")
            let changes = Array(try stack.storages[0].entry(by: "upserter")?.changes ?? HistoryChanges())
            check.equal(changes.count, 2, "changes in the history")
            check.isTrue(changes.contains { $0.kind == .insert }, "one insert")
        },
        .graph("U009.an-upsert-keeps-the-rules", "W17") { stack, check in
            check.throwing(.invalidConfiguration, "attributes that are not unique") {
                _ = try stack.write { try $0.upsertAll(Into<Person>(), on: \.name, sources: ["a"]) { $0.name = $1 } }
            }
            check.throwing(.unsupported, "a relationship") {
                try stack.write { transaction in
                    let partner = try transaction.create(Person.self)
                    try transaction.upsertAll(Into<Person>(), on: \.email, sources: ["a"]) { person, email in
                        person.email = email
                        person.partner = partner
                    }
                }
            }
            check.throwing(.valueTooLarge, "a unique text that is too long") {
                _ = try stack.write { try upsert($0, [(String(repeating: "x", count: 1_025), "long")]) }
            }
            check.equal(try stack.fetchCount(From<Person>()), 0, "people")
        },
        .graph("U026.relationships-that-a-row-of-a-batch-cannot-have", "W16") { stack, check in
            try stack.write { transaction in
                try transaction.create(Person.self).email = "a"
                try transaction.create(Dog.self).name = "Rex"
                try transaction.create(Club.self).name = "Chess"
                try transaction.create(Song.self).title = "Waltz"
            }
            let assignments: [(String, (Person, Dog, Club, Song) -> Void)] = [
                ("a to-one", { person, _, _, _ in person.partner = person }),
                ("the many of a to-one", { person, dog, _, _ in person.pets = [dog] }),
                ("one more of them", { person, dog, _, _ in person.add(\.pets, relation: dog) }),
                ("many to many", { person, _, club, _ in person.clubs = [club] }),
                ("a list", { person, _, _, song in person.songs = [song] }),
                ("the other end of a to-one", { person, dog, _, _ in dog.owner = person }),
                ("the other end of many to many", { person, _, club, _ in club.add(\.members, relation: person) }),
            ]
            for (what, assign) in assignments {
                for isUpsert in [true, false] {
                    check.throwing(.unsupported, what) {
                        try stack.write { transaction in
                            guard let dog = try transaction.fetchOne(From<Dog>()), let club = try transaction.fetchOne(From<Club>()),
                                let song = try transaction.fetchOne(From<Song>())
                            else { return }
                            func fill(_ person: Person, _ email: String) {
                                person.email = email
                                assign(person, dog, club, song)
                            }
                            if isUpsert {
                                try transaction.upsertAll(Into<Person>(), on: \.email, sources: ["a"], assign: fill)
                            } else {
                                try transaction.insertAll(Into<Person>(), sources: ["b"], assign: fill)
                            }
                        }
                    }
                }
            }
            check.throwing(.unsupported, "the destination of an upsert") {
                try stack.write { transaction in
                    let parent = try transaction.fetchOne(From<Person>())
                    try transaction.upsertAll(Into<Person>(), on: \.email, sources: ["c"]) { person, email in
                        person.email = email
                        person.parent = parent
                    }
                }
            }
            check.equal(try stack.fetchCount(From<Person>()), 1, "people")
            check.equal(try stack.fetchCount(From<Dog>().where(\.owner == nil)), 1, "dogs without an owner")
        },
        .graph("U030.inserted-rows-refer-to-objects", "W16") { stack, check in
            try stack.write { transaction in
                try transaction.create(Person.self).email = "a"
                try transaction.create(Person.self).email = "gone"
            }
            try stack.write { transaction in
                guard let a = try transaction.fetchOne(From<Person>().where(\.email == "a")) else { return }
                check.equal(a.children.count, 0, "children before")
                let b = try transaction.create(Person.self)
                b.email = "b"
                let parents = [a, b, nil]
                try transaction.insertAll(Into<Person>(), sources: 0..<120) { person, number in
                    person.email = "\(number)"
                    person.parent = parents[number % 3]
                }
                check.equal([a, b].map(\.children.count), [40, 40], "children in the transaction")
                check.equal(try transaction.fetchCount(From<Person>().where(\.parent == nil)), 43, "without a parent in the transaction")
                // A part that fails leaves nothing, also if the destination is deleted before the row is written.
                check.throwing(.validationFailed, "a deleted destination") {
                    try transaction.nested {
                        guard let gone = try transaction.fetchOne(From<Person>().where(\.email == "gone")) else { return }
                        try transaction.insertAll(Into<Person>(), sources: 0..<2) { person, number in
                            person.email = "late \(number)"
                            if number == 0 { person.parent = gone } else { try transaction.delete(gone) }
                        }
                    }
                }
            }
            check.equal(try stack.fetchCount(From<Person>().where(\.parent?.email == "b")), 40, "children of b")
            check.equal(try stack.fetchCount(From<Person>()), 123, "people")
        },
        .graph("U031.a-conflict-among-inserted-rows-leaves-none", "W16") { stack, check in
            try stack.write { try $0.create(Person.self).email = "there" }
            try stack.write { transaction in
                for position in [0, 1, 49, 50, 99, 119] {
                    for other in ["there", "0", "118"] {
                        let emails = (0..<120).map { $0 == position ? other : "\($0)" }
                        if Set(emails).count == 120, other != "there" { continue }
                        check.throwing(.uniqueConstraintViolated, "\(other) at \(position)") {
                            try transaction.insertAll(Into<Person>(), sources: emails) { $0.email = $1 }
                        }
                        check.equal(try transaction.fetchCount(From<Person>()), 1, "people after \(other) at \(position)")
                    }
                }
                try transaction.insertAll(Into<Person>(), sources: 0..<120) { $0.email = "\($1)" }
            }
            check.equal(try stack.fetchCount(From<Person>()), 121, "people")
        },
        .graph("U027.what-an-upsert-does-beside-its-rows-is-kept", "W16") { stack, check in
            try UniqueCases.make(stack, "a")
            try UniqueCases.make(stack, "b")
            let ages = try stack.write { transaction in
                let people = try transaction.fetchAll(From<Person>().orderBy(.ascending(\.email)))
                try transaction.upsertAll(Into<Person>(), on: \.email, sources: [0, 1, 2]) { person, number in
                    (person.email, person.name) = (["a", "b", "c"][number], "new")
                    if number < 2 { people[1 - number].age = 10 + number }
                }
                return people.map { "\($0.name) \($0.age)" }
            }
            check.equal(ages, ["new 11", "new 10"], "in the transaction")
            let stored = try stack.fetchAll(From<Person>().orderBy(.ascending(\.email))).map { "\($0.name) \($0.age)" }
            check.equal(stored, ["new 11", "new 10", "new 0"], "in the store")
        },
        .graph("U027.a-row-takes-a-value-that-its-batch-sets-free", "W16") { stack, check in
            try UniqueCases.make(stack, "a")
            try stack.write { transaction in
                let one = try transaction.fetchOne(From<Person>())
                let made = try transaction.upsertAll(Into<Person>(), on: \.email, sources: ["a"]) { person, email in
                    person.email = email
                    one?.email = "b"
                }
                check.equal(made.map(\.isInserted), [true], "the object that gave up the value is not updated")
            }
            check.equal(try UniqueCases.emails(stack), ["a", "b"], "emails")
        },
        .pairs("U008.upserts-in-two-stores", "X2", "People", "Rest") { pair, check in
            try pair.needsCommonCommits()
            for round in 0..<3 {
                try pair.stack.write { transaction in
                    try upsert(transaction, [("a", "A\(round)"), ("\(round)", "new")])
                    try transaction.create(Note.self).text = "\(round)"
                }
            }
            check.equal(try pair.stack.fetchCount(From<Person>()), 4, "people")
            check.equal(try pair.stack.fetchCount(From<Note>()), 3, "notes")
            check.equal(try pair.stack.fetchCount(From<Person>().where(\.name == "A2")), 1, "the last name")
        },
    ]

    /// Upserts people with emails and names.
    @discardableResult
    private static func upsert(_ transaction: WriteTransaction, _ people: [(String, String)]) throws -> [UpsertedID<Person>] {
        try transaction.upsertAll(Into<Person>(), on: \.email, sources: people) { ($0.email, $0.name) = ($1.0, $1.1) }
    }
}
