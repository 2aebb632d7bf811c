import Foundation
import PolystoreCompatibility
import PolystoreInMemory
import Testing

/// The forms of the methods of CoreStore's observers.
@Suite @MainActor struct ObserverFormTests {
    private let dataStack: DataStack

    init() throws {
        dataStack = try sampleStack()
        try dataStack.addStorageAndWait(InMemoryStore())
        try dataStack.perform(synchronous: { try $0.create(Into<MyPersonEntity>()).age = 31 })
    }

    private func change(_ source: String, _ body: (WriteTransaction) throws -> Void) throws {
        try dataStack.perform(synchronous: body, sourceIdentifier: source)
        try dataStack.viewContext.merge()
    }

    /// An observer of CoreStore 1 and 2.
    final class Former: @MainActor ListObjectObserver {
        typealias ListEntityType = MyPersonEntity
        var calls: [String] = []

        func listMonitorDidChange(_ monitor: ListMonitor<MyPersonEntity>) { calls.append("changed") }
        func listMonitorDidRefetch(_ monitor: ListMonitor<MyPersonEntity>) {}
        func listMonitor(
            _ monitor: ListMonitor<MyPersonEntity>, didInsertObject object: MyPersonEntity, toIndexPath indexPath: NSIndexPath
        ) {
            calls.append("\(object.age) at \(indexPath.index(atPosition: 0)) \(indexPath.index(atPosition: 1))")
        }
        func listMonitor(
            _ monitor: ListMonitor<MyPersonEntity>, didMoveObject object: MyPersonEntity, fromIndexPath: NSIndexPath,
            toIndexPath: NSIndexPath
        ) {
            calls.append("from \(fromIndexPath.index(atPosition: 1)) to \(toIndexPath.index(atPosition: 1))")
        }
    }

    /// An observer of CoreStore 7 and later.
    final class Current: @MainActor ListSectionObserver, @MainActor ObjectObserver {
        typealias ListEntityType = MyPersonEntity
        typealias ObjectEntityType = MyPersonEntity
        var calls: [String] = []

        func listMonitorWillChange(_ monitor: ListMonitor<MyPersonEntity>) { calls.append("will change") }
        func listMonitorDidChange(_ monitor: ListMonitor<MyPersonEntity>) { calls.append("not called") }
        func listMonitorDidChange(_ monitor: ListMonitor<MyPersonEntity>, sourceIdentifier: Any?) {
            calls.append("changed by \(sourceIdentifier as? String ?? "-")")
        }
        func listMonitorDidRefetch(_ monitor: ListMonitor<MyPersonEntity>) { calls.append("refetched") }
        func listMonitor(
            _ monitor: ListMonitor<MyPersonEntity>, didInsertSection sectionInfo: ListSectionInfo, toSectionIndex sectionIndex: Int,
            sourceIdentifier: Any?
        ) {
            calls.append("section \(sectionInfo.name) by \(sourceIdentifier as? String ?? "-")")
        }
        func listMonitor(
            _ monitor: ListMonitor<MyPersonEntity>, didInsertObject object: MyPersonEntity, toIndexPath indexPath: IndexPath,
            sourceIdentifier: Any?
        ) {
            calls.append("\(object.age) by \(sourceIdentifier as? String ?? "-")")
        }
        func objectMonitor(
            _ monitor: ObjectMonitor<MyPersonEntity>, didUpdateObject object: MyPersonEntity, changedPersistentKeys: Set<String>,
            sourceIdentifier: Any?
        ) {
            calls.append("\(changedPersistentKeys.sorted()) by \(sourceIdentifier as? String ?? "-")")
        }
        func objectMonitor(_ monitor: ObjectMonitor<MyPersonEntity>, didDeleteObject object: MyPersonEntity) { calls.append("deleted") }
    }

    @Test func methodsWithAnNSIndexPathAreCalled() throws {
        let monitor = try dataStack.monitorList(From<MyPersonEntity>(), OrderBy(.ascending("age"))), observer = Former()
        monitor.addObserver(observer)
        try change("a") { try $0.create(Into<MyPersonEntity>()).age = 40 }
        #expect(observer.calls == ["40 at 0 1", "changed"])
        observer.calls = []
        try change("a") { try $0.fetchOne(From<MyPersonEntity>(), Where("age == 31"))?.age = 50 }
        #expect(observer.calls == ["from 0 to 1", "changed"])
        monitor.removeObserver(observer)
        try change("a") { try $0.create(Into<MyPersonEntity>()).age = 1 }
        #expect(observer.calls.count == 2)
    }

    @Test func methodsWithASourceIdentifierReplaceThoseWithoutIt() throws {
        let list = From<MyPersonEntity>().sectionBy("age").orderBy(.ascending("age"))
        let monitor = try dataStack.monitorSectionedList(list), observer = Current()
        monitor.addObserver(observer)
        try change("import") { try $0.create(Into<MyPersonEntity>()).age = 40 }
        #expect(observer.calls == ["will change", "section 40 by import", "40 by import", "changed by import"])
        observer.calls = []
        try monitor.refetch([OrderBy(.ascending("age"))])
        #expect(observer.calls == ["refetched"])
    }

    @Test func anObjectIsObservedWithTheSourceIdentifier() throws {
        let person = try #require(try dataStack.viewContext.fetchOne(From<MyPersonEntity>())), observer = Current()
        let monitor = try dataStack.monitorObject(person)
        monitor.addObserver(observer)
        try change("edit") { try $0.edit(person)?.age = 32 }
        try change("edit") { _ = try $0.delete(try $0.edit(person), nil) }
        #expect(observer.calls == ["[\"age\"] by edit", "deleted"])
    }
}
