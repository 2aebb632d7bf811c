import Foundation
import PolystoreCompatibility
import Synchronization
import TestStores
import Testing

/// Main contexts of the main actor, with updates on other threads.
@MainActor @Suite struct CoreDataMonkIsolationTests {
    private func context(_ store: TestStore, _ target: UpdateTarget) throws -> CoreDataMainContext {
        let stack = CoreDataStack(try sampleStack())
        try stack.dataStack.addStorageAndWait(store.make())
        let context = try CoreDataMainContext(stack: stack, updateTarget: target)
        try context.beginUpdateAndWait { update in
            try update.create(MyPersonEntity.self).name = "Ann"
            try update.commit()
        }
        return context
    }

    /// Waits up to ten seconds, during which the main actor runs other work.
    private func wait(until condition: () -> Bool) async throws -> Bool {
        for _ in 0..<1_000 {
            if condition() { return true }
            try await Task.sleep(for: .milliseconds(10))
        }
        return false
    }

    private nonisolated static let ann = Where<MyPersonEntity>("name", isEqualTo: "Ann")

    @Test(arguments: TestStore.all, [UpdateTarget.mainContext, .rootContext(autoMerge: true)])
    func objectsShowTheCommitOfABackgroundUpdate(_ store: TestStore, _ target: UpdateTarget) async throws {
        let context = try context(store, target), ann = try context.fetch(MyPersonEntity.self, Self.ann)
        context.beginUpdate { update in
            try update.fetch(MyPersonEntity.self, Self.ann).age = 7
            try update.commit()
        }
        #expect(try await wait { ann.age == 7 })
        let update = context.beginUpdateContext()
        try update.perform { try $0.fetch(MyPersonEntity.self, Self.ann).age = 8 }
        try update.perform { try $0.commit() }
        #expect(try await wait { ann.age == 8 })
    }

    @Test(arguments: TestStore.all, [UpdateTarget.rootContext(autoMerge: false), .persistentStore])
    func aLayoutWithoutMergingKeepsItsObjects(_ store: TestStore, _ target: UpdateTarget) async throws {
        let context = try context(store, target), ann = try context.fetch(MyPersonEntity.self, Self.ann), done = Mutex(false)
        let observation = context.observeCommit(on: nil) { done.withLock { $0 = true } }
        context.beginUpdate { update in
            try update.fetch(MyPersonEntity.self, Self.ann).age = 7
            try update.commit()
        }
        #expect(try await wait { done.withLock { $0 } })
        try await Task.sleep(for: .milliseconds(100))
        #expect(ann.age == 0)
        try context.merge()
        #expect(ann.age == 7)
        withExtendedLifetime(observation) {}
    }

    /// A screen of CoreDataMonk's documentation, whose context is reset after each commit.
    @MainActor private final class Screen {
        let context: CoreDataMainContext
        private var observer: CommitObservation?
        private(set) var resets = 0

        init(_ context: CoreDataMainContext) {
            self.context = context
            observer = context.observeCommit {
                self.context.reset()
                self.resets += 1
            }
        }
    }

    @Test(arguments: TestStore.all) func aScreenResetsItsContextOnCommit(_ store: TestStore) async throws {
        let screen = Screen(try context(store, .persistentStore))
        let ann = try screen.context.fetch(MyPersonEntity.self, Self.ann)
        screen.context.beginUpdate { update in
            try update.fetch(MyPersonEntity.self, Self.ann).age = 7
            try update.commit()
        }
        #expect(try await wait { screen.resets == 1 })
        #expect(ann.age == 0)
        #expect(try screen.context.fetch(MyPersonEntity.self, Self.ann).age == 7)
    }

    @Test(arguments: TestStore.all) func aBackgroundUpdateUsesAnObjectByItsID(_ store: TestStore) async throws {
        let context = try context(store, .mainContext), ann = try context.fetch(MyPersonEntity.self, Self.ann), id = ann.objectID
        let snapshot = try #require(try context.stack.dataStack.snapshot(of: id))
        context.beginUpdate { update in
            try update.use(id).age = 7
            try update.use(snapshot).location = "Taipei"
            try update.commit()
        }
        #expect(try await wait { ann.age == 7 })
        #expect(ann.location == "Taipei")
        try context.beginUpdateAndWait { update in
            try update.delete(update.use(id))
            #expect { try update.use(id) } throws: { ($0 as? StorageError)?.code == .notFound }
        }
    }

    /// A view of the main actor.
    @MainActor private final class ProgressView {
        var texts: [String] = []
    }

    @Test func aProgressHandlerMayUseViews() async throws {
        let progress = MigrationProgress(steps: 2), view = ProgressView()
        progress.setProgressHandler { progress in view.texts.append(progress.localizedAdditionalDescription) }
        #expect(view.texts.isEmpty)
        #expect(try await wait { !view.texts.isEmpty })
        #expect(view.texts == ["0 of 2"])
    }
}
