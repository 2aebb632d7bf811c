import Foundation
import Polystore
import TestStores
import Testing

/// Foundation's predicates become the tree that key paths make.
@Suite struct FoundationPredicateTests {
    // One function for each class: key paths without a root are found faster.
    private func people(_ predicate: Predicate<Person>, _ expected: Where<Person>, at place: SourceLocation = #_sourceLocation) {
        expect(Where(predicate), expected, place)
    }

    private func animals(
        _ predicate: Predicate<Animal>, _ expected: Where<Animal>, at place: SourceLocation = #_sourceLocation
    ) {
        expect(Where(predicate), expected, place)
    }

    private func strings(
        _ predicate: Predicate<StringEntity>, _ expected: Where<StringEntity>, at place: SourceLocation = #_sourceLocation
    ) {
        expect(Where(predicate), expected, place)
    }

    private func expect<Object>(_ condition: Where<Object>, _ expected: Where<Object>, _ place: SourceLocation) {
        #expect(condition.predicate == expected.predicate, sourceLocation: place)
    }

    @Test func comparisonsAndLogic() {
        people(#Predicate<Person> { $0.age > 30 && $0.name.contains("x") }, \.age > 30 && (\Person.name).contains("x"))
        people(#Predicate<Person> { $0.age >= 30 || $0.age < 3 }, \.age >= 30 || \.age < 3)
        people(#Predicate<Person> { $0.age <= 30 }, \.age <= 30)
        people(#Predicate<Person> { 30 < $0.age }, \.age > 30)
        people(#Predicate<Person> { 30 >= $0.age }, \.age <= 30)
        people(#Predicate<Person> { 30 == $0.age }, \.age == 30)
        people(#Predicate<Person> { $0.age > -3 }, \.age > -3)
        people(#Predicate<Person> { !($0.age != 30) }, !(\.age != 30))
        people(#Predicate<Person> { $0.email == nil }, \.email == nil)
        people(#Predicate<Person> { $0.email != nil }, \.email != nil)
        people(#Predicate<Person> { $0.email == "a" }, \.email == "a")
        people(#Predicate<Person> { $0.name != "a" }, \.name != "a")
        people(#Predicate<Person> { $0.name < "b" }, \.name < "b")
        animals(#Predicate<Animal> { $0.name == $0.owner!.name }, Where(.compare(.path("name"), .equal, .path("owner.name"))))
        let missing: String? = nil
        people(#Predicate<Person> { $0.email == missing }, \.email == nil)
        strings(#Predicate<StringEntity> { $0.dirty }, \.dirty == true)
        strings(#Predicate<StringEntity> { !$0.dirty || $0.dirty == false }, !(\.dirty == true) || \.dirty == false)
    }

    @Test func textsListsAndRanges() {
        people(#Predicate<Person> { $0.name.starts(with: "x") }, (\Person.name).beginsWith("x"))
        people(#Predicate<Person> { $0.name.isEmpty }, \.name == "")
        people(#Predicate<Person> { $0.name.count > 3 }, (\Person.name).length > 3)
        people(#Predicate<Person> { $0.name.contains("é" as Character) }, (\Person.name).contains("é"))
        let names = ["Ann", "Bob"], ages: Set = [30]
        people(#Predicate<Person> { names.contains($0.name) }, (\Person.name).isIn(names))
        people(#Predicate<Person> { ages.contains($0.age) }, (\Person.age).isIn(ages))
        people(#Predicate<Person> { (1...3).contains($0.age) }, (\Person.age).isBetween(1, 3))
        people(#Predicate<Person> { (1..<3).contains($0.age) }, \.age >= 1 && \.age < 3)
        let range = 1...3, half = 1..<3
        people(#Predicate<Person> { range.contains($0.age) }, (\Person.age).isBetween(1, 3))
        people(#Predicate<Person> { half.contains($0.age) }, \.age >= 1 && \.age < 3)
        // Each element of a captured list makes a condition of its own.
        people(
            #Predicate<Person> { person in names.contains { person.name.starts(with: $0) } },
            (\Person.name).beginsWith("Ann") || (\Person.name).beginsWith("Bob"))
        people(
            #Predicate<Person> { person in names.allSatisfy { person.name != $0 } }, \.name != "Ann" && \.name != "Bob")
    }

    @Test func capturedValuesDecideAsInSwift() {
        let none: String? = nil, some: String? = "a", isOn = true, isOff = false
        people(#Predicate<Person> { none == nil || $0.name == none! }, Where(.constant(true)))
        people(#Predicate<Person> { some == nil || $0.name == some! }, \.name == "a")
        people(#Predicate<Person> { none != nil && $0.name == none! }, Where(.constant(false)))
        people(#Predicate<Person> { some != nil && $0.name == some! }, \.name == "a")
        people(#Predicate<Person> { isOn ? $0.age > 1 : $0.age > 2 }, \.age > 1)
        people(#Predicate<Person> { !isOff && $0.age > 1 }, \.age > 1)
        people(#Predicate<Person> { isOff || !isOn || $0.age > 1 }, \.age > 1)
        people(#Predicate<Person> { some == "b" || $0.age > 1 }, \.age > 1)
    }

    @Test func localizedSearchesIgnoreCaseAndDiacritics() throws {
        people(
            #Predicate<Person> { $0.name.localizedStandardContains("é") },
            (\Person.name).contains("é", options: [.caseInsensitive, .diacriticInsensitive]))
        people(
            #Predicate<Person> { $0.email?.localizedStandardContains("x") == true },
            (\Person.email).contains("x", options: [.caseInsensitive, .diacriticInsensitive]))
    }

    @Test func aRawValueIsTheStoredValueOfAnEnum() {
        let name = "large"
        expect(
            Where(#Predicate<Dog> { $0.size.rawValue == name }), Where<Dog>(.compare(.path("size"), .equal, .value(.string("large")))),
            #_sourceLocation)
    }

    @Test func numbers() {
        people(#Predicate<Person> { $0.age + 1 > 30 }, \.age + 1 > 30)
        people(#Predicate<Person> { $0.age - 1 > 30 }, \.age - 1 > 30)
        people(#Predicate<Person> { $0.age * 2 > 30 }, \.age * 2 > 30)
        people(#Predicate<Person> { $0.age / 7 == 4 }, \.age / 7 == 4)
        people(#Predicate<Person> { $0.age % 2 == 0 }, \.age % 2 == 0)
        strings(#Predicate<StringEntity> { $0.check / 2 > 1.5 }, \.check / 2 > 1.5)
        people(
            #Predicate<Person> { -$0.age < 3 }, Where(.compare(.function(.negate, [.path("age")]), .less, .value(.int(3)))))
        people(
            #Predicate<Person> { ($0.age > 9 ? $0.age : 0) == 3 },
            Where(
                .compare(
                    .conditional(.compare(.path("age"), .greater, .value(.int(9))), .path("age"), .value(.int(0))), .equal,
                    .value(.int(3)))))
    }

    @Test func optionalChains() {
        animals(#Predicate<Animal> { $0.owner?.name == "Ann" }, \.owner?.name == "Ann")
        animals(#Predicate<Animal> { $0.owner?.name != "Ann" }, \.owner?.name != "Ann")
        animals(#Predicate<Animal> { $0.owner!.age > 3 }, Where(.compare(.path("owner.age"), .greater, .value(.int(3)))))
        animals(#Predicate<Animal> { $0.owner?.partner?.email == nil }, \.owner?.partner?.email == nil)
        people(#Predicate<Person> { $0.email?.contains("x") == true }, (\Person.email).contains("x"))
        people(#Predicate<Person> { $0.email?.contains("x") ?? false }, (\Person.email).contains("x"))
        people(#Predicate<Person> { $0.partner?.email?.contains("x") == true }, (\Person.partner?.email).contains("x"))
        people(#Predicate<Person> { ($0.email ?? "q") == "q" }, ValueExpression(\Person.email).or("q") == "q")
        people(#Predicate<Person> { if let email = $0.email { email == "a" } else { false } }, \.email == "a")
        // What would hold of nil asks whether there is something, as Swift does.
        people(#Predicate<Person> { $0.email.flatMap { !$0.contains("x") } == true }, \.email != nil && !(\Person.email).contains("x"))
        people(#Predicate<Person> { $0.email?.contains("x") == false }, \.email != nil && !(\Person.email).contains("x"))
        people(#Predicate<Person> { $0.email?.contains("x") == nil }, !(\.email != nil))
        people(#Predicate<Person> { $0.email?.contains("x") ?? true }, !(\.email != nil && !(\Person.email).contains("x")))
        people(#Predicate<Person> { $0.email?.contains("x") != false }, !(\.email != nil && !(\Person.email).contains("x")))
    }

    @Test func relatedObjects() {
        people(#Predicate<Person> { $0.pets.contains { $0.name == "Rex" } }, (\Person.pets).any(\.name == "Rex"))
        people(#Predicate<Person> { $0.pets.allSatisfy { $0.name == "Rex" } }, (\Person.pets).all(\.name == "Rex"))
        people(#Predicate<Person> { !$0.pets.contains { $0 is Dog } }, !(\Person.pets).any(.isKind(of: Dog.self)))
        people(#Predicate<Person> { $0.pets.count > 2 }, (\Person.pets).count > 2)
        people(#Predicate<Person> { $0.pets.filter { $0.name == "Rex" }.count > 2 }, (\Person.pets).count(where: \.name == "Rex") > 2)
        people(#Predicate<Person> { $0.pets.isEmpty }, (\Person.pets).none(Where(.constant(true))))
        people(#Predicate<Person> { $0.pets.filter { $0.name == "Rex" }.isEmpty }, (\Person.pets).none(\.name == "Rex"))
        people(
            #Predicate<Person> { $0.pets.contains { $0.owner?.pets.contains { $0.name == "Rex" } == true } },
            (\Person.pets).any(Where(.related(.any, "owner.pets", .compare(.path("name"), .equal, .value(.string("Rex")))))))
        // Of no partner nothing is known, and all of no pets is true.
        people(
            #Predicate<Person> { $0.partner?.pets.allSatisfy { $0.name == "Rex" } == true },
            \.partner != nil && Where(.related(.all, "partner.pets", .compare(.path("name"), .equal, .value(.string("Rex"))))))
        animals(#Predicate<Animal> { $0 is Dog }, .isKind(of: Dog.self))
    }

    @Test(arguments: TestStore.all) func fetches(_ store: TestStore) throws {
        let stack = try store.stack()
        let (ann, rex) = try stack.perform(synchronous: { transaction in
            let ann = try transaction.create(Person.self)
            (ann.name, ann.age, ann.email) = ("Ann", 30, "ann@x")
            let bob = try transaction.create(Person.self)
            (bob.name, bob.age, bob.partner) = ("Bob", 40, ann)
            try transaction.create(Person.self).name = "Cid"
            let rex = try transaction.create(Dog.self)
            (rex.name, rex.owner, rex.born) = ("Rex", ann, Date(timeIntervalSince1970: 0))
            let ace = try transaction.create(Dog.self)
            (ace.name, ace.owner) = ("Ace", ann)
            return (ann.objectID, rex.objectID)
        })
        func names(_ predicate: Predicate<Person>) throws -> [String] {
            try stack.fetchAll(From<Person>().where(Where(predicate)).orderBy(.ascending(\.name))).map(\.name)
        }
        #expect(try names(#Predicate { $0.age > 20 && $0.name.contains("n") }) == ["Ann"])
        #expect(try names(#Predicate { $0.email != "ann@x" }) == ["Bob", "Cid"])
        #expect(try names(#Predicate { $0.email?.contains("q") == false }) == ["Ann"])
        #expect(try names(#Predicate { ($0.email ?? "none") == "none" }) == ["Bob", "Cid"])
        #expect(try names(#Predicate { !($0.email?.contains("q") ?? false) }) == ["Ann", "Bob", "Cid"])
        #expect(try names(#Predicate { $0.partner?.name == "Ann" }) == ["Ann", "Bob"].filter { $0 == "Bob" })
        #expect(try names(#Predicate { $0.partner?.age == nil }) == ["Cid"])
        #expect(try names(#Predicate { $0.pets.isEmpty }) == ["Bob", "Cid"])
        #expect(try names(#Predicate { $0.pets.count == 2 }) == ["Ann"])
        #expect(try names(#Predicate { $0.pets.contains { $0.name == "Rex" && $0 is Dog } }) == ["Ann"])
        #expect(try names(#Predicate { $0.partner?.pets.filter { $0.name == "Ace" }.count == 1 }) == ["Bob"])
        #expect(try names(#Predicate { ($0.age % 20 == 0 ? $0.age + 1 : 7) == 41 }) == ["Bob"])
        #expect(try names(#Predicate { $0.partner?.objectID == ann }) == ["Bob"])
        #expect(try names(#Predicate { $0.objectID == ann }) == ["Ann"])
        let ids = [ann]
        #expect(try names(#Predicate { !ids.contains($0.objectID) }) == ["Bob", "Cid"])
        #expect(try names(#Predicate { $0.pets.contains { $0.name == "Rex" && $0.owner?.objectID == ann } }) == ["Ann"])
        #expect(try names(#Predicate { person in person.pets.contains { $0.name != person.name } }) == ["Ann"])
        #expect(try names(#Predicate { person in person.pets.filter { $0.name.count == person.name.count }.count == 2 }) == ["Ann"])
        let first = Date(timeIntervalSince1970: 1)
        #expect(
            try stack.fetchIDs(From<Dog>().where(Where(#Predicate { $0.born ?? first < first && $0.owner?.age == 30 }))) == [rex])
        let large = Size.large
        #expect(try stack.fetchCount(From<Dog>().where(Where(#Predicate { $0.size != large }))) == 2)
    }
}
