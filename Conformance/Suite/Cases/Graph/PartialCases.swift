internal import Foundation
internal import Polystore
internal import PolystoreStorage

/// Cases about objects that are fetched with some of their attributes.
enum PartialCases {
    static let all: [ConformanceCase] = [
        .graph("O025.some-attributes-then-the-rest", "S5") { stack, check in
            try fill(stack)
            let request = From<Person>().properties(\.name).orderBy(.ascending(\.age))
            let people = try stack.fetchAll(request)
            check.equal(people.map(\.name), ["Bob", "Ann"], "the requested properties")
            check.isTrue(people[1].parent === people[0], "references are always loaded")
            try stack.write { transaction in
                let ann = try person("Ann", in: transaction)
                (ann.name, ann.age) = ("Anna", 31)
            }
            check.equal(people[1].age, 31, "a value that is read later is the current one")
            check.equal(people[1].name, "Ann", "values already read do not change")
            check.equal(people[1].version, 1, "as the version does")
            check.equal(people[1].email, "a", "the rest")
            check.equal(people[0].room, nil, "a nil")
            check.isTrue((try? people[0].load(\.age)) == 10, "no error remains")
        },
        .graph("O025.cursors-and-streams-of-some-attributes", "S5") { stack, check in
            try fill(stack)
            let request = From<Person>().properties(\.age, \.email).orderBy(.ascending(\.name)).batchSize(1)
            let cursor = try stack.fetchCursor(request), first = try cursor.next(), second = try cursor.next()
            check.equal([first?.age, second?.age], [30, 10], "ages of a cursor")
            check.equal([first?.name, second?.name], ["Ann", "Bob"], "the rest")
            let found = try Waiting.run {
                var found: [String] = []
                for try await person in stack.fetchStream(request) { found.append("\(person.age) \(person.name)") }
                return found
            }
            check.equal(found, ["30 Ann", "10 Bob"], "of a stream")
        },
        .graph("O025.some-attributes-of-a-hierarchy", "S5") { stack, check in
            try stack.write { transaction in
                let dog = try transaction.create(Dog.self), cat = try transaction.create(Cat.self)
                (dog.name, dog.chip, dog.tricks) = ("Rex", "1", 3)
                (cat.name, cat.lives) = ("Tom", 7)
            }
            let pets = try stack.fetchAll(From<Pet>().properties(\.name))
            check.equal(pets.map(\.name), ["Rex", "Tom"], "names")
            check.equal((pets[0] as? Dog)?.tricks, 3, "of a dog")
            check.equal((pets[1] as? Cat)?.lives, 7, "of a cat")
            check.equal(pets.map(\.chip), ["1", nil], "chips")
        },
        .graph("O025.what-was-assigned-is-not-read-over", "S5") { stack, check in
            try fill(stack)
            try stack.write { transaction in
                let ann = try transaction.fetchOne(From<Person>().where(\.name == "Ann").properties(\.name))
                ann?.age = 5
                check.equal(ann?.email, "a", "the rest")
                check.equal(ann?.age, 5, "assigned values")
                let bob = try transaction.fetchOne(From<Person>().where(\.name == "Bob").properties(\.name))
                bob?.email = "b"
            }
            let people = try stack.fetchAll(From<Person>().orderBy(.ascending(\.name)))
            check.equal(people.map(\.age), [5, 10], "ages")
            check.equal(people.map(\.email), ["a", "b"], "emails")
            check.equal(people.map(\.version), [2, 2], "versions")
        },
        .graph("O025.rules-see-the-whole-object", "W13") { stack, check in
            try stack.write { transaction in
                let squad = try transaction.create(Squad.self)
                squad.name = "Abc"
                squad.players = [try transaction.create(Player.self)]
            }
            try stack.write { try $0.fetchOne(From<Squad>().properties(\.rank))?.rank = 2 }
            check.throwing(.validationFailed, "a rank of 11") {
                try stack.write { try $0.fetchOne(From<Squad>().properties(\.name))?.rank = 11 }
            }
            check.equal(try stack.fetchAll(From<Squad>()).map(\.rank), [2], "rank")
        },
        .graph("O025.detached-work-on-some-attributes", "W9") { stack, check in
            try fill(stack)
            let detached = stack.beginUnsafe()
            let ann = try detached.fetchOne(From<Person>().where(\.name == "Ann").properties(\.name))
            try stack.write { try person("Ann", in: $0).age = 31 }
            ann?.score = 2
            check.throwing(.staleObject, "an outdated version") { try detached.commit() }
            try detached.rollback()
            let view = stack.makeViewContext()
            let seen = try view.fetchAll(From<Person>().properties(\.name).orderBy(.ascending(\.name)))
            try stack.write { try person("Bob", in: $0).email = "b" }
            try view.merge()
            check.equal(seen.map(\.email), ["a", "b"], "emails after a merge")
            check.equal(seen.map(\.age), [31, 10], "ages")
        },
        .graph("O025.an-attribute-that-cannot-be-read-later-is-reported", "R7") { stack, check in
            try fill(stack)
            let request = From<Person>().properties(\.name).orderBy(.ascending(\.name)), people = try stack.fetchAll(request)
            try stack.write { try $0.delete(person("Ann", in: $0)) }
            check.throwing(.notFound, "of a deleted object") { _ = try people[0].load(\.age) }
            check.equal(try people[1].load(\.age), 10, "of another")
            stack.relationships = .strict
            let strict = try stack.fetchAll(request)
            check.throwing(.unplannedLoad, "strictly") { _ = try strict[0].load(\.age) }
            check.equal(strict[0].name, "Bob", "the requested properties")
            check.throwing(.invalidPredicate, "a wrong name") { _ = try stack.fetchAll(From<Person>().properties(named: ["nam"])) }
        },
        .graph("O025.an-encoded-object-is-whole", "R7") { stack, check in
            try fill(stack)
            let request = From<Person>().properties(\.name).orderBy(.ascending(\.age))
            func encoded(_ person: Person) throws -> [String: Any]? {
                try JSONSerialization.jsonObject(with: JSONEncoder().encode(person)) as? [String: Any]
            }
            let bob = try stack.fetchAll(request)[0], loaded = try encoded(bob)
            check.equal(loaded?["age"] as? Int, 10, "a property that was not fetched")
            check.equal(loaded?["name"] as? String, "Bob", "one that was")
            stack.relationships = .strict
            let planned = try stack.fetchAll(request)[0]
            do {
                _ = try JSONEncoder().encode(planned)
                check.isTrue(false, "strict loading refuses to encode")
            } catch let error as StorageError {
                check.equal(error.code, .unplannedLoad, "strict loading")
                check.equal(error.details.property, "age", "the property that was not fetched")
            }
            check.isTrue(try encoded(try stack.fetchAll(From<Person>())[0]) != nil, "strict loading of a whole object")
            stack.relationships = .lazy
            let late = try stack.fetchAll(request)
            try stack.removeStorage(stack.storages[0])
            for attempt in ["first", "second"] {
                check.isTrue((try? JSONEncoder().encode(late[0])) == nil, "an object that cannot be loaded, \(attempt) attempt")
            }
            check.isTrue((try? encoded(bob)) != nil, "an object that was loaded before")
        },
        .graph("O025.what-was-not-fetched-of-a-deleted-object", "R7") { stack, check in
            try fill(stack)
            let request = From<Person>().properties(\.name), view = stack.makeViewContext()
            let seen = try view.fetchAll(request.orderBy(.ascending(\.name)))
            try stack.write { transaction in
                let ann = try transaction.fetchOne(request.where(\.name == "Ann"))
                try ann.map { try transaction.delete($0) }
                check.equal(ann?.age, 30, "the store has the row until the commit")
            }
            try view.merge()
            check.isTrue(seen[0].isDeleted, "deleted elsewhere")
            check.equal(seen[0].name, "Ann", "the requested properties")
            check.throwing(.notFound, "of a deleted object") { _ = try JSONEncoder().encode(seen[0]) }
            check.throwing(.notFound, "the same again") { _ = try seen[0].load(\.age) }
            check.equal(try seen[1].load(\.age), 10, "of another")
        },
        .graph("O025.a-fetch-of-all-makes-whole", "S5") { stack, check in
            try fill(stack)
            stack.relationships = .strict
            try stack.read(synchronous: { source in
                let some = try source.fetchAll(From<Person>().properties(\.name).orderBy(.ascending(\.name)))
                let all = try source.fetchAll(From<Person>().orderBy(.ascending(\.name)))
                check.equal(some, all, "the same objects")
                check.equal(some.map(\.age), [30, 10], "ages")
            })
        },
    ]

    /// Creates Ann, 30, with an email, and her parent Bob, 10.
    private static func fill(_ stack: DataStack) throws {
        try stack.write { transaction in
            let ann = try transaction.create(Person.self), bob = try transaction.create(Person.self)
            (ann.name, ann.age, ann.email, ann.parent) = ("Ann", 30, "a", bob)
            (bob.name, bob.age) = ("Bob", 10)
        }
    }
}
