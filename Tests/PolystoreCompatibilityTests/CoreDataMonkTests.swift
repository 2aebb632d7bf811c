import Foundation
import PolystoreCompatibility
import Synchronization
import TestStores
import Testing

// CoreDataMonk's samples and layouts. Its enums begin with small letters since Swift 3.

@Suite(.serialized) struct CoreDataMonkTests {
    private func stack(_ store: TestStore, _ root: RootContextType = .shared) throws -> CoreDataStack {
        let stack = CoreDataStack(try sampleStack(), rootContext: root)
        try stack.dataStack.addStorageAndWait(store.make())
        return stack
    }

    private func named(_ name: String) -> Where<MyPersonEntity> { Where("name", isEqualTo: name) }

    @Test(arguments: TestStore.all) func updates(_ store: TestStore) throws {
        let World = try CoreDataMainContext(stack: stack(store))
        try World.beginUpdateAndWait {
            update in

            let farmer = try update.create(MyPersonEntity.self)
            farmer.name = "Farmer"
            farmer.age = 28

            let knight = try update.fetchOrCreate(MyPersonEntity.self, named("Knight"))
            knight.friend = farmer

            try update.commit()
        }
        let knight = try World.fetch(MyPersonEntity.self, named("Knight"))
        #expect(knight.friend?.age == 28)
        try World.beginUpdateAndWait {
            update in

            let warrior = try update.use(knight)
            warrior.age = 44
            // No commit: everything is given up.
        }
        #expect(try World.fetchAll(MyPersonEntity.self).map(\.age).sorted() == [0, 28])
        #expect { try World.fetch(MyPersonEntity.self, named("Nobody")) } throws: { ($0 as? StorageError)?.code == .notFound }
    }

    private struct Refusal: Error {}

