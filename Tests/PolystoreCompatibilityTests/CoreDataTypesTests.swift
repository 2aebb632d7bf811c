#if !canImport(CoreData)
import Foundation
import PolystoreCompatibility
import TestStores
import Testing

/// The names of Core Data in the samples of the libraries that build on it.
@Suite struct CoreDataTypesTests {
    private static func model(_ version: String, _ attributes: [Attribute] = []) throws -> NSManagedObjectModel {
        try NSManagedObjectModel(
            version: version, entities: [Polystore.Entity("Note", attributes: [Attribute("title", .string)] + attributes)])
    }

    private enum Versions: String, ModelVersion {
        case v1 = "V1"
        case v2 = "V2"

        var schema: NSManagedObjectModel {
            get throws(StorageError) {
                let stars = Attribute("stars", .int64, defaultValue: .int(3))
                do { return try CoreDataTypesTests.model(rawValue, self == .v1 ? [] : [stars]) } catch {
                    throw StorageError(.invalidConfiguration, "\(error)")
                }
            }
        }

        static func migrationStages() -> [NSMigrationStage] {
            [
                v1.migrationStage(
                    toStage: .v2, label: "Custom Migration: V1 to V2",
                    postMigration: { context in
                        try context.perform { transaction in
                            for note in try transaction.fetchAll(From<DynamicObject>(entity: "Note")) {
                                try note.setValue(.int(5), for: "stars")
                            }
                        }
                    })
            ]
        }
    }

    private static func notes() -> NSFetchRequest<DynamicObject> { NSFetchRequest<DynamicObject>(entityName: "Note") }

    /// A program of Core Data, context by context.
    @MainActor @Test func aContainerLoadsItsStores() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("polystore-\(UUID().uuidString).sqlite")
        let container = try NSPersistentContainer(name: "Notes", managedObjectModel: Self.model("V1"))
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
        let storeDescription = container.persistentStoreDescriptions[0]
        let trueOption = true as NSNumber
        storeDescription.setOption(trueOption, forKey: NSPersistentHistoryTrackingKey)
        storeDescription.setOption(trueOption, forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        #expect(failure == nil)
        let bgContext = container.newBackgroundContext()
        func add(_ title: String, to context: NSManagedObjectContext) throws {
            try context.create(Into<DynamicObject>(entity: "Note")).setValue(.string(title), for: "title")
        }
        try add("b", to: bgContext)
        try add("a", to: bgContext)
        try bgContext.save()
        let sorted = Self.notes().sorted([.ascending("title")])
        #expect(try container.viewContext.fetch(sorted).map { try $0.value("title") } == [.string("a"), .string("b")])
        #expect(try container.viewContext.count(for: Self.notes().predicated(Where("title == 'a'"))) == 1)
        for storage in container.dataStack.storages { try container.dataStack.removeStorage(storage) }

        let next = try NSPersistentContainer(name: "Notes", managedObjectModel: Versions.v2.schema)
        next.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
        let migrationManager: NSStagedMigrationManager = try Versions.migrationManager()
        next.persistentStoreDescriptions
            .first?
            .setOption(migrationManager, forKey: NSPersistentStoreStagedMigrationManagerOptionKey)
        next.loadPersistentStores { _, error in failure = error }
        #expect(failure == nil)
        #expect(try next.viewContext.fetch(Self.notes()).map { try $0.value("stars") } == [.int(5), .int(5)])
        for storage in next.dataStack.storages { try storage.erase() }
        try? FileManager.default.removeItem(atPath: url.path + ".V1.backup")
    }

    @Test func aFailureReachesTheCompletionOfItsStore() throws {
        let container = try NSPersistentContainer(name: "Notes", managedObjectModel: Self.model("V1"))
        let memory = NSPersistentStoreDescription(), unknown = NSPersistentStoreDescription()
        memory.type = NSInMemoryStoreType
        unknown.type = "XML"
        container.persistentStoreDescriptions = [unknown, memory]
        var errors: [StorageError.Code?] = []
        container.loadPersistentStores { _, error in errors.append((error as? StorageError)?.code) }
        #expect(errors == [.invalidConfiguration, nil])
        #expect(container.dataStack.storages.count == 1)
    }

    @Test func aTrackerFollowsAContainer() async throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("polystore-\(UUID().uuidString).sqlite")
        let stacks = try (0..<2).map { _ in
            let container = try NSPersistentContainer(name: "Notes", managedObjectModel: Self.model("V1"))
            container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
            container.loadPersistentStores { _, error in #expect(error == nil) }
            return container
        }
        let tracker = PersistentHistoryTracker(container: stacks[0].dataStack, currentAuthor: .iOSViewContext), events = tracker.events()
        tracker.startMonitoring()
        try stacks[1].dataStack.perform(
            author: .extensionContext,
            synchronous: { try $0.create(Into<DynamicObject>(entity: "Note")).setValue(.string("a"), for: "title") })
        var author: TransactionAuthor?
        for await event in events {
            guard case .transaction(let transaction) = event else { continue }
            author = transaction.author
            break
        }
        #expect(author == .extensionContext)
        tracker.stopMonitoring()
    }

    /// An observer in the spelling of CoreStore 4.
    private final class SectionObserver: ListSectionObserver {
        typealias ListEntityType = DynamicObject

        var sections: [String] = []

        func listMonitor(
            _ monitor: ListMonitor<DynamicObject>, didInsertSection sectionInfo: NSFetchedResultsSectionInfo,
            toSectionIndex sectionIndex: Int
        ) {
            sections.append("\(sectionInfo.name) \(sectionInfo.numberOfObjects)")
        }

        func listMonitorDidChange(_ monitor: ListMonitor<DynamicObject>) {}
        func listMonitorDidRefetch(_ monitor: ListMonitor<DynamicObject>) {}
    }

    @Test func sectionsAreReportedWithTheirInfo() throws {
        let stack = try DataStack(schema: Self.model("V1"))
        try stack.addStorageAndWait(TestStore.memory.make())
        let view = stack.makeViewContext(), observer = SectionObserver()
        let list = try view.monitorSectionedList(Self.notes().sorted([.ascending("title")]), sectionBy: SectionBy("title"))
        list.addObserver(observer)
        try stack.perform(synchronous: { transaction in
            for title in ["a", "b", "b"] {
                try transaction.create(Into<DynamicObject>(entity: "Note")).setValue(.string(title), for: "title")
            }
        })
        try view.merge()
        #expect(observer.sections == ["a 1", "b 2"])
    }
}
#endif
