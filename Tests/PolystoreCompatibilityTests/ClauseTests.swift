import Foundation
import PolystoreCompatibility
import PolystoreInMemory
import Testing

/// CoreStore's clauses in the forms that its programs write.
@Suite struct ClauseTests {
    private let dataStack: DataStack

    init() throws {
        dataStack = try sampleStack()
        try dataStack.addStorageAndWait(InMemoryStore(configuration: "Config1"))
        try dataStack.addStorageAndWait(InMemoryStore(configuration: "Config2"))
        try dataStack.perform(synchronous: { transaction in
            for (id, configuration) in [(1, "Config1"), (2, "Config2")] {
                try transaction.create(Into(MyEntity.self, configuration)).entityID = id
            }
            var people: [MyPersonEntity] = []
            for (name, age) in [("Ann", 31), ("Ben", 25), ("Cid", 42)] {
                let person = try transaction.create(Into<MyPersonEntity>())
                person.name = name
                person.age = age
                people.append(person)
            }
            people[0].friend = people[1]
            people[2].location = "here"
        })
    }

    private func names(_ clauses: any FetchClause<MyPersonEntity>...) throws -> [String?] {
        try dataStack.fetchAll(From<MyPersonEntity>(), clauses).map(\.name)
    }

    @Test func aRequestReadsTheStoresOfSeveralConfigurations() throws {
        #expect(try dataStack.fetchCount(From<MyEntity>("Config1", "Config2")) == 2)
        #expect(try dataStack.fetchCount(From<MyEntity>(["Config1", nil])) == 1)
        #expect(try dataStack.fetchAll(From(MyEntity.self, "Config2")).map(\.entityID) == [2])
        #expect(try dataStack.fetchAll(From(MyEntity.self, ["Config1"])).map(\.entityID) == [1])
        let from = From(MyEntity.self, "Config1", nil)
        #expect(from.configurations == ["Config1", nil] && from.entityClass == MyEntity.self)
        #expect(From<MyEntity>().configurations == nil)
        #expect(throws: StorageError.self) { try dataStack.fetchCount(From<MyEntity>(nil)) }
    }

    @Test func clausesAreListedOrInArrays() throws {
        let from = From<MyPersonEntity>()
        #expect(try dataStack.fetchCount(from, Where("age > 30"), Tweak { $0.fetchLimit = 1 }) == 1)
        #expect(try dataStack.fetchCount(from, [Where("age > 30")]) == 2)
        #expect(try dataStack.fetchAll(from, [Where("age > 30"), OrderBy(.descending("name"))]).map(\.name) == ["Cid", "Ann"])
        #expect(try dataStack.fetchOne(from, [OrderBy(.ascending("age"))])?.name == "Ben")
        let ids = try dataStack.fetchObjectIDs(from, [OrderBy(.ascending("age"))])
        #expect(try ids.count == 3 && dataStack.fetchObjectID(from, [OrderBy(.ascending("age"))]) == ids[0])
        #expect(try dataStack.queryValue(from, Select<Int>(.maximum("age")), [Where("age < 40")]) == 31)
        let rows = try dataStack.queryAttributes(from, Select([.attribute("name")]), [Where("age < 30")])
        #expect(rows.map { $0["name"] as? String } == ["Ben"])
        try dataStack.perform(synchronous: { transaction in
            let count = try transaction.fetchCount(from, Where("age > 30"))
            let oldest = try transaction.fetchAll(from, [Where("age > 40")])
            #expect(count == 2 && oldest.map(\.name) == ["Cid"])
            let deleted = try transaction.deleteAll(from, Where("age > 30"), OrderBy(.descending("age")), Tweak { $0.fetchLimit = 1 })
            #expect(deleted == 1 && oldest[0].isDeletedObject)
            let rest = try transaction.deleteAll(from, [Where("age > 30")])
            #expect(rest == 1)
        })
        #expect(try names() == ["Ben"])
    }

    @Test @MainActor func listsAreMonitoredAndPublishedByClauses() throws {
        let from = From<MyPersonEntity>(), byName = OrderBy<MyPersonEntity>(.ascending("name"))
        #expect(try dataStack.monitorList(from, [Where("age > 30"), byName]).numberOfObjects() == 2)
        #expect(try dataStack.publishList(from, Where("age > 30"), byName).snapshot.count == 2)
        #expect(try dataStack.publishList(from, [byName]).snapshot.count == 3)
        let sections = try dataStack.publishList(from, SectionBy("age"), OrderBy(.ascending("age"))).snapshot
        #expect(sections.sectionIDs == ["25", "31", "42"])
        #expect(try dataStack.publishList(from, SectionBy("age"), [OrderBy(.ascending("age"))]).snapshot == sections)
        #expect(try dataStack.monitorSectionedList(from, SectionBy("age"), [OrderBy(.ascending("age"))]).numberOfSections() == 3)
    }