    @Test(arguments: TestStore.all) func anErrorLeavesTheUpdateOrReachesTheLogger(_ store: TestStore) throws {
        let World = try CoreDataMainContext(stack: stack(store))
        #expect(throws: Refusal.self) {
            try World.beginUpdateAndWait { update in
                _ = try update.create(MyPersonEntity.self)
                throw Refusal()
            }
        }
        let logger = RecordingLogger()
        logger.recording {
            World.beginUpdate { update in
                _ = try update.create(MyPersonEntity.self)
                throw Refusal()
            }
            #expect(logger.message("an update failed") == "warning: an update failed: Refusal()")
        }
        #expect(try World.fetchAll(MyPersonEntity.self).isEmpty)
    }

    @Test(arguments: TestStore.all) func anUpdateContinuesInCallbacks(_ store: TestStore) throws {
        let stack = try stack(store), World = try CoreDataMainContext(stack: stack, updateTarget: .rootContext(autoMerge: true))
        try World.beginUpdateAndWait { update in
            try update.create(MyPersonEntity.self).name = "Monk"
            try update.commit()
        }
        let done = Done()
        @Sendable func findAge(_ body: @escaping @Sendable (Int) -> Void) {
            Thread.detachNewThread {
                Thread.sleep(forTimeInterval: 0.05)
                body(33)
            }
        }
        World.beginUpdate {
            update in

            let monk = try update.fetch(MyPersonEntity.self, Where("name", isEqualTo: "Monk"))
            let id = monk.objectID, context = update.context

            findAge {
                age in

                try? context.perform {
                    update in

                    try update.fetchExisting(id)?.age = age

                    try update.commit()
                }
                done()
            }
        }
        // Nobody waits for it meanwhile.
        try stack.dataStack.perform(synchronous: { _ = try $0.create(MyPersonEntity.self) })
        _ = done.wait()
        #expect(try World.fetch(MyPersonEntity.self, named("Monk")).age == 33)
    }

    @Test(arguments: TestStore.all) func anUpdateContextOfSeveralSteps(_ store: TestStore) throws {
        let World = try CoreDataMainContext(stack: stack(store), updateOrder: .serial)
        let context = World.beginUpdateContext()
        try context.perform { update in try update.create(MyPersonEntity.self).name = "One" }
        try context.perform { update in
            try update.fetch(MyPersonEntity.self, named("One")).age = 1
            try update.perform { update in try update.create(MyPersonEntity.self).name = "Two" }
        }
        #expect(try World.fetchAll(MyPersonEntity.self).isEmpty)
        try context.perform { update in try update.commit() }
        try World.merge()
        #expect(try World.fetchAll(MyPersonEntity.self).compactMap(\.name) == ["One", "Two"])
        nonisolated(unsafe) var kept: CoreDataUpdate?
        try context.perform { kept = $0 }
        #expect { try kept?.commit() } throws: { ($0 as? StorageError)?.code == .storeClosed }
    }

    @Test(arguments: TestStore.all) func whenALayoutShowsACommit(_ store: TestStore) throws {
        for (target, atOnce, afterFetch) in [
            (UpdateTarget.mainContext, true, true), (.rootContext(autoMerge: true), false, true),
            (.rootContext(autoMerge: false), false, false), (.persistentStore, false, false),
        ] {
            let stack = try stack(store), context = try CoreDataMainContext(stack: stack, updateTarget: target)
            try context.beginUpdateAndWait { update in
                try update.create(MyPersonEntity.self).name = "Ann"
                try update.commit()
            }
            let ann = try context.fetch(MyPersonEntity.self, named("Ann"))
            try context.beginUpdateAndWait { update in
                try update.use(ann).age = 7
                try update.commit()
            }
            #expect((ann.age == 7) == atOnce, "\(target) when the update has returned")
            _ = try context.fetchAll(MyPersonEntity.self)
            #expect((ann.age == 7) == afterFetch, "\(target) after a fetch")
            try context.merge()
            #expect(ann.age == 7, "\(target) after a merge")
            context.reset()
            let again = try context.fetch(MyPersonEntity.self, named("Ann"))
            #expect(again !== ann && again.age == 7, "\(target) after a reset")
        }
    }

    @Test(arguments: TestStore.all) func updateContextsReportCommits(_ store: TestStore) throws {
        let stack = try stack(store, .none)
        let Updater = try CoreDataContext(stack: stack, updateTarget: .persistentStore)
        let screen = try CoreDataMainContext(stack: stack, updateTarget: .persistentStore)
        let commits = Mutex(0)
        var observer: CommitObservation? = Updater.observeCommit(on: nil) { commits.withLock { $0 += 1 } }
        func add() throws {
            try Updater.beginUpdateAndWait { update in
                _ = try update.create(MyPersonEntity.self)
                try update.commit()
            }
        }
        try add()
        try add()
        #expect(commits.withLock { $0 } == 2)
        #expect(observer != nil)
        observer = nil
        try add()
        #expect(commits.withLock { $0 } == 2)
        screen.reset()
        #expect(try screen.fetchAll(MyPersonEntity.self).count == 3)
    }

    @Test func anObservationCanOwnAnother() throws {
        let Updater = try CoreDataContext(stack: stack(.memory), updateTarget: .persistentStore), commits = Mutex<[String]>([])
        var outer: CommitObservation?
        do {
            let inner = Updater.observeCommit(on: nil) { commits.withLock { $0.append("inner") } }
            outer = Updater.observeCommit(on: nil) { withExtendedLifetime(inner) { commits.withLock { $0.append("outer") } } }
        }
        func add() throws {
            try Updater.beginUpdateAndWait { update in
                _ = try update.create(MyPersonEntity.self)
                try update.commit()
            }
        }
        try add()
        #expect(outer != nil)
        outer = nil
        try add()
        #expect(commits.withLock { $0 } == ["inner", "outer"])
    }

    private func isSendable<T: Sendable>(_ type: T.Type) -> Bool { true }
    private func isSendable<T>(_ type: T.Type) -> Bool { false }

    @Test func typesThatContainObjectsStayInTheirIsolation() {
        #expect(!isSendable(CoreDataMainContext.self) && !isSendable(CoreDataContext.self) && !isSendable(CoreDataUpdate.self))
        #expect(isSendable(CoreDataUpdateContext.self) && isSendable(CoreDataStack.self) && isSendable(CommitObservation.self))
    }

    @Test(arguments: TestStore.all) func impossibleLayoutsAreRefused(_ store: TestStore) throws {
        let stack = try stack(store, .none)
        #expect { try CoreDataMainContext(stack: stack, updateTarget: .rootContext(autoMerge: true)) } throws: {
            ($0 as? StorageError)?.code == .invalidConfiguration
        }
        #expect { try CoreDataContext(stack: stack, updateTarget: .mainContext) } throws: {
            ($0 as? StorageError)?.code == .invalidConfiguration
        }
    }

    @Test(arguments: TestStore.all) func serialUpdatesDoNotOverlap(_ store: TestStore) throws {
        let stack = try stack(store), World = try CoreDataContext(stack: stack, updateOrder: .serial)
        let running = Mutex((now: 0, most: 0)), group = DispatchGroup()
        for _ in 0..<6 {
            let context = World.beginUpdateContext()
            group.enter()
            Thread.detachNewThread {
                try? context.perform { update in
                    running.withLock { running in
                        running.now += 1
                        running.most = max(running.most, running.now)
                    }
                    Thread.sleep(forTimeInterval: 0.01)
                    running.withLock { $0.now -= 1 }
                }
                group.leave()
            }
        }
        group.wait()
        #expect(running.withLock { $0.most } == 1)
    }

    @Test(arguments: TestStore.all) func fetchingAndQuerying(_ store: TestStore) throws {
        let World = try CoreDataMainContext(stack: stack(store))
        try World.beginUpdateAndWait { update in
            for (name, age, location) in [("Monk", 20, "Taipei"), ("Warrior", 30, "Taipei"), ("Monk", 40, "Tokyo")] {
                let person = try update.create(MyPersonEntity.self)
                (person.name, person.age, person.location) = (name, age, location)
            }
            let all = try update.fetchAll(MyPersonEntity.self)
            all[0].friends = [all[1], all[2]]
            try update.commit()
        }
        // you can add % prefix to tell CoreDataMonk it is for key name
        let monk = try World.fetch(MyPersonEntity.self, %"name" == "Monk")
        #expect(monk.age == 20)
        let warrior = try World.fetch(MyPersonEntity.self, %"name" == "Warrior" && %"location" == "Taipei")
        #expect(warrior.age == 30)
        let monks = try World.fetchAll(
            MyPersonEntity.self,
            %"age" >= 25 || %"location" == "Taipei",
            orderBy: .ascending("name") | .descending("age"),
            options: .limit(100) | .offset(1)
        )
        #expect(monks.map(\.age) == [20, 30])
        #expect(try World.fetchAll(MyPersonEntity.self, %"friends.age"%.any > 35).map(\.age) == [20])
        #expect(try World.fetchAll(MyPersonEntity.self, %"friends.age"%.all > 35).map(\.age) == [30, 40])
        #expect(try World.fetchAll(MyPersonEntity.self, %"name" == %"location").isEmpty)
        #expect(try World.fetchAll(MyPersonEntity.self, .where("name like %@", "W*")).count == 1)
        #expect(try World.fetchAll(MyPersonEntity.self, !(%"name" == "Monk" && %"age" > 30)).count == 2)
        let age = try World.queryValue(MyPersonEntity.self, .average("age")) as! Double
        #expect(age == 30)
        let info_list = try World.query(
            MyPersonEntity.self,
            .select("location") | .average("age"),
            %"name" == "Monk",
            orderBy: .descending("age"),
            groupBy: %"location"
        )
        #expect(info_list.map { "\($0["location"] as! String) \($0["age"] as! Double)" } == ["Tokyo 40.0", "Taipei 20.0"])
        let groups = try World.query(
            MyPersonEntity.self, .select("name", "location") | .count("age", alias: "n") | .max("age"), groupBy: %"name" | %"location",
            having: %"n" > 0)
        #expect(groups.count == 3)
        #expect { try World.query(MyPersonEntity.self, .average("age") | .max("age")) } throws: {
            ($0 as? StorageError)?.code == .invalidPredicate
        }
    }
}
