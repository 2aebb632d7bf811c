#if Macros
import Foundation
import Polystore
import PolystoreMacros
import PolystoreSQLite
import TestStores
import Testing

/// The samples of "Querying".
@Suite(.scratch) struct QueryingSamples {
    @Model final class Task: ManagedObject {
        var done: Bool = false
        var price: Decimal = 0
        var count: Int = 1
        @Relationship var project: Project?
        var isOpen: Bool { computed(as: \.done == false) { !done } }
        var doubled: Int { computed(as: \.count * 2) { count * 2 } }
    }

    @Model final class Sale: ManagedObject {
        var units: Int = 0
        var isPaid: Bool = false
    }

    @Model final class Project: ManagedObject {
        @Relationship(inverse: \Task.project) var tasks: Set<Task>
    }

    @Model(indexes: [Index(["stars"], where: "isActive == true"), Index(["body"], kind: .fullText)])
    final class Article: ManagedObject {
        var body: String = ""
        var stars: Int = 0
        var isActive: Bool = true
    }

    @Model final class Person: ManagedObject {
        var name: String = ""
        var age: Int = 0
        var born: Date?
        var joined: Date = Date(timeIntervalSince1970: 0)
        var salary: Decimal = 0
        @Relationship(inverse: \Pet.owner) var pets: Set<Pet>
        @Relationship var partner: Person?
    }

    @Model final class Pet: ManagedObject {
        var name: String = ""
        var born: Date?
        @Relationship var owner: Person?
    }

    /// Ann is 33 and has a dog of her name, Bob and Cid are 40.
    private func stack() throws -> DataStack {
        let stack = try DataStack(Task.self, Sale.self, Project.self, Article.self, Person.self, Pet.self)
        try stack.addStorageAndWait(SQLiteStore(path: scratch("people.db")))
        try stack.perform(synchronous: { transaction in
            for (number, person) in [("Ann", 33), ("Bob", 40), ("Cid", 40)].enumerated() {
                let one = try transaction.create(Person.self)
                (one.name, one.age) = person
                one.joined = Date(timeIntervalSince1970: Double(number))
                one.salary = Decimal(number)
            }
            let pet = try transaction.create(Pet.self)
            pet.name = "Ann"
            pet.owner = try transaction.fetchOne(From<Person>().where(\.name == "Ann"))
        })
        return stack
    }

    @Test func valuesDependOnConditions() throws {
        let stack = try stack()
        try stack.perform(synchronous: { transaction in
            for (units, isPaid) in [(1, true), (2, false), (3, true)] {
                let sale = try transaction.create(Sale.self)
                (sale.units, sale.isPaid) = (units, isPaid)
            }
        })
        let paid = try stack.queryAttributes(
            From<Sale>().select(
                .expression(.sum(.conditional(\.isPaid == true, then: ValueExpression(\.units), else: .constant(0))), as: "typed"),
                Select(named: "@sum(TERNARY(isPaid == true, units, 0))", as: "text")))
        #expect(try paid.map { [try $0.value("typed", as: Int.self), try $0.value("text", as: Int.self)] } == [[4, 4]])
    }

    @Test func computedPropertiesAreRequested() throws {
        let stack = try stack()
        try stack.perform(synchronous: { transaction in
            for (count, done) in [(1, false), (3, true), (2, false)] {
                let task = try transaction.create(Task.self)
                (task.count, task.done) = (count, done)
            }
        })
        let open = try stack.fetchAll(From<Task>().where(\.isOpen == true).orderBy(.descending(\.doubled)))
        #expect(open.map(\.count) == [2, 1])
    }

