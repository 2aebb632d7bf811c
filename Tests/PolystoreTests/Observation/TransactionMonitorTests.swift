import Foundation
import Polystore
import TestStores
import Testing

/// Monitors of a transaction that is not tied to a closure: they see what is not committed yet.
@Suite struct TransactionMonitorTests {
    private let byAge = From<Person>().orderBy(.ascending(\.age))

    private func stack(_ store: TestStore, _ people: KeyValuePairs<String, Int> = ["Ann": 1, "Ben": 2, "Cid": 3]) throws -> DataStack {
        let stack = try store.stack()
        try stack.perform(synchronous: { transaction in for (name, age) in people { try add(name, age, transaction) } })
        return stack
    }

    @discardableResult
    private func add(_ name: String, _ age: Int, _ transaction: BaseTransaction) throws -> Person {
        let person = try transaction.create(Person.self)
        (person.name, person.age) = (name, age)
        return person
    }

    private func person(_ name: String, _ transaction: BaseTransaction) throws -> Person {
        try #require(try transaction.fetchOne(From<Person>().where(\.name == name)))
    }

    @Test(arguments: TestStore.all) func aListReportsUncommittedChanges(_ store: TestStore) throws {
        let stack = try stack(store, ["Ann": 1, "Ben": 2, "Cid": 3, "Zoe": 40])
        let work = stack.beginUnsafe(sourceIdentifier: "form")
        let monitor = try work.monitorList(byAge.where(\.age < 100))
        let recorder = MonitorRecorder(monitor)
        monitor.addObserver(recorder)
        #expect(try monitor.objectsInAllSections().map(\.name) == ["Ann", "Ben", "Cid", "Zoe"])
        try add("New", 0, work)
        try person("Ann", work).age = 50
        try person("Ben", work).name = "Bea"
        try work.delete(try person("Cid", work))
        #expect(recorder.calls.isEmpty && monitor.numberOfObjects == 4)
        try work.flush()
        #expect(recorder.take() == ["will", "delete 0.2", "insert New 0.0", "update Bea 0.1", "move Ann 0.0 0.3", "did"])
        #expect(recorder.sources == ["form", "form"])
        #expect(monitor[0].name == "New")
        #expect(recorder.shown == MonitorRecorder.keys(monitor))
        // Nothing new is nothing to tell; what a commit writes was told before.
        try work.flush()
        try work.commit()
        #expect(recorder.take() == [])
        #expect(try stack.fetchAll(byAge).map(\.name) == ["New", "Bea", "Zoe", "Ann"])
        // What others commit is seen, too.
        try stack.perform(synchronous: { _ = try add("Dan", 7, $0) })
        try work.flush()
        #expect(recorder.take() == ["will", "insert Dan 0.2", "did"])
    }

    @Test(arguments: TestStore.all) func aRollbackReportsTheReverseChanges(_ store: TestStore) throws {
        let stack = try stack(store)
        let work = stack.beginUnsafe(supportsUndo: true)
        let monitor = try work.monitorList(byAge)
        let recorder = MonitorRecorder(monitor)
        monitor.addObserver(recorder)
        try add("New", 9, work)
        try work.flush()
        #expect(recorder.take() == ["will", "insert New 0.3", "did"])
        try work.undo()
        #expect(recorder.take() == ["will", "delete 0.3", "did"])
        try work.redo()
        #expect(recorder.take() == ["will", "insert New 0.3", "did"])
        try person("Ann", work).age = 20
        try work.flush()
        #expect(recorder.take() == ["will", "move Ann 0.0 0.3", "did"])
        try work.rollback()
        #expect(recorder.take() == ["will", "delete 0.2", "move Ann 0.3 0.0", "did"])
        #expect(try monitor.objectsInAllSections().map(\.name) == ["Ann", "Ben", "Cid"])
    }

    @Test(arguments: TestStore.all) func objectsAndPropertiesReportUncommittedChanges(_ store: TestStore) throws {
        let stack = try stack(store)
        let work = stack.beginUnsafe()
        let ann = try person("Ann", work), monitor = try work.monitorObject(ann)
        let recorder = MonitorRecorder()
        monitor.addObserver(recorder)
        var ages: [[Int?]] = []
        let observation = work.observe(ann, \.age, notifyInitial: true) { _, change in ages.append([change.oldValue, change.newValue]) }
        ann.age = 8
        ann.age = 9
        let dog = try work.create(Dog.self)
        dog.owner = ann
        try work.flush()
        #expect(recorder.take() == ["will Ann 9", "did Ann 9 age,pets"])
        try work.commit()
        #expect(recorder.take() == [])
        observation.invalidate()
        ann.age = 10
        try work.delete(ann)
        try work.flush()
        #expect(recorder.take() == ["deleted Ann true"])
        #expect(ages == [[nil, 1], [1, 9]])
    }

    @Test(arguments: TestStore.all) func randomReportedChangesYieldTheFetchedList(_ store: TestStore) throws {
        let stack = try stack(store, [:])
        var random = RandomLists(seed: 77)
        let work = stack.beginUnsafe()
        let from = From<Person>().where(\.age < 8).orderBy(.ascending(\.name), .descending(\.age))
        let plain = try work.monitorList(from), window = try work.monitorList(from.offset(1).limit(4))
        let sections = try work.monitorSectionedList(from, sectionBy: SectionBy(\.name))
        let monitors = [plain, window, sections], recorders = monitors.map { MonitorRecorder($0) }
        for (monitor, recorder) in zip(monitors, recorders) { monitor.addObserver(recorder) }
        for _ in 0..<60 {
            for _ in 0..<(1 + random.number(4)) {
                let people = try work.fetchAll(From<Person>().orderBy(.ascending(\.email)))
                switch people.isEmpty ? 0 : random.number(4) {
                case 0: try add(["a", "b", "c"][random.number(3)], random.number(10), work)
                case 1: people[random.number(people.count)].age = random.number(10)
                case 2: people[random.number(people.count)].name = ["a", "b", "c"][random.number(3)]
                default: try work.delete(people[random.number(people.count)])
                }
            }
            switch random.number(8) {
            case 0: try work.commit()
            case 1: try work.rollback()
            default: try work.flush()
            }
            #expect(plain.objectIDs == (try work.fetchIDs(from)))
            #expect(window.objectIDs == (try work.fetchIDs(from.offset(1).limit(4))))
            #expect(sections.objectIDs == plain.objectIDs)
            for (monitor, recorder) in zip(monitors, recorders) { #expect(recorder.shown == MonitorRecorder.keys(monitor)) }
        }
    }
}