    @Test @MainActor func aChainWithSectionsIsMonitoredAndPublished() throws {
        let list = From<MyPersonEntity>().sectionBy("age", sectionIndexTransformer: { $0.map { "\($0) years" } })
            .where("age > %d", 30).orderBy(.ascending("age"), .ascending("name")).tweak { $0.fetchBatchSize = 20 }
        let monitor = try dataStack.monitorSectionedList(list)
        #expect(monitor.sections.map(\.name) == ["31", "42"])
        #expect(monitor.sectionIndexTitles == ["31 years", "42 years"])
        #expect(try dataStack.monitorList(list.where(Where("age > 40"))).numberOfSections() == 1)
        #expect(try dataStack.publishList(list).snapshot.sectionIDs == ["31", "42"])
        let titled = SectionBy<MyPersonEntity>("age") { (name: String?) -> String? in name.map { "no. \($0)" } }
        let other = try dataStack.monitorSectionedList(From<MyPersonEntity>(), titled, OrderBy(.ascending("age")))
        #expect(other.sectionInfoAtIndex(0).name == "25" && other.sectionIndexTitles.last == "no. 42")
    }

    @Test func conditionsCompareWithNilObjectsAndLists() throws {
        #expect(try names(Where()).count == 3)
        #expect(try names(Where("location", isEqualTo: nil)) == ["Ann", "Ben"])
        #expect(try names(Where("location", isEqualTo: Optional("here"))) == ["Cid"])
        #expect(try names(Where("age", isMemberOf: [25, 42])) == ["Ben", "Cid"])
        #expect(try names(Where("age", isMemberOf: Set([31]))) == ["Ann"])
        let ben = try #require(try dataStack.fetchOne(From<MyPersonEntity>(), Where("name", isEqualTo: "Ben")))
        #expect(try names(Where("friend", isEqualTo: ben)) == ["Ann"])
        #expect(try names(Where("friend", isEqualTo: ben.objectID)) == ["Ann"])
        #expect(try names(Where("friend", isMemberOf: [ben])) == ["Ann"])
        #expect(try names(Where("friend", isMemberOf: [ben.objectID])) == ["Ann"])
        #expect(try names(Where("friend", isEqualTo: MyPersonEntity?.none)) == ["Ben", "Cid"])
        #expect(try names(Where("age IN %@", argumentArray: [[25]])) == ["Ben"])
    }

    @Test func aTweakSeesAndReplacesWhatTheClausesBeforeHaveSet() throws {
        let byAge = OrderBy<MyPersonEntity>(.descending("age"))
        let names = try dataStack.fetchAll(
            From<MyPersonEntity>(), Where("age > 30"),
            Tweak { request in
                request.predicate = request.predicate.map { !$0 }
                #expect(request.sortDescriptors == nil)
            }
        ).map(\.name)
        #expect(names == ["Ben"])
        let request = From<MyPersonEntity>().orderBy(.ascending("age")).limit(1).tweak {
            #expect($0.sortDescriptors == OrderBy<MyPersonEntity>(.ascending("age")).sortDescriptors && $0.fetchLimit == 1)
            $0.sortDescriptors = byAge.sortDescriptors
            $0.fetchLimit = 2
            $0.fetchOffset = 1
        }
        #expect(try dataStack.fetchAll(request).map(\.age) == [31, 25])
        #expect(try dataStack.fetchAll(From<MyPersonEntity>().appending(Where("age < 30"))).count == 1)
    }

    @Test func clausesAreComparedByTheirParts() {
        typealias Person = MyPersonEntity
        let adult: Where<Person> = Where("age > 30"), older: Where<Person> = Where("age > 31")
        #expect(Where<Person>("age > %d", 30) == adult && adult != older)
        let conditions: Set<Where<Person>> = [Where("age > 30"), Where("age > 30"), Where(true)]
        #expect(conditions.count == 2)
        let up: OrderBy<Person> = .ascending("age"), down: OrderBy<Person> = .descending("age")
        #expect(up == .ascending("age") && up != down && Set([up, down, up]).count == 2)
        #expect(GroupBy<Person>("age", "name") == GroupBy(["age", "name"]) && GroupBy<Person>("age").keyPaths == ["age"])
        #expect(Into<Person>() == Into(Person.self) && Into<Person>("A") != Into<Person>(nil))
        #expect(Into<Person>("A").configuration == "A" && Into<Person>("A").entityClass == Person.self)
        #expect(SelectTerm.maximum("age") == .maximum("age", as: "max(age)") && SelectTerm.maximum("age") != .minimum("age"))
        #expect(Select<Int>(.maximum("age")) == Select<Int>(.maximum("age")))
        #expect(Set([Select<NSDictionary>("age"), Select("age"), Select("name")]).map(\.selectTerms.count) == [1, 1])
    }
}