    @Test func outerObjectsAreCompared() throws {
        let stack = try stack()
        let older = Where<Person>(format: "SUBQUERY(pets, $x, $x.name == name AND $x.born < born).@count > 0")
        let others = Where<Person>(format: "ANY pets SATISFIES $x ($x.name == name AND $x.owner != partner)")
        let namesakes = Where(#Predicate<Person> { person in person.pets.contains { $0.name == person.name } })
        #expect(try [older, others, namesakes].map { try stack.fetchCount(From<Person>().where($0)) } == [0, 1, 1])
    }

    @Test func variablesGetValues() throws {
        let stack = try stack()
        let older = Where<Person>(format: "age > $AGE AND name IN $NAMES")
        let people = try stack.fetchAll(From<Person>().where(older.substituting(["AGE": 30, "NAMES": ["Ann", "Bob"]])))
        #expect(people.map(\.name) == ["Ann", "Bob"])
    }

    @Test func wordsAreFound() throws {
        let stack = try stack()
        try stack.perform(synchronous: { transaction in
            for body in ["Swift and SQLite", "Swift, SQL and Java"] { try transaction.create(Article.self).body = body }
        })
        let found = try stack.fetchAll(From<Article>().where((\Article.body).search("swift sql* -java")))
        #expect(found.map(\.body) == ["Swift and SQLite"])
    }

    @Test func valuesAreQueried() throws {
        let stack = try stack()
        let rows = try stack.queryAttributes(
            From<Person>().select(.attribute(\.age), .count(as: "number"), .median(\.salary))
                .groupBy(\.age).having(.count() > 1))
        let tuples = try stack.queryTuples(From<Person>().tuples(ValueExpression(\Person.name), (\Person.pets).count))
        #expect(try rows.map { try [$0.value("age", as: Int.self), $0.value("number", as: Int.self)] } == [[40, 2]])
        #expect(tuples.map(\.0) == ["Ann", "Bob", "Cid"] && tuples.map(\.1) == [1, 0, 0])
    }

    @Test func groupsHaveAnOrder() throws {
        let stack = try stack()
        let ages = try stack.queryAttributes(
            From<Person>().orderBy(.descending(.count()), .ascending(\.age)).select(.attribute(\.age), .count(as: "number")).groupBy(\.age))
        for age in ages { print(try age.value("age", as: Int.self) ?? 0, try age.value("number", as: Int.self) ?? 0) }
        #expect(printed == ["40 2", "33 1"])
    }

    @Test func relatedObjectsArePrefetched() throws {
        let stack = try stack()
        stack.relationships = .strict
        let owners = try stack.fetchAll(From<Person>().prefetch(\.pets).prefetch(named: ["partner", "partner.pets"]))
        #expect(owners.first { $0.name == "Ann" }?.pets.count == 1 && owners.allSatisfy { $0.partner == nil && $0.loadError == nil })
    }

    @Test func pagesContinue() async throws {
        let stack = try stack()
        let request = From<Person>().orderBy(.descending(\.joined), .ascending(\.name)).limit(2)
        let first = try stack.fetchPage(request)
        let second = try stack.fetchPage(request, after: first.next)  // first.next?.description goes to a client and back
        #expect(first.objects.map(\.name) == ["Cid", "Bob"] && second.objects.map(\.name) == ["Ann"])
        for try await person in stack.fetchStream(request.batchSize(100)) { print(person.name) }  // waits on no thread of the program
        let people = try stack.fetchCursor(request)  // the same, without await
        while let person = try people.next() { print(person.name) }
        #expect(printed == ["Cid", "Bob", "Cid", "Bob"])
    }

    @Test func statementsInSQLAreAsked() throws {
        let stack = try stack(), age = 35
        let rows = try stack.queryRows(
            "SELECT \(column: \Person.name) AS name, rank() OVER (ORDER BY \(column: \Person.age)) AS place FROM \(table: Person.self)")
        let found = try stack.fetchAll(
            From<Person>(), sql: "SELECT \(column: \Person.self) FROM \(table: Person.self) WHERE \(column: \Person.age) > \(age)")
        #expect(rows.count == 3 && rows[0]["name"] == .string("Ann") && rows[0]["place"] == .int(1))
        #expect(Set(found.map(\.name)) == ["Bob", "Cid"])
        let months = try stack.queryRows(
            "SELECT strftime('%Y-%m', \(column: \Person.joined) / 1000000.0, 'unixepoch') AS month, count(*) AS number FROM \(table: Person.self) GROUP BY 1"
        )
        #expect(months.map(\.values) == [[.string("1970-01"), .int(3)]])
    }

    @Test func changedRowsAreReturned() async throws {
        let stack = try stack(), age = 35
        let raised = try await stack.perform { transaction in
            try transaction.executeReturning(
                "UPDATE \(table: Person.self) SET \(column: \Person.age) = \(column: \Person.age) + 1 WHERE \(column: \Person.age) < \(age) RETURNING \(column: \Person.name) AS name"
            ).map { try $0.value("name", as: String.self) }
        }
        #expect(raised == ["Ann"])
    }

    @Test(.enabled(if: TestStore.server != nil, "needs a PostgreSQL server; .ci/run starts one"))
    func rowsOfAQueueAreLocked() async throws {
        let stack = try DataStack(Task.self, Project.self), store = TestStore.postgresql.make()
        try stack.addStorageAndWait(store)
        defer { try? store.erase() }
        try await stack.perform { _ = try $0.create(Task.self) }
        try await stack.perform { transaction in
            let next = try transaction.fetchAll(
                From<Task>(),
                sql: "SELECT \(column: \Task.self) FROM \(table: Task.self) WHERE NOT \(column: \Task.done) LIMIT 1 FOR UPDATE SKIP LOCKED")
            next.first?.done = true
        }
        #expect(try stack.fetchCount(From<Task>().where(\.done == true)) == 1)
    }
}
#endif
