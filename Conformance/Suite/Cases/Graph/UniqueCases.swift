internal import Foundation
internal import Polystore
internal import PolystoreSchema
internal import PolystoreStorage

/// Cases of group U over objects: unique values, and imports under them.
enum UniqueCases {
    static let all: [ConformanceCase] = [
        .graph("U001.unique-among-objects", "W14") { stack, check in
            try make(stack, "ann@x")
            check.throwing(.uniqueConstraintViolated, "a new object") { try make(stack, "ann@x") }
            try make(stack, "bob@x")
            check.throwing(.uniqueConstraintViolated, "a changed object") {
                try stack.write { try $0.fetchAll(From<Person>())[1].email = "ann@x" }
            }
            check.equal(try emails(stack), ["ann@x", "bob@x"], "emails")
        },
        .graph("U002.compound-with-nil", "N4") { stack, check in
            func seat(_ room: String?, _ seat: Int?) throws {
                try stack.write { transaction in
                    let one = try transaction.create(Person.self)
                    one.room = room
                    one.seat = seat
                }
            }
            for _ in 0..<2 {
                try seat("A", nil)
                try seat(nil, 1)
                try seat(nil, nil)
            }
            try seat("A", 1)
            try seat("A", 2)
            check.throwing(.uniqueConstraintViolated, "the same place") { try seat("A", 1) }
            check.equal(try stack.fetchCount(From<Person>()), 8, "people")
        },
        .graph("U006.twice-in-one-commit", "W14") { stack, check in
            check.throwing(.uniqueConstraintViolated, "two new objects") {
                try stack.write { transaction in
                    try transaction.create(Person.self).email = "a"
                    try transaction.create(Person.self).email = "a"
                }
            }
            check.equal(try stack.fetchCount(From<Person>()), 0, "people")
        },
        .graph("U007.the-error-names-entity-and-constraint", "E2") { stack, check in
            try make(stack, "secret@x")
            do {
                try make(stack, "secret@x")
                check.isTrue(false, "a second one is refused")
            } catch let error as StorageError {
                check.equal(error.code, .uniqueConstraintViolated, "code")
                check.equal(error.details.entity, "Person", "entity")
                check.isTrue(error.details.constraint?.contains("email") == true, "constraint")
                check.equal(error.details.property, "email", "property")
                check.equal(error.details.properties, ["email"], "properties")
                check.equal(error.details.keys, [], "no store has to know which object has the value")
                check.isTrue(!"\(error)".contains("secret@x"), "no value in the sentence")
            }
        },
        .graph("U007.the-error-names-all-properties-of-the-constraint", "E2") { stack, check in
            func seat(_ room: String) throws {
                try stack.write { transaction in
                    let one = try transaction.create(Person.self)
                    (one.room, one.seat) = (room, 1)
                }
            }
            try seat("A")
            try seat("B")
            func expect(_ what: String, _ body: () throws -> Void) throws {
                do {
                    try body()
                    check.isTrue(false, "\(what) is refused")
                } catch let error as StorageError {
                    check.equal(error.details.entity, "Person", "entity of \(what)")
                    check.equal(error.details.properties, ["room", "seat"], "properties of \(what)")
                    check.equal(error.details.property, nil, "property of \(what)")
                }
            }
            try expect("a new object") { try seat("A") }
            try expect("a changed object") { try stack.write { try $0.fetchAll(From<Person>())[1].room = "A" } }
            try expect("a batch") { try stack.write { _ = try $0.updateAll(From<Person>(), .set(\.room, to: "A")) } }
        },
        ConformanceCase("U007.the-error-names-the-entity-that-declares-the-constraint", clause: "E2") { harness, check in
            let schema = try Schema(entities: [
                Entity("Item", attributes: [Attribute("code", .int64, isOptional: true)], uniqueConstraints: [UniqueConstraint(["code"])]),
                Entity("Part", parent: "Item"), Entity("Bolt", parent: "Part"),
            ])
            let place = try harness.place(), stack = try DataStack(schema: schema)
            defer { place.remove() }
            try stack.addStorageAndWait(place.store(nil))
            defer { for store in stack.storages { try? store.close() } }
            for isLast in [false, true] {
                do {
                    try stack.write { transaction in
                        try transaction.create(Into<DynamicObject>(entity: isLast ? "Bolt" : "Part")).setValue(Value.int(1), for: "code")
                    }
                    check.isTrue(!isLast, "the second one is refused")
                } catch let error as StorageError {
                    check.equal(error.code, .uniqueConstraintViolated, "code")
                    check.equal(error.details.entity, "Item", "entity")
                    check.isTrue(error.message.contains("another object of Item has the same Item(code)"), error.message)
                }
            }
        },
        .graph("U019.values-change-places", "W14") { stack, check in
            try make(stack, "a")
            try make(stack, "b")
            try make(stack, "c")
            try stack.write { transaction in
                let people = try transaction.fetchAll(From<Person>())
                (people[0].email, people[1].email, people[2].email) = (people[1].email, people[2].email, people[0].email)
            }
            check.equal(try stack.fetchAll(From<Person>()).map(\.email), ["b", "c", "a"], "emails")
            try stack.write { transaction in
                let people = try transaction.fetchAll(From<Person>())
                let email = people[0].email
                try transaction.delete(people[0])
                people[1].email = email
            }
            check.equal(try stack.fetchAll(From<Person>()).map(\.email), ["b", "a"], "a deleted object's value is free")
        },
        .graph("U008.an-import-says-which-branch-it-took", "I4") { stack, check in
            try make(stack, "a")
            let results = try stack.write { transaction in
                try transaction.upsertObjects(
                    Into<Person>(), sourceArray: [["email": "a", "name": "A"], ["email": "b", "name": "B"], ["name": "no one"]]
                ).map { "\($0.object.name) \($0.isInserted)" }
            }
            check.equal(results, ["A false", "B true"], "results")
        },
        .graph("U009.an-upsert-leaves-what-it-does-not-name", "I4") { stack, check in
            try stack.write { transaction in
                let ann = try transaction.create(Person.self)
                ann.email = "a"
                ann.age = 40
                ann.pets = [try transaction.create(Dog.self)]
            }
            try stack.write { _ = try $0.upsertObjects(Into<Person>(), sourceArray: [["email": "a", "name": "Ann"]]) }
            let kept = try stack.read(synchronous: { source in
                let ann = try person("Ann", in: source)
                return [ann.age, ann.pets.count]
            })
            check.equal(kept, [40, 1], "age and pets")
        },
        .graph("U010.the-last-of-equal-keys-wins", "I4") { stack, check in
            try stack.write { transaction in
                try transaction.upsertObjects(
                    Into<Person>(), sourceArray: [["email": "a", "name": "first"], ["email": "a", "name": "last"]])
            }
            check.equal(try stack.names(), ["last"], "names")
        },
        .graph("U011.concurrent-upserts-of-one-key", "W17") { stack, check in
            let failures = Counter()
            Threads.run(8) { _ in
                do {
                    try stack.write { transaction in
                        let upserted = try transaction.upsertObjects(Into<Person>(), sourceArray: [["email": "one", "name": "One"]])
                        upserted[0].object.age += 1
                    }
                } catch {
                    failures.add()
                }
            }
            check.equal(failures.value, 0, "failures")
            check.equal(try stack.fetchAll(From<Person>()).map(\.age), [8], "one row, no increment lost")
        },
        .graph("U013.a-second-constraint-refuses-the-upsert", "W14, W17") { stack, check in
            try stack.write { transaction in
                let ann = try transaction.create(Person.self)
                ann.room = "A"
                ann.seat = 1
            }
            check.throwing(.uniqueConstraintViolated, "the seat") {
                try stack.write { transaction in
                    let upserted = try transaction.upsertObjects(Into<Person>(), sourceArray: [["email": "b", "name": "B"]])
                    upserted[0].object.room = "A"
                    upserted[0].object.seat = 1
                }
            }
            check.equal(try stack.fetchCount(From<Person>()), 1, "people")
        },
        .graph("U020.long-unique-texts", "V4") { stack, check in
            let long = String(repeating: "x", count: 1_023)
            try make(stack, long + "a")
            try make(stack, long + "b")
            check.throwing(.uniqueConstraintViolated, "equal in all 1,024 bytes") { try make(stack, long + "a") }
            check.throwing(.valueTooLarge, "1,025 bytes") { try make(stack, long + "ab") }
        },
        .graph("U023.values-change-places-between-sub-entities", "W14") { stack, check in
            try stack.write { transaction in
                try transaction.create(Cat.self).chip = "cat"
                try transaction.create(Dog.self).chip = "dog"
            }
            func chips() throws -> [String?] { try stack.fetchAll(From<Pet>()).map(\.chip) }
            func write(_ body: (_ cat: Cat, _ dog: Dog) -> Void) throws {
                try stack.write { transaction in
                    guard let cat = try transaction.fetchOne(From<Cat>()), let dog = try transaction.fetchOne(From<Dog>()) else {
                        return check.isTrue(false, "a cat and a dog")
                    }
                    body(cat, dog)
                }
            }
            try write { ($0.chip, $1.chip) = ($1.chip, "new") }
            check.equal(try chips(), ["dog", "new"], "the cat has that of the dog")
            try write { ($1.chip, $0.chip) = ($0.chip, "other") }
            check.equal(try chips(), ["other", "dog"], "and the other way round")
            try write { ($0.chip, $1.chip) = ($1.chip, $0.chip) }
            check.equal(try chips(), ["dog", "other"], "both at once")
            check.throwing(.uniqueConstraintViolated, "one chip for both") { try write { ($0.chip, $1.chip) = ("one", "one") } }
        },
        .graph("U024.values-change-places-with-a-look-in-between", "W14", needs: [.savepoints]) { stack, check in
            try family(stack)
            try stack.write { transaction in
                let ann = try person("Ann", in: transaction), bob = try person("Bob", in: transaction)
                let club = try transaction.create(Club.self), song = try transaction.create(Song.self)
                ann.email = bob.email
                ann.clubs = [club]
                ann.songs.append(song)
                try transaction.create(Dog.self).owner = ann
                check.equal(ann.pets.count, 2, "pets")
                check.equal(ann.songs, [song], "songs")
                check.equal(club.members, [ann], "members")
                check.equal(bob.pets.map(\.name), ["b"], "pets of the other")
                bob.email = "a"
            }
            check.equal(try stack.fetchAll(From<Person>()).map(\.email), ["b", "a"], "emails")
            check.equal(try stack.read(synchronous: { try person("Ann", in: $0).pets.count }), 2, "pets after the commit")
            var isReached = false
            check.throwing(.uniqueConstraintViolated, "the next fetch, while both have one email") {
                try stack.write { transaction in
                    let ann = try person("Ann", in: transaction), bob = try person("Bob", in: transaction)
                    ann.email = bob.email
                    check.equal(ann.pets.count, 2, "pets")
                    isReached = true
                    _ = try transaction.fetchCount(From<Person>())
                }
            }
            check.isTrue(isReached, "the look itself fails nothing")
        },
        .graph("U025.a-value-is-taken-over-from-what-is-deleted", "W14", needs: [.savepoints]) { stack, check in
            try family(stack)
            try stack.write { transaction in
                let ann = try person("Ann", in: transaction), bob = try person("Bob", in: transaction)
                let club = try transaction.create(Club.self)
                (ann.email, bob.clubs) = (bob.email, [club])
                try transaction.delete(bob)
                check.equal(club.members, [], "members before the commit")
            }
            check.equal(try stack.fetchAll(From<Person>()).map(\.email), ["b"], "emails")
            check.equal(try stack.fetchAll(From<Dog>()).map(\.name), ["a"], "the pets of the deleted person are deleted")
            check.equal(try stack.read(synchronous: { try $0.fetchAll(From<Club>()).map(\.members.count) }), [0], "members")
        },
        .graph("U028.a-conflict-precedes-the-unique-value-that-it-keeps", "W8, W14") { stack, check in
            try family(stack)
            for (round, deletes) in [false, true].enumerated() {
                let work = stack.beginUnsafe(), bob = try person("Bob", in: work), email = bob.email
                if deletes { try work.delete(bob) } else { bob.email = "new" }
                try work.create(Person.self).email = email
                try stack.write { try person("Bob", in: $0).score = Double(round + 1) }
                check.throwing(.staleObject, "Bob was changed since; deleted: \(deletes)") { try work.commit() }
                check.equal(try emails(stack).count, 2 + round, "nothing is written")
                try work.commit(merging: .mine)
                check.equal(try emails(stack), ["a", "b", "new"], "emails; deleted: \(deletes)")
            }
        },
        .graph("U029.a-conflict-precedes-a-unique-value-of-another-row", "W8, W14") { stack, check in
            try family(stack)
            try stack.add("Cid")
            func conflict(_ what: String, _ mine: (Person, Person) -> Void, _ theirs: (Person, Person) -> Void) throws {
                let work = stack.beginUnsafe(), ann = try person("Ann", in: work), bob = try person("Bob", in: work)
                mine(ann, bob)
                try stack.write { theirs(try person("Bob", in: $0), try person("Cid", in: $0)) }
                do {
                    try work.commit()
                    check.isTrue(false, "\(what): the commit should be stale")
                } catch {
                    check.equal(error.code, .staleObject, "\(what): code")
                    check.equal(error.details.keys, [bob._key], "\(what): keys")
                }
            }
            try conflict("a value that Bob had, given to another") {
                ($0.email, $1.email) = ("b", "free")
            } _: {
                ($0.email, $1.email) = ("x", "b")
            }
            check.equal(try emails(stack), ["a", "b", "x"], "emails")
            // The rows of a change set have no order, so the case is repeated.
            for round in 0..<6 {
                try conflict("a value that Bob has since") {
                    ($0.email, $1.age) = ("new \(round)", 1)
                } _: { bob, _ in
                    bob.email = "new \(round)"
                }
            }
            check.equal(try emails(stack), ["a", "b", "new 5"], "emails")
        },
    ]

