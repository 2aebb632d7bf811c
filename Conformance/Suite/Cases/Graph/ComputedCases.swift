internal import Foundation
internal import Polystore
internal import PolystoreStorage

// Properties that programs compute from stored properties, without a definition for requests.
extension Person {
    fileprivate var initial: String {
        get { String(name.prefix(1)) }
        set { name = newValue }
    }
    fileprivate var isChild: Bool { age < 18 }
    fileprivate var nextAge: Int { age + 1 }
    fileprivate var label: String { "\(name), \(age)" }
    fileprivate var shownName: String { name.isEmpty ? "?" : name }
    fileprivate var address: String { email ?? "none" }
    fileprivate var oldest: Set<Person> { children.filter { $0.age > 90 } }
    fileprivate var favourites: [Song] { Array(songs.prefix(1)) }
    fileprivate var boss: Person? { parent ?? self }
    /// Another name for the same property.
    fileprivate var surname: String { name }
}

// Properties that differ from the stored one only for large, long or unusual values.
extension Person {
    fileprivate var cappedAge: Int { min(age, 9_999) }
    fileprivate var raisedAge: Int { max(age, -100) }
    fileprivate var doubleAge: Int { Int(Double(age)) }
    fileprivate var smallAge: Int32 { Int32(age) }
    fileprivate var shortName: String { String(name.prefix(200)) }
    fileprivate var composedName: String { name.precomposedStringWithCanonicalMapping }
    fileprivate var roundedScore: Double { (score * 10_000).rounded() / 10_000 }
    fileprivate var cappedScore: Double { min(score, 1e15) }
    fileprivate var recent: Date? { joined.map { max($0, Date(timeIntervalSince1970: -4_000_000_000)) } }
    fileprivate var shortRoom: String? { room.map { String($0.prefix(100)) } }
    fileprivate var firstSongs: [Song] { Array(songs.prefix(100)) }
    fileprivate var someChildren: Set<Person> { children.count > 100 ? [] : children }
}

extension Pet {
    fileprivate var ownerName: String { owner?.name ?? "no one" }
    fileprivate var knownOwner: String? { owner?.name ?? "no one" }
    /// Whether the person has a name; requests can use the property.
    fileprivate var isNamed: Bool { computed(as: \.name != "") { !name.isEmpty } }
}

extension Person {
    fileprivate var isAdult: Bool { computed(as: \.age >= 18) { age >= 18 } }
    fileprivate var doubled: Int { computed(as: \.age * 2) { age * 2 } }
    fileprivate var capitals: String { computed(as: (\Person.name).uppercase) { name.uppercased() } }
    fileprivate var familySize: Int { computed(as: (\Person.children).count) { children.count } }
    fileprivate var isBig: Bool { computed(as: \.doubled > 50 && \.isAdult == true) { doubled > 50 && isAdult } }
    /// A property that is defined by itself.
    fileprivate var endless: Int { computed(as: \.endless + 1) { 0 } }
    /// Whether the person is not an adult; computed from a property that requests can use.
    fileprivate var isMinor: Bool { !isAdult }
}

