import Foundation
import Polystore
import TestStores
import Testing

/// What each construct of Foundation's predicates becomes, in its text form, and what has no meaning here.
@Suite struct FoundationConstructTests {
    private func text<Object: ManagedObject>(_ predicate: Predicate<Object>) -> String { "\(Where(predicate).predicate)" }

    @Test func logicAndComparisons() {
        #expect(text(#Predicate<Person> { $0.age > 30 && !($0.name == "x") }) == "(age > 30) AND (NOT (name == \"x\"))")
        #expect(text(#Predicate<Person> { $0.age == 1 || $0.age != 2 || $0.age <= 3 }) == "(age == 1) OR (age != 2) OR (age <= 3)")
        #expect(text(#Predicate<Person> { $0.email == nil }) == "email == NIL")
        #expect(text(#Predicate<Person> { _ in true }) == "TRUEPREDICATE")
        #expect(
            text(#Predicate<Person> { $0.age > 9 ? $0.name == "x" : $0.name == "y" })
                == "((age > 9) AND (name == \"x\")) OR ((NOT (age > 9)) AND (name == \"y\"))")
        #expect(text(#Predicate<Person> { ($0.age > 9 ? $0.age : 0) == 3 }) == "TERNARY(age > 9, age, 0) == 3")
    }

    @Test func numbersAndRanges() {
        #expect(text(#Predicate<Person> { $0.age * 2 + 1 > 30 }) == "((age * 2) + 1) > 30")
        #expect(text(#Predicate<Person> { $0.age - 2 == -$0.age }) == "(age - 2) == negate(age)")
        #expect(text(#Predicate<Person> { $0.age / 7 == 4 }) == "(age / 7) == 4")
        #expect(text(#Predicate<Person> { $0.age % 2 == 0 }) == "modulo(age, 2) == 0")
        #expect(text(#Predicate<Person> { (1...3).contains($0.age) }) == "age BETWEEN {1, 3}")
        #expect(text(#Predicate<Person> { (1..<3).contains($0.age) }) == "(age >= 1) AND (age < 3)")
        let from = 3..., through = ...3, below = ..<3
        #expect(text(#Predicate<Person> { from.contains($0.age) }) == "age >= 3")
        #expect(text(#Predicate<Person> { through.contains($0.age) }) == "age <= 3")
        #expect(text(#Predicate<Person> { below.contains($0.age) }) == "age < 3")
        #expect(text(#Predicate<Person> { ($0.age...50).contains(40) }) == "40 BETWEEN {age, 50}")
    }

    @Test func textsAndLists() {
        #expect(text(#Predicate<Person> { $0.name.contains("x") }) == "name CONTAINS \"x\"")
        #expect(text(#Predicate<Person> { $0.name.starts(with: "x") }) == "name BEGINSWITH \"x\"")
        #expect(text(#Predicate<Person> { $0.name.isEmpty || $0.name.count == 3 }) == "(name == \"\") OR (length(name) == 3)")
        #expect(text(#Predicate<Person> { ["a", "b"].contains($0.name) }) == "name IN {\"a\", \"b\"}")
        let ages = [7, 3, 5], limits = ["a": 9]
        #expect(text(#Predicate<Person> { $0.age < ages.max()! && $0.age > ages.min()! }) == "(age < 7) AND (age > 3)")
        #expect(text(#Predicate<Person> { $0.age == ages[1] }) == "age == 3")
        #expect(text(#Predicate<Person> { $0.age == limits["a"]! }) == "age == 9")
        #expect(text(#Predicate<Person> { $0.age == limits["b", default: 4] }) == "age == 4")
        #expect(text(#Predicate<Person> { person in ages.contains { person.age > $0 } }) == "(age > 7) OR (age > 3) OR (age > 5)")
    }

    @Test func optionals() {
        #expect(text(#Predicate<Animal> { $0.owner?.name == "Ann" }) == "owner.name == \"Ann\"")
        #expect(text(#Predicate<Animal> { $0.owner!.age > 3 }) == "owner.age > 3")
        #expect(text(#Predicate<Person> { ($0.email ?? "q") == "q" }) == "coalesce(email, \"q\") == \"q\"")
        #expect(text(#Predicate<Person> { $0.email?.contains("x") == true }) == "email CONTAINS \"x\"")
        #expect(text(#Predicate<Person> { $0.email?.contains("x") == false }) == "(email != NIL) AND (NOT (email CONTAINS \"x\"))")
        #expect(text(#Predicate<Person> { $0.email.flatMap { $0.count } == 3 }) == "length(email) == 3")
        #expect(
            text(#Predicate<Person> { if let email = $0.email { email != "a" } else { true } })
                == "NOT ((email != NIL) AND (NOT (email != \"a\")))")
    }