    /// Creates Ann and Bob with the emails a and b and a dog each, which has the owner's name.
    private static func family(_ stack: DataStack) throws {
        try stack.write { transaction in
            for name in ["Ann", "Bob"] {
                let one = try transaction.create(Person.self), dog = try transaction.create(Dog.self)
                (one.name, one.email) = (name, String(name.prefix(1)).lowercased())
                (dog.name, dog.owner) = (one.email ?? "", one)
            }
        }
    }

    static func make(_ stack: DataStack, _ email: String) throws {
        try stack.write { try $0.create(Person.self).email = email }
    }

    static func emails(_ stack: DataStack) throws -> [String] {
        try stack.fetchAll(From<Person>().orderBy(.ascending(\.email))).compactMap(\.email)
    }
}

extension Person: ImportableUniqueObject {
    static var uniqueIDKeyPath: String { "email" }

    var uniqueIDValue: String {
        get { email ?? "" }
        set { email = newValue }
    }

    static func uniqueID(from source: [String: String], in transaction: BaseTransaction) throws -> String? { source["email"] }
    static func shouldInsert(from source: [String: String], in transaction: BaseTransaction) -> Bool { source["name"] != "skip" }
    static func shouldUpdate(from source: [String: String], in transaction: BaseTransaction) -> Bool { source["name"] != "keep" }

    func update(from source: [String: String], in transaction: BaseTransaction) throws {
        guard let name = source["name"], !name.isEmpty else { throw ImportRefused() }
        self.name = name
    }
}

/// The error that an import of the suite throws itself.
struct ImportRefused: Error {}
