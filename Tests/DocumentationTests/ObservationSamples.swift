#if Macros
import Polystore
import PolystoreInMemory
import PolystoreMacros
import Testing

/// The samples of "Observation".
@Suite(.scratch) struct ObservationSamples {
    @Model final class Person: ManagedObject {
        var name: String = ""
        var city: String = ""
        var age: Int = 0
        var isActive: Bool = true
    }

    @MainActor final class PeopleTable: @MainActor ListObserver {
        func listMonitorDidChange(_ monitor: ListMonitor<Person>) {
            print(monitor.sections.map { "\($0.name) \($0.numberOfObjects)" }.joined(separator: ", "))
        }

        func listMonitorDidRefetch(_ monitor: ListMonitor<Person>) {
            print("all", monitor.numberOfObjects)
        }
    }

    private func stack() throws -> DataStack {
        let stack = try DataStack(Person.self)
        try stack.addStorageAndWait(InMemoryStore())
        return stack
    }

    private static func add(_ name: String, _ city: String, _ age: Int, _ stack: DataStack) async throws {
        try await stack.perform { transaction in
            let person = try transaction.create(Person.self)
            (person.name, person.city, person.age) = (name, city, age)
        }
    }

    @Test @MainActor func aMonitorCallsItsObservers() async throws {
        let stack = try stack(), table = PeopleTable()
        let people = try stack.viewContext.monitorSectionedList(
            From<Person>().where(\.isActive == true).orderBy(.ascending(\.city), .ascending(\.name)), sectionBy: SectionBy(\.city))
        people.addObserver(table)
        try await Self.add("Ann", "Riga", 33, stack)
        try await eventually { people.numberOfObjects == 1 }
        #expect(people[0, 0].name == "Ann" && people.sections.map(\.name) == ["Riga"])
    }

    @Test func aValueIsPublished() async throws {
        let stack = try stack()
        let following = Task {
            let adults = try stack.publishValue(of: Person.self) { try $0.fetchCount(From<Person>().where(\.age >= 18)) }
            for await count in adults.values { print(count) }
        }
        try await eventually { printed == ["0"] }
        try await Self.add("Ann", "Riga", 33, stack)
        try await eventually { printed == ["0", "1"] }
        try await Self.add("Kim", "Riga", 7, stack)
        following.cancel()
    }
}
#endif
