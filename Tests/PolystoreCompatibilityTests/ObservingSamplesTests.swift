import Foundation
import PolystoreCompatibility
import PolystoreInMemory
import Testing

// The samples of CoreStore's document on observing and of CoreDataMonk's on data providers, one test for each. Their view controllers are
// plain classes of the main actor here, and `KeyPath` of the stored names is `String`. A table of UIKit is a `ListTarget`. They ask a stack
// of their own, because tests that run
// at the same time share CoreStore's default stack, whose verbs are the same.

@Suite @MainActor struct ObservingSamplesTests {
    private let dataStack: DataStack

    init() throws {
        dataStack = try sampleStack()
        try dataStack.addStorageAndWait(InMemoryStore())
        try dataStack.perform(synchronous: { transaction in
            for (name, age) in [("Ann", 31), ("Ben", 25), ("Cid", 42), ("Dan", 31)] {
                let person = try transaction.create(MyPersonEntity.self)
                person.name = name
                person.age = age
            }
        })
    }

    private func change(_ name: String, _ body: (MyPersonEntity) -> Void) throws {
        try dataStack.perform(synchronous: { transaction in
            try transaction.fetchOne(From<MyPersonEntity>(), Where("name", isEqualTo: name)).map(body)
        })
        try dataStack.viewContext.merge()
    }

    final class MyViewController: @MainActor ObjectObserver, @MainActor ListSectionObserver {
        typealias ObjectEntityType = MyPersonEntity
        typealias ListEntityType = MyPersonEntity

        var monitor: ObjectMonitor<MyPersonEntity>?
        var calls: [String] = []

        func objectMonitor(_ monitor: ObjectMonitor<MyPersonEntity>, willUpdateObject object: MyPersonEntity) {
            calls.append("will \(object.age)")
        }

        func objectMonitor(
            _ monitor: ObjectMonitor<MyPersonEntity>, didUpdateObject object: MyPersonEntity, changedPersistentKeys: Set<String>
        ) {
            calls.append("did \(object.age) \(changedPersistentKeys.sorted())")
        }

        func objectMonitor(_ monitor: ObjectMonitor<MyPersonEntity>, didDeleteObject object: MyPersonEntity) { calls.append("deleted") }

        func listMonitorDidChange(_ monitor: ListMonitor<MyPersonEntity>) { calls.append("did change") }
        func listMonitorDidRefetch(_ monitor: ListMonitor<MyPersonEntity>) { calls.append("did refetch") }

        func listMonitor(
            _ monitor: ListMonitor<MyPersonEntity>, didInsertSection sectionInfo: ListSectionInfo, toSectionIndex sectionIndex: Int
        ) {
            calls.append("section \(sectionInfo.name) at \(sectionIndex)")
        }
    }

