import Foundation
import Polystore
import TestStores
import Testing

/// Conditions, queries and orders as a program writes them, on every store.
@Suite struct QueryingTests {
    private func stack(_ store: TestStore) throws -> DataStack {
        let stack = try store.stack()
        try stack.perform(synchronous: { transaction in
            let people: [(String, Int)] = [("Ann", 30), ("bob", 40), ("Cid", 40), ("Dan", 50)]
            for (name, age) in people {
                let person = try transaction.create(Person.self)
                person.name = name
                person.age = age
                if name == "Ann" || name == "bob" {
                    let dog = try transaction.create(Dog.self)
                    dog.name = name + "'s dog"
                    dog.owner = person
                }
                if name == "Ann" {
                    let dog = try transaction.create(Dog.self)
                    dog.name = "Rex"
                    dog.owner = person
                }
            }
        })
        return stack
    }

    private func names(_ stack: DataStack, _ condition: Where<Person>) throws -> [String] {
        try stack.fetchAll(From<Person>().where(condition).orderBy(.ascending(\.age), .ascending(\Person.name))).map(\Person.name)
    }

    @Test(arguments: TestStore.all) func conditions(_ store: TestStore) throws {
        let stack = try stack(store)
        #expect(try names(stack, (\Person.name).equal(to: "BOB", options: .caseInsensitive)) == ["bob"])
        #expect(try names(stack, (\Person.name).notEqual(to: "BOB", options: .caseInsensitive)) == ["Ann", "Cid", "Dan"])
        #expect(
            try names(stack, (\Person.name).beginsWith("B", options: .caseInsensitive) || (\Person.name).like("?an")) == ["bob", "Dan"])
        #expect(try names(stack, (\Person.name).matches("[A-C].*")) == ["Ann", "Cid"])
        #expect(try names(stack, (\Person.name).search("ANN OR b*")) == ["Ann", "bob"])
        #expect(try names(stack, (\Person.pets).any((\Animal.name).search("dog -bob"))) == ["Ann"])
        #expect(try names(stack, Where(format: "ANY pets.name SEARCH %@", "\"bob s\"")) == ["bob"])
        #expect(throws: StorageError.self) { try stack.fetchAll(From<Person>().where((\Person.name).search(" - "))) }
        #expect(try names(stack, \.age + 10 > 50) == ["Dan"])
        #expect(try names(stack, \.age % 20 == 0) == ["Cid", "bob"])
        #expect(try names(stack, (\Person.name).length == 3 && !(\.age == 40)) == ["Ann", "Dan"])
        #expect(try names(stack, (\Person.pets).any(\.name == "Rex")) == ["Ann"])
        #expect(try names(stack, (\Person.pets).none(\.name == "Rex") && (\Person.pets).count > 0) == ["bob"])
        #expect(try names(stack, (\Person.pets).all((\Animal.name).contains("dog"))) == ["Cid", "bob", "Dan"])
        #expect(try names(stack, (\Person.pets).count(where: (\Animal.name).contains("dog")) == 1) == ["Ann", "bob"])
        #expect(try names(stack, Where(format: "name BEGINSWITH[c] %@ AND ANY pets.name LIKE %@ AND age > %d", "b", "*dog", 30)) == ["bob"])
        #expect(try names(stack, Where(format: "%K IN %@ AND pets.@count == %d", "age", [30, 50], 2)) == ["Ann"])
        let rex = try #require(try stack.fetchOne(From<Dog>().where(\.name == "Rex")))
        #expect(try names(stack, (\Person.pets).contains(rex)) == ["Ann"])
        #expect(try stack.fetchCount(From<Animal>().where(.isKind(of: Dog.self))) == 3)
        let aged = Where<Person>(format: "age == $AGE AND pets.@count IN $COUNTS")
        #expect(try names(stack, aged.substituting(["AGE": 40, "COUNTS": [0, 7]])) == ["Cid"])
        #expect(try names(stack, aged.substituting(["AGE": 40, "COUNTS": [1]])) == ["bob"])
        #expect { try names(stack, aged.substituting(["AGES": 40, "COUNTS": [1]])) } throws: { error in
            (error as? StorageError)?.code == .invalidPredicate
                && "\(error)".contains("the variable $AGE has no value; did you mean \"AGES\"?")
        }
        #expect { try names(stack, aged) } throws: { ($0 as? StorageError)?.code == .invalidPredicate }
        // Whose pets are called after them: a condition on related objects that looks at the object outside.
        let named = Where<Person>(format: "SUBQUERY(pets, $x, $x.name == concatenate(name, %@)).@count == 1", "'s dog")
        #expect(try names(stack, named) == ["Ann", "bob"])
        #expect(try stack.fetchCount(From<Person>().where(named).storeOnly()) == 2)
        #expect { try stack.fetchAll(From<Person>().where(Where(format: "nmae == 'x'"))) } throws: { error in
            (error as? StorageError)?.code == .invalidPredicate && "\(error)".contains("did you mean \"name\"")
        }
    }

    @Test(arguments: TestStore.all) func queries(_ store: TestStore) throws {
        let stack = try stack(store)
        #expect(try stack.queryValue(From<Person>().select(Double.self, .average(\.age))) == 40)
        #expect(try stack.queryValue(From<Person>().select(Double.self, .median(\.age))) == 40)
        let deviation = try #require(try stack.queryValue(From<Person>().select(Double.self, .standardDeviation(\.age))))
        #expect(abs(deviation - 50.0.squareRoot()) < 1e-12)
        let rows = try stack.queryAttributes(
            From<Person>().orderBy(.descending(.count())).select(.attribute(\.age), .count(as: "number"), .minimum(\Person.name)).groupBy(
                \.age
            )
            .having(.count() >= 1))
        #expect(rows.map(\.names).first == ["age", "number", "minimum(name)"])
        #expect(try rows.map { try $0.value("age", as: Int.self) } == [40, 30, 50])
        #expect(rows.first?["minimum(name)"] == .string("Cid") && rows.first?["number"] == .int(2))
        let tuples = try stack.queryTuples(From<Person>().orderBy(.ascending(\Person.name)).tuples(\.name, \.age))
        #expect(tuples.map(\.0) == ["Ann", "Cid", "Dan", "bob"] && tuples.map(\.1) == [30, 40, 50, 40])
        let counts = try stack.queryTuples(
            From<Person>().orderBy(.descending((\Person.pets).count), .ascending(\Person.name)).tuples(
                ValueExpression(\Person.name), (\Person.pets).count))
        #expect(counts.map { "\($0.0) \($0.1)" } == ["Ann 2", "bob 1", "Cid 0", "Dan 0"])
        // Orders and limits of groups can follow them.
        let groups = From<Person>().select(.attribute(\.age), .count(as: "n")).groupBy(\.age)
        let ages = try stack.queryAttributes(groups.orderBy(.descending(.count()), .descending(\Person.age)).limit(2))
        #expect(try ages.map { try $0.value("age", as: Int.self) } == [40, 50])
        #expect(try stack.queryAttributes(groups.orderBy(.ascending(\Person.age)).offset(2)).map { $0["n"] } == [.int(1)])
        #expect(try stack.queryAttributes(From<Person>().select(.attribute(\.age)).distinct()).count == 3)
        #expect(try stack.queryAttributes(From<Person>().select(Select(named: "@count", as: "n"))).map { $0["n"] } == [.int(4)])
        #expect { try stack.queryAttributes(From<Person>().select(.count(as: "n"), .sum(\.age, as: "n"))) } throws: {
            ($0 as? StorageError)?.code == .invalidPredicate
        }
    }

    @Test(arguments: TestStore.all) func pendingChanges(_ store: TestStore) throws {
        let stack = try stack(store)
        try stack.perform(synchronous: { transaction in
            try transaction.fetchOne(From<Person>().where(\.name == "Ann"))?.age = 90
            // The change has reached the store, but is not committed.
            #expect(try transaction.fetchCount(From<Person>().where(\.age == 90)) == 1)
            let oldest = From<Person>().select(Int.self, .maximum(\.age))
            #expect(try transaction.queryValue(oldest) == 50)
            #expect(try transaction.queryValue(From<Person>().includesPendingChanges(true).select(Int.self, .maximum(\.age))) == 90)
            #expect(try transaction.fetchAll(From<Person>().where(\.age == 30).includesPendingChanges(false)).map(\Person.name) == ["Ann"])
            #expect(try transaction.fetchCount(From<Person>().where(\.age == 90).includesPendingChanges(false)) == 0)
            #expect(try transaction.fetchAll(From<Person>().where(\.age == 30)).isEmpty)
        })
    }

    @Test(arguments: TestStore.all) func explanations(_ store: TestStore) throws {
        let stack = try stack(store)
        let request = From<Person>().where(\.age > 30 && (\Person.name).equal(to: "BOB", options: .caseInsensitive)).orderBy(
            .ascending(\.name))
        let explanation = try stack.explain(request)
        let parts = try #require(explanation.stores.first)
        #expect(parts.storeType == store.rawValue && !parts.plan.isEmpty)
        #expect(parts.conditions.map(\.text) == ["age > 30", "folded[c](name) == folded[c](\"BOB\")"])
        // The server has tables of its own for folding.
        #expect(parts.conditions.map { $0.pushdown == .exact } == [true, store != .postgresql])
        #expect(explanation.isExact == (store != .postgresql))
        #expect(try stack.fetchAll(request).map(\.name) == ["bob"])
        if store == .postgresql {
            #expect { try stack.fetchAll(request.storeOnly()) } throws: { error in
                (error as? StorageError)?.code == .unsupported && "\(error)".contains("folded[c](name)")
            }
        } else {
            #expect(try stack.fetchAll(request.storeOnly()).map(\.name) == ["bob"])
        }
    }

    @Test(arguments: TestStore.all) func pages(_ store: TestStore) throws {
        let stack = try store.stack()
        try stack.perform(synchronous: { transaction in
            for number in 0..<50 {
                let dog = try transaction.create(Dog.self)
                dog.name = "\(number % 7)"
                if number % 3 > 0 {
                    let owner = try transaction.create(Person.self)
                    owner.age = number % 5
                    dog.owner = owner
                }
            }
        })
        for request in [
            From<Dog>(), From<Dog>().orderBy(.descending(\.name)), From<Dog>().orderBy(.ascending(\.owner?.age), .descending(\.name)),
            From<Dog>().orderBy(.descending(\.owner?.age), .ascending((\Dog.name).length)),
        ] {
            let all = try stack.fetchIDs(request)
            var found: [ObjectID<Dog>] = [], cursor: PageCursor?
            repeat {
                // As a client gives it back.
                let page = try stack.fetchPage(request.limit(7), after: cursor.map { PageCursor($0.description) })
                found += page.objects.map(\.objectID)
                #expect(page.objects.count == 7 || page.next == nil)
                cursor = page.next
            } while cursor != nil
            #expect(found == all)
        }
        let request = From<Dog>().orderBy(.ascending(\.name)).limit(10), page = try stack.fetchPage(request)
        let next = try #require(page.next)
        // Whatever comes or goes before the cursor moves nothing.
        let expected = try stack.fetchPage(request, after: next).objects.map(\.objectID)
        try stack.perform(synchronous: { transaction in
            try transaction.delete(page.objects.dropLast())
            try transaction.create(Dog.self).name = ""
        })
        #expect(try stack.fetchPage(request, after: next).objects.map(\.objectID) == expected)
        for wrong in [
            PageCursor(""), PageCursor("abc"), PageCursor(String(next.description.dropLast()) + "A"), PageCursor(next.description + "AA"),
        ] {
            #expect { try stack.fetchPage(request, after: wrong) } throws: { error in
                let error = error as? StorageError
                return error?.code == .tokenExpired && error?.details.entity == "Dog"
                    && error?.message.contains("start again from the first page") == true
            }
        }
        #expect { try stack.fetchPage(request.where(\.name == "1"), after: next) } throws: {
            ($0 as? StorageError)?.code == .tokenExpired
        }
        // A bad request is told from a bad cursor.
        #expect { try stack.fetchPage(request.offset(1), after: next) } throws: { ($0 as? StorageError)?.code == .invalidPredicate }
        let other = try DataStack(Person.self, Animal.self, Dog.self)
        #expect(other.pageSecret != stack.pageSecret)
    }

    @Test(arguments: TestStore.all) func oneByOne(_ store: TestStore) throws {
        let stack = try stack(store)
        let names = try stack.read(synchronous: { source in
            var names: [String] = []
            try source.forEach(From<Person>().orderBy(.descending(\.name))) { names.append($0.name) }
            return names
        })
        #expect(names == ["bob", "Dan", "Cid", "Ann"])
        struct Enough: Error {}
        var count = 0
        #expect(throws: Enough.self) {
            try stack.read(synchronous: { source in
                try source.forEach(From<Person>()) { _ in
                    count += 1
                    if count == 2 { throw Enough() }
                }
            })
        }
        #expect(count == 2)
    }
}