    @Test func relatedObjects() {
        #expect(text(#Predicate<Person> { $0.pets.contains { $0.name == "Rex" } }) == "ANY pets SATISFIES (name == \"Rex\")")
        #expect(text(#Predicate<Person> { $0.pets.allSatisfy { $0.name == "Rex" } }) == "ALL pets SATISFIES (name == \"Rex\")")
        #expect(text(#Predicate<Person> { $0.pets.isEmpty }) == "NONE pets SATISFIES (TRUEPREDICATE)")
        #expect(text(#Predicate<Person> { $0.pets.count > 2 }) == "pets.@count > 2")
        #expect(
            text(#Predicate<Person> { $0.pets.filter { $0.name == "Rex" }.count > 2 })
                == "SUBQUERY(pets, $x1, $x1.name == \"Rex\").@count > 2")
        #expect(text(#Predicate<Person> { $0.pets.contains { $0 is Dog } }) == "ANY pets SATISFIES (SELF ISA \"Dog\")")
    }

    @Test func theObjectOutside() {
        #expect(
            text(#Predicate<Person> { person in person.pets.contains { $0.name == person.name } })
                == "ANY pets SATISFIES $x1 ($x1.name == name)")
        #expect(
            text(#Predicate<Person> { person in person.pets.filter { $0.name.count > person.age }.count == 1 })
                == "SUBQUERY(pets, $x1, length($x1.name) > age).@count == 1")
        #expect(
            text(#Predicate<Person> { person in person.pets.allSatisfy { $0.owner?.objectID == person.partner?.objectID } })
                == "ALL pets SATISFIES $x1 ($x1.owner == partner)")
        #expect(
            text(
                #Predicate<Person> { person in
                    person.pets.contains { pet in
                        pet.owner.flatMap { owner in owner.pets.contains { $0.name == pet.name && $0.name != person.name } } ?? false
                    }
                }) == "ANY pets SATISFIES $x1 (ANY $x1.owner.pets SATISFIES $x2 (($x2.name == $x1.name) AND ($x2.name != name)))")
        #expect(
            text(#Predicate<Person> { person in person.email.flatMap { email in person.pets.contains { $0.name == email } } ?? false })
                == "(email != NIL) AND (ANY pets SATISFIES $x1 ($x1.name == email))")
        #expect(
            text(#Predicate<Person> { person in person.pets.contains { $0.owner!.objectID == person.objectID } })
                == "ANY pets SATISFIES $x1 ($x1.owner == SELF)")
    }

    /// What has no meaning is an error that names it, thrown by the request.
    @Test func unsupportedPredicatesAreErrorsThatNameThePart() throws {
        let stack = try TestStore.memory.stack()
        func people(_ predicate: Predicate<Person>, _ message: String, at place: SourceLocation = #_sourceLocation) {
            #expect(sourceLocation: place) { try stack.fetchAll(From<Person>().where(Where(predicate))) } throws: { error in
                (error as? StorageError)?.code == .invalidPredicate && "\(error)".contains(message)
            }
        }
        func animals(_ predicate: Predicate<Animal>, _ message: String, at place: SourceLocation = #_sourceLocation) {
            #expect(sourceLocation: place) { try stack.fetchAll(From<Animal>().where(Where(predicate))) } throws: { error in
                (error as? StorageError)?.code == .invalidPredicate && "\(error)".contains(message)
            }
        }
        people(#Predicate<Person> { $0.name.contains($0.name) }, "the searched text must be a captured value")
        people(
            #Predicate<Person> { person in person.pets.contains { _ in person.pets.count > 1 } },
            "uses the relationship pets of an outer object")
        people(
            #Predicate<Person> { person in person.pets.contains { _ in person.pets.isEmpty } },
            "uses the relationship pets of an outer object")
        let ages = [1], missing: Int? = nil
        people(#Predicate<Person> { $0.age == ages[3] }, "an index is out of the bounds of a captured list")
        people(#Predicate<Person> { $0.age == ages[$0.age] }, "only captured lists support this")
        people(#Predicate<Person> { $0.age == missing! }, "it unwraps a captured nil")
        animals(#Predicate<Animal> { ($0 as? Dog)?.size == nil }, "it casts an object of type Animal to Dog")
        people(#Predicate<Person> { $0.name.utf8.count > 3 }, "UTF8View")
        let unknown = UnknownValue()
        people(#Predicate<Person> { ($0.age > 3 ? unknown : unknown) == unknown }, "it captures a value of type UnknownValue")
    }
}

private struct UnknownValue: Codable, Equatable { var name = "x" }