    @Test func anObjectIsMonitored() throws {
        let controller = MyViewController()
        let person = try #require(try dataStack.viewContext.fetchOne(From<MyPersonEntity>(), Where("name", isEqualTo: "Ann")))
        controller.monitor = try dataStack.monitorObject(person)
        controller.monitor?.addObserver(controller)
        try change("Ann") { $0.age = 32 }
        #expect(controller.calls == ["will 31", "did 32 [\"age\"]"])
        try dataStack.perform(synchronous: { _ = try $0.delete([try #require(try $0.edit(person))]) })
        try dataStack.viewContext.merge()
        #expect(controller.calls.last == "deleted" && controller.monitor?.object == nil)
    }

    @Test func aListIsMonitored() throws {
        let controller = MyViewController()
        let monitor = try dataStack.monitorList(
            From<MyPersonEntity>(),
            Where("age > 30"),
            OrderBy(.ascending("name")),
            Tweak { (fetchRequest) -> Void in
                fetchRequest.fetchBatchSize = 20
            }
        )
        monitor.addObserver(controller)
        let firstPerson = monitor[0]
        #expect(firstPerson.name == "Ann" && monitor.numberOfObjects == 3)
        try change("Ben") { $0.age = 50 }
        #expect(controller.calls == ["did change"] && monitor[1].name == "Ben")
        try monitor.refetch(Where("age > 45"), OrderBy(.ascending("name")))
        #expect(controller.calls.last == "did refetch" && monitor.numberOfObjects == 1)
    }

    @Test func aRefetchedListKeepsItsEntityAndConfiguration() throws {
        let point = ManagedObject._Entity("Point", attributes: [ManagedObject._Attribute("x", .int64)])
        let schema = try Schema(entities: [point], configurations: ["A": ["Point"], "B": ["Point"]])
        let stack = try DataStack(schema: schema)
        for configuration in ["A", "B"] {
            try stack.addStorageAndWait(InMemoryStore(configuration: configuration))
            try stack.perform(synchronous: { transaction in
                for x in 1...2 {
                    try transaction.create(Into<DynamicObject>(entity: "Point", configuration)).setValue(.int(Int64(x)), for: "x")
                }
            })
        }
        let monitor = try stack.monitorList(From<DynamicObject>(entity: "Point", "B"), OrderBy(.ascending("x")))
        #expect(monitor.numberOfObjects == 2)
        try monitor.refetch(Where("x > 1"), OrderBy(.descending("x")))
        #expect(monitor.numberOfObjects == 1)
        try monitor.refetch(OrderBy(.descending("x")))
        #expect(try monitor.objectsInAllSections().map { try $0.value("x") } == [.int(2), .int(1)])
    }

    @Test func aListHasSectionsWithTitles() throws {
        let controller = MyViewController()
        let monitor = try dataStack.monitorSectionedList(
            From<MyPersonEntity>(),
            SectionBy("age") { (sectionName) -> String in
                "\(sectionName) years old"
            },
            OrderBy(.ascending("age"), .ascending("name"))
        )
        monitor.addObserver(controller)
        #expect(monitor.sectionInfoAtIndex(1).name == "31 years old")
        let indexPath = IndexPath(forRow: 1, inSection: 1)
        let person1 = monitor[indexPath]
        let person2 = monitor[1, 1]
        #expect(person1 === person2 && person1.name == "Dan")
        try change("Cid") { $0.age = 20 }
        #expect(controller.calls == ["section 20 years old at 0", "did change"])
        #expect(throws: StorageError.self) {
            try dataStack.monitorSectionedList(From<MyPersonEntity>(), SectionBy("age"), OrderBy(.ascending("name")))
        }
    }

    /// What stands for a table view.
    final class Table: ListTarget {
        typealias Object = MyPersonEntity
        var shown: [ObjectID<MyPersonEntity>] = []
        func reloadData(_ snapshot: ListSnapshot<MyPersonEntity>) { shown = snapshot.itemIDs }
        func performBatchUpdates(_ stage: ListStage<MyPersonEntity>, animated: Bool, show: @escaping () -> Void) {
            show()
            shown = stage.snapshot.itemIDs
        }
    }

    @Test func objectRepresentationsAreConverted() throws {
        let ann = try #require(try dataStack.fetchOne(From<MyPersonEntity>(), Where("name", isEqualTo: "Ann")))
        let publisher = try ann.asPublisher(in: dataStack), snapshot = try #require(try publisher.asSnapshot(in: dataStack))
        try dataStack.perform(synchronous: { transaction in
            try snapshot.asEditable(in: transaction)?.age = 77
            #expect(try ann.asEditable(in: transaction)?.age == 77)
        })
        let read = try snapshot.asReadOnly(in: dataStack.viewContext)
        #expect(read?.age == 77 && snapshot.age == 31)
        #expect(try ann.asReadOnly(in: dataStack.viewContext) === read && ann.asSnapshot(in: dataStack)?.age == 77)
    }

    @Test func aProviderKeepsATableUpToDate() throws {
        let table = Table()
        var cells: [String] = []
        let dataProvider = try TableViewDataProvider(context: dataStack.viewContext).bind(table) { person, indexPath in
            cells.append("\(indexPath[1]) \(person.name ?? "")")
        }
        try dataProvider.query(orderBy: .ascending("name"))
        #expect(table.shown.count == 4 && dataProvider.numberOfObjects == 4)
        cells = []
        try change("Ben") { $0.name = "Zoe" }
        #expect(cells == ["3 Zoe"])
        #expect(try dataStack.fetchExisting(table.shown).map(\.name) == ["Ann", "Cid", "Dan", "Zoe"])
        try dataProvider.query(Where("age > 40"), orderBy: .ascending("name"))
        #expect(table.shown.count == 1)
    }

    @Test func theStackOfATaskIsFoundInIt() throws {
        struct SubView {
            @EnvironmentDataStack var dataStack
            func count() throws -> Int { try $dataStack.get().fetchCount(From<MyPersonEntity>()) }
        }
        let view = SubView()
        #expect(throws: StorageError.self) { try view.count() }
        let count = try withDataStack(dataStack) { try view.count() }
        #expect(count == 4 && view.dataStack == nil)
    }
}
