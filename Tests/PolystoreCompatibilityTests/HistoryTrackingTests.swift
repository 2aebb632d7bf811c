import Foundation
import PolystoreCompatibility
import TestStores
import Testing

// RCDataKit's samples on authors and the tracking of the history.

extension TransactionAuthor {
    static var extensionContext: TransactionAuthor { "extensionContext" }
    static var localEditing: TransactionAuthor { "localEditing" }
    static var cloudDataImport: TransactionAuthor { "cloudDataImport" }
}

@Suite struct HistoryTrackingTests {
    /// A place; the classes get their names from the model of the samples.
    private func path() throws -> String {
        _ = try sampleStack()
        return FileManager.default.temporaryDirectory.appendingPathComponent("polystore_\(UUID().uuidString.lowercased()).db").path
    }

    private func authors(_ count: Int, _ events: AsyncStream<PersistentHistoryTracker.Event>) async -> [TransactionAuthor] {
        var authors: [TransactionAuthor] = []
        for await event in events {
            if case .transaction(let transaction) = event { authors.append(transaction.author) }
            if authors.count >= count { break }
        }
        return authors
    }

    @MainActor @Test func authorsOfContexts() async throws {
        let myStack = try BasicDataStack(MyEntity.self, path: try path(), mainAuthor: .iOSViewContext)
        #expect(myStack.historyTracker == nil && myStack.mainContextAuthor == "iOSViewContext")
        let bgContext = myStack.backgroundContext(author: .cloudDataImport)
        let anotherContext = myStack.backgroundContext(author: "otherContext")
        for context in [bgContext, anotherContext] {
            _ = try MyEntity(context: context)
            try context.save()
        }
        #expect(bgContext.author == .cloudDataImport)
        #expect(try myStack.dataStack.history().transactions.map(\.author) == [.cloudDataImport, "otherContext"])
    }

    @MainActor @Test func trackerOfAContainer() async throws {
        let file = try path()
        let myStack = try BasicDataStack(MyEntity.self, path: file, mainAuthor: .iOSViewContext)
        let widget = try BasicDataStack(MyEntity.self, path: file, mainAuthor: .extensionContext)
        let tracker = PersistentHistoryTracker(
            container: myStack.dataStack,
            currentAuthor: .iOSViewContext)
        let events = tracker.events()
        tracker.startMonitoring()
        let viewContext = myStack.viewContext
        #expect(try viewContext.fetchCount(From<MyEntity>()) == 0)
        for (stack, author) in [(myStack, TransactionAuthor.iOSViewContext), (widget, .extensionContext), (myStack, .localEditing)] {
            let context = stack.backgroundContext(author: author)
            _ = try MyEntity(context: context)
            try context.save()
        }
        #expect(await authors(2, events) == [.extensionContext, .localEditing])
        #expect(try viewContext.fetchCount(From<MyEntity>()) == 3)
        tracker.stopMonitoring()
    }

    @Test func theProgramsOwnUpdatesAreNotReported() async throws {
        let file = try path()
        let app = try BasicDataStack(
            MyEntity.self, path: file, mainAuthor: .iOSViewContext, persistentHistoryOptions: PersistentHistoryTrackingOptions())
        let widget = try BasicDataStack(MyEntity.self, path: file, mainAuthor: .extensionContext)
        let tracker = try #require(app.historyTracker), events = tracker.events()
        tracker.startMonitoring()
        try app.perform(synchronous: { _ = try $0.create(MyEntity.self) })
        let count = try await app.perform { transaction in
            _ = try transaction.create(MyEntity.self)
            return try transaction.fetchCount(From<MyEntity>())
        }
        try widget.perform(synchronous: { _ = try $0.create(MyEntity.self) })
        #expect(count == 2)
        #expect(await authors(1, events) == [.extensionContext])
        #expect(try app.dataStack.history().transactions.map(\.author) == [.iOSViewContext, .iOSViewContext, .extensionContext])
        tracker.stopMonitoring()
    }

    @Test func trackerOfABasicStack() async throws {
        let stack = try BasicDataStack(
            MyEntity.self, path: try path(),
            mainAuthor: .iOSViewContext,
            persistentHistoryOptions: .init())
        let events = try #require(stack.historyTracker?.events())
        stack.historyTracker?.startMonitoring()
        let context = stack.backgroundContext(author: .networkSync)
        _ = try MyEntity(context: context)
        try context.save()
        #expect(await authors(1, events) == [.networkSync])
        stack.historyTracker?.stopMonitoring()
    }

    @Test func trackerOfAStackWithVersions() {
        // The bundle of the tests has no model; how the sample is spelled is what is looked at.
        #expect {
            let stack = try BasicDataStack(
                versionKey: MigrationSamplesTests.Versions.self,
                mainAuthor: .iOSViewContext,
                persistentHistoryOptions: .init())
            stack.historyTracker?.startMonitoring()
        } throws: {
            "\($0)".contains("TestModel.xcdatamodeld")
        }
    }
}
