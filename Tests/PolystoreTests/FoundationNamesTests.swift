import Foundation
import Polystore
import TestStores
import Testing

/// A file that imports Foundation and Polystore writes Foundation's generic names without a module in front.
@Suite struct FoundationNamesTests {
    @Test(arguments: TestStore.all) func foundationTypesNeedNoModuleNameBesidePolystore(_ store: TestStore) throws {
        let stack = try store.stack()
        try stack.perform(synchronous: { transaction in
            for (name, age) in [("Ann", 30), ("Bob", 50), ("Cid", 40)] {
                let person = try transaction.create(Person.self)
                (person.name, person.age) = (name, age)
            }
        })
        let adult: Predicate<Person> = #Predicate { $0.age > 35 }
        let condition: Where<Person> = \.age > 35, byName: OrderBy<Person> = .descending(\.name)
        #expect(try stack.fetchAll(From<Person>().where(adult).orderBy(byName)).map(\.name) == ["Cid", "Bob"])
        #expect(try stack.fetchAll(From<Person>().where(condition).orderBy(byName)).map(\.name) == ["Cid", "Bob"])

        let byAge: SortDescriptor<Person> = SortDescriptor(\.age, order: .reverse)
        let doubled: Expression<Int, Int> = #Expression { $0 * 2 }
        let oldest = try stack.fetchAll(From<Person>()).sorted(using: byAge)
        #expect(try oldest.map { try doubled.evaluate($0.age) } == [100, 80, 60])
    }

    @Test func requestsCompileBesideFoundationTypes() throws {
        let predicate = try QueryPredicate(parsing: "age > 35"), expression = try QueryExpression(parsing: "age * 2")
        let request = ObjectRequest("Person", where: predicate, orderBy: [OrderTerm(expression, ascending: false)])
        #expect(request.order == [OrderTerm(expression, ascending: false)])
        let condition: Where<Person> = \.age > 35
        #expect(condition.predicate == predicate)
    }
}