/// Cases of group P about properties that are computed in Swift.
enum ComputedCases {
    static let all: [ConformanceCase] = [
        .graph("P070.computed-properties-are-refused", "Q10") { stack, check in
            try stack.write { transaction in
                let ann = try transaction.create(Person.self)
                (ann.name, ann.age) = ("Ann", 40)
                try transaction.create(Dog.self).owner = ann
            }
            let people = From<Person>(), dogs = From<Dog>()
            func refused(_ name: String, _ request: From<Person>) {
                check.throwing(.invalidPredicate, name) { _ = try stack.fetchAll(request) }
                check.throwing(.invalidPredicate, "\(name), a deletion") { try stack.write { _ = try $0.deleteAll(request) } }
            }
            refused("a truth", people.where(\.isChild == true))
            refused("a number", people.where(\.nextAge > 3))
            refused("an edge", people.where(\.shownName == "Ann"))
            refused("nil", people.where(\.address == "none"))
            refused("a text", people.where((\Person.initial).beginsWith("A")))
            refused("a list", people.where((\Person.initial).isIn(["A"])))
            refused("two properties", people.where(\.initial == \.name))
            refused("a range", people.where((\Person.nextAge).isBetween(1, 50)))
            refused("an order", people.orderBy(.ascending(\.initial)))
            refused("a length", people.orderBy(.descending(\.name.count)))
            refused("related objects", people.where((\Person.oldest).any(\.age > 3)))
            refused("a list of objects", people.where((\Person.favourites).count > 0))
            refused("another object", people.where(\.boss == nil))
            refused("of one that is known", people.where(\.isMinor == true))
            refused("Foundation", people.where(Where(#Predicate<Person> { $0.isChild })))
            refused("by itself", people.where(\.endless > 3))
            refused("an upper limit", people.where(\.cappedAge == 9_999))
            refused("a lower limit", people.where(\.raisedAge == -100))
            refused("a number through a double", people.where(\.doubleAge == 40))
            refused("a number of a smaller type", people.where(\.smallAge == 40))
            refused("the beginning of a text", people.where(\.shortName == "Ann"))
            refused("a text in another form", people.where(\.composedName == "Ann"))
            refused("a rounded number", people.where(\.roundedScore == 0))
            refused("an upper limit of a double", people.orderBy(.ascending(\.cappedScore)))
            refused("an earliest date", people.where(\.recent == nil))
            refused("the beginning of an optional text", people.where(\.shortRoom == nil))
            refused("the first of many objects", people.where((\Person.firstSongs).count == 0))
            refused("a set that is not too large", people.where((\Person.someChildren).count == 0))
            check.throwing(.invalidPredicate, "through a relationship") { _ = try stack.fetchAll(dogs.where(\.owner?.isChild == true)) }
            check.throwing(.invalidPredicate, "in place of a relationship") { _ = try stack.fetchAll(dogs.where(\.ownerName == "Ann")) }
            check.throwing(.invalidPredicate, "in place of nil") { _ = try stack.fetchAll(dogs.where(\.knownOwner == "Ann")) }
            check.throwing(.invalidPredicate, "a sum") { _ = try stack.queryValue(people.select(Int.self, .sum(\.nextAge))) }
            check.throwing(.invalidPredicate, "a group") {
                _ = try stack.queryAttributes(people.select(.attribute(\.initial), .count()).groupBy(\.initial))
            }
            check.throwing(.invalidPredicate, "tuples") { _ = try stack.queryTuples(people.tuples(\.initial, \.nextAge)) }
            check.throwing(.invalidPredicate, "an assignment") {
                try stack.write { _ = try $0.updateAll(people, .set(\.initial, to: "X")) }
            }
            check.throwing(.invalidPredicate, "an assigned value") {
                try stack.write { _ = try $0.updateAll(people, .set(\.age, to: \.nextAge)) }
            }
            var message = ""
            check.throwing(.invalidPredicate, "a text of two properties") {
                do throws(StorageError) { _ = try stack.fetchAll(people.where(\.label == "Ann, 40")) } catch {
                    message = error.message
                    throw error
                }
            }
            check.isTrue(message.contains("\"name\", \"age\""), "the error names the properties that are read: \(message)")
            check.equal(try stack.fetchAll(people).map { "\($0.name) \($0.age)" }, ["Ann 40"], "nothing was changed")
            check.equal(try stack.fetchCount(people.where(\.surname == "Ann")), 1, "another name for the same")
        },
        .graph("P071.computed-properties-with-an-expression", "Q9") { stack, check in
            try stack.write { transaction in
                for (name, age) in [("Ann", 40), ("Bob", 17), ("cid", 18)] {
                    let person = try transaction.create(Person.self), dog = try transaction.create(Dog.self)
                    (person.name, person.age) = (name, age)
                    if name != "Bob" { dog.name = "dog of \(name)" }
                    dog.owner = person
                }
                try person("Bob", in: transaction).parent = try person("Ann", in: transaction)
                _ = try transaction.create(Dog.self)
            }
            let people = From<Person>(), dogs = From<Dog>()
            func names(_ request: From<Person>) throws -> [String] { try stack.fetchAll(request).map(\.name) }
            func owners(_ condition: Where<Dog>) throws -> Set<String> {
                Set(try stack.fetchAll(dogs.where(condition)).map { $0.owner?.name ?? "-" })
            }
            let byName = people.orderBy(.ascending(\.name))
            check.equal(try names(byName.where(\.isAdult == true)), ["Ann", "cid"], "a truth")
            check.equal(try names(byName.where(\.isAdult == false)), ["Bob"], "its opposite")
            check.equal(try names(byName.where(!(\.isAdult != true))), ["Ann", "cid"], "twice the opposite")
            check.equal(try names(byName.where(Where(#Predicate<Person> { !$0.isAdult }))), ["Bob"], "Foundation")
            check.equal(try names(byName.where(\.doubled > 34)), ["Ann", "cid"], "a number")
            check.equal(try names(byName.where((\Person.doubled).isIn([34, 80]))), ["Ann", "Bob"], "a list")
            check.equal(try names(byName.where((\Person.capitals).beginsWith("C"))), ["cid"], "a text")
            check.equal(try names(byName.where(\.familySize == 1)), ["Ann"], "related objects")
            check.equal(try names(byName.where(\.isBig == true)), ["Ann"], "of others")
            check.equal(try names(people.orderBy(.descending(\.capitals))), ["cid", "Bob", "Ann"], "an order")
            check.equal(try names(people.orderBy(.ascending(\.isAdult), .descending(\.age))), ["Bob", "Ann", "cid"], "an order of truths")
            check.equal(try owners(\.owner?.isAdult == true), ["Ann", "cid"], "of a related object")
            check.equal(try owners(\.owner?.isAdult == false), ["Bob"], "of none it is nil")
            check.equal(try owners(\.owner?.isAdult == nil), ["-"], "nil")
            check.equal(try owners(\.owner?.isAdult != true), ["Bob", "-"], "not true")
            check.equal(try owners(\.isNamed == true), ["Ann", "cid"], "of a class above")
            check.equal(
                try owners(Where(#Predicate<Dog> { $0.owner?.isAdult == true })), ["Ann", "cid"], "Foundation, of a related object")
            check.equal(try names(byName.where((\Person.children).any(\.isAdult == false))), ["Ann"], "inside")
            check.equal(try stack.queryValue(people.select(Int.self, .sum(\.doubled))), 150, "a sum")
            let groups = try stack.queryTuples(people.orderBy(.ascending(\.isAdult)).tuples(\.isAdult, \.name))
            check.equal(groups.map { "\($0.0) \($0.1)" }.sorted(), ["false Bob", "true Ann", "true cid"], "tuples")
            let rows = try stack.queryAttributes(people.select(.attribute(\.isAdult, as: "adult"), .count(as: "number")).groupBy(\.isAdult))
            check.equal(
                Set(rows.map { "\($0["adult"] ?? .null) \($0["number"] ?? .null)" }),
                ["\(Value.bool(false)) \(Value.int(1))", "\(Value.bool(true)) \(Value.int(2))"], "groups")
            try stack.write { _ = try $0.updateAll(people.where(\.isAdult == true), .set(\.age, to: \.doubled)) }
            check.equal(try stack.fetchAll(byName).map(\.age), [80, 17, 36], "an assigned value")
        },
    ]
}
