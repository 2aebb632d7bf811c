import Foundation
import PolystoreCompatibility
import PolystoreInMemory
import PolystoreSQLite
import Testing

// The samples of CoreStore's and HardcoreData's documents on setting up, transactions, objects and imports, with `try` where ours throws.
// Slips of the documents that were mended: parentheses and commas that are missing, `SQLiteStorage` for `SQLiteStore`, `NSSet` for a set.

/// Tests that replace the default stack, one after the other.
@Suite(.serialized) enum DefaultStackTests {}

extension DefaultStackTests {
    @Suite struct CoreStoreSamplesTests {
        private func setUp() throws {
            CoreStore.defaultStack = try sampleStack()
            try CoreStore.addStorageAndWait(InMemoryStore())
        }

        private func people() throws -> [String] { try CoreStore.fetchAll(From<MyPersonEntity>()).map { "\($0.name ?? "-") \($0.age)" } }

        @Test func settingUp() throws {
            let sqliteFileURL = FileManager.default.temporaryDirectory.appendingPathComponent("polystore-\(UUID().uuidString).sqlite")
            let done = Done()
            let dataStack = try sampleStack()
            let migrationProgress = dataStack.addStorage(
                SQLiteStore(
                    fileURL: sqliteFileURL,  // set the target file URL for the sqlite file
                    configuration: "Config2",
                    localStorageOptions: .recreateStoreOnModelMismatch  // if migration paths cannot be resolved, recreate the sqlite file
                ),
                completion: { (result) -> Void in
                    switch result {
                    case .success: done("added")
                    case .failure(let error): done("\(error)")
                    }
                }
            )
            #expect(migrationProgress == nil)
            #expect(done.wait() == "added")
            CoreStore.defaultStack = dataStack  // pass the dataStack to CoreStore for easier access later on
            let objects = try CoreStore.fetchAll(From(MyEntity.self))
            #expect(objects.isEmpty)
            try CoreStore.addStorageAndWait(
                InMemoryStore(
                    configuration: "Config1"
                )
            )
            #expect(CoreStore.defaultStack.storages.count == 2)
            for store in CoreStore.defaultStack.storages { try CoreStore.defaultStack.removeStorage(store) }
            try? FileManager.default.removeItem(at: sqliteFileURL)
        }

        @Test func theDefaultStackIsLazyAndReplaceable() throws {
            let first = CoreStore.defaultStack
            #expect(CoreStore.defaultStack === first)
            let other = try sampleStack()
            CoreStore.defaultStack = other
            #expect(HardcoreData.defaultStack === other)
        }

        @Test func asynchronousTransactions() throws {
            try setUp()
            let done = Done()
            CoreStore.perform(
                asynchronous: { (transaction) -> Bool in
                    let person = try transaction.create(Into<MyPersonEntity>())
                    person.name = "John Smith"
                    person.age = 30
                    return transaction.hasChanges
                },
                completion: { (result) -> Void in
                    switch result {
                    case .success(let hasChanges): done("success! Has changes? \(hasChanges)")
                    case .failure(let error): done("\(error)")
                    }
                }
            )
            #expect(done.wait() == "success! Has changes? true")
            #expect(try people() == ["John Smith 30"])

            let shouldCancel = true
            CoreStore.perform(
                asynchronous: { (transaction) -> Void in
                    _ = try transaction.create(Into<MyPersonEntity>())
                    if shouldCancel {
                        try transaction.cancel()
                    }
                },
                completion: { (result) -> Void in
                    if case .failure(.userCancelled) = result {
                        done("cancelled")
                    } else {
                        done("\(result)")
                    }
                }
            )
            #expect(done.wait() == "cancelled")

            CoreStore.perform(
                asynchronous: { (transaction) -> Int in
                    let objects = try transaction.fetchAll(From<MyPersonEntity>())
                    return try transaction.delete(objects)
                },
                success: { (numberOfDeletedObjects: Int) -> Void in
                    done("success! Deleted \(numberOfDeletedObjects) objects")
                },
                failure: { (error) -> Void in
                    done("\(error)")
                }
            )
            #expect(done.wait() == "success! Deleted 1 objects")
        }

        @Test func synchronousAndUnsafeTransactions() throws {
            try setUp()
            let hasChanges = try CoreStore.perform(
                synchronous: { (transaction) -> Bool in
                    _ = try transaction.create(Into<MyPersonEntity>())
                    return transaction.hasChanges
                }
            )
            #expect(hasChanges)
            let transaction = CoreStore.beginUnsafe()
            for age in [1, 2] {
                try transaction.fetchOne(From<MyPersonEntity>())?.age = age
                try transaction.commit()
            }
            #expect(try people() == ["- 2"])
        }

        @Test func updatingAndDeleting() throws {
            try setUp()
            try CoreStore.perform(synchronous: { transaction in
                for name in ["Jane Smith", "John Smith", "Old Man"] {
                    let person = try transaction.create(Into<MyPersonEntity>(nil))
                    person.name = name
                    person.age = name == "Old Man" ? 80 : 20
                }
            })
            let done = Done()
            CoreStore.perform(
                asynchronous: { (transaction) -> Void in
                    let person = try transaction.fetchOne(
                        From<MyPersonEntity>(),
                        Where<MyPersonEntity>("name", isEqualTo: "Jane Smith")
                    )!
                    person.age = person.age + 1
                },
                completion: { _ in done() }
            )
            _ = done.wait()
            do {
                let jane: MyPersonEntity = try CoreStore.fetchOne(From(), Where<MyPersonEntity>("name", isEqualTo: "Jane Smith"))!
                CoreStore.perform(
                    asynchronous: { (transaction) -> Void in
                        // WRONG: jane.age = jane.age + 1
                        // RIGHT:
                        let jane = try transaction.edit(jane)!
                        jane.age = jane.age + 1
                    },
                    completion: { _ in done() }
                )
                _ = done.wait()
            }
            do {
                let jane: MyPersonEntity = try CoreStore.fetchOne(From(), Where<MyPersonEntity>("name", isEqualTo: "Jane Smith"))!
                let john: MyPersonEntity = try CoreStore.fetchOne(From(), Where<MyPersonEntity>("name", isEqualTo: "John Smith"))!
                CoreStore.perform(
                    asynchronous: { (transaction) -> Void in
                        let jane = try transaction.edit(jane)!
                        let john = try transaction.edit(john)!
                        jane.friends = Set([john])
                    },
                    completion: { _ in done() }
                )
                _ = done.wait()
            }
            do {
                let jane: MyPersonEntity = try CoreStore.fetchOne(From(), Where<MyPersonEntity>("name", isEqualTo: "Jane Smith"))!
                CoreStore.perform(
                    asynchronous: { (transaction) -> MyPersonEntity in
                        let jane = try transaction.fetchExisting(jane)!  // instance for transaction
                        jane.age = jane.age + 1
                        return jane
                    },
                    success: { (transactionJane) in
                        let jane = try? CoreStore.fetchExisting(transactionJane)  // instance for DataStack
                        done("\(jane?.age ?? 0) \(jane?.friends.count ?? 0)")
                    },
                    failure: { (error) in
                        done("\(error)")
                    }
                )
                #expect(done.wait() == "23 1")
            }
            CoreStore.perform(
                asynchronous: { (transaction) -> Void in
                    try transaction.deleteAll(
                        From<MyPersonEntity>(),
                        Where("age > 30")
                    )
                },
                completion: { _ in done() }
            )
            _ = done.wait()
            #expect(try people() == ["Jane Smith 23", "John Smith 20"])
            do {
                let john: MyPersonEntity = try CoreStore.fetchOne(From(), Where<MyPersonEntity>("name", isEqualTo: "John Smith"))!
                let jane: MyPersonEntity = try CoreStore.fetchOne(From(), Where<MyPersonEntity>("name", isEqualTo: "Jane Smith"))!
                CoreStore.perform(
                    asynchronous: { (transaction) -> Void in
                        try transaction.delete(john, jane)
                        // transaction.delete([john, jane]) is also allowed
                    },
                    completion: { _ in done() }
                )
                _ = done.wait()
            }
            #expect(try people() == [])
        }

        @Test func importing() throws {
            try setUp()
            let done = Done()
            CoreStore.perform(
                asynchronous: { (transaction) -> Void in
                    let json: [String: Any] = ["id": 1, "name": "Ann", "age": 20]
                    try transaction.importObject(
                        Into<MyPersonEntity>(),
                        source: json
                    )
                    let jsonArray: [[String: Any]] = [["id": 1, "name": "Ann", "age": 21], ["id": 2, "name": "Bob"], ["name": "nobody"]]
                    try transaction.importUniqueObjects(
                        Into<MyPersonEntity>(),
                        sourceArray: jsonArray
                    )
                },
                completion: { _ in done() }
            )
            _ = done.wait()
            #expect(try people().count == 3)
            CoreStore.perform(
                asynchronous: { (transaction) -> Void in
                    let jsonArray: [[String: Any]] = [["id": 3, "name": "Cid"], ["id": 4]]
                    try transaction.importObjects(
                        Into<MyPersonEntity>(),
                        sourceArray: jsonArray
                    )
                },
                success: {
                    done("imported")
                },
                failure: { (error) in
                    switch error {
                    case Errors.InvalidNameError: done("Invalid name")
                    default: done("\(error)")
                    }
                }
            )
            #expect(done.wait() == "Invalid name")
            #expect(try people().count == 3)
        }

        @Test func theFirstVersionsForms() throws {
            try setUp()
            let done = Done()
            CoreStore.beginAsynchronous { (transaction) -> Void in
                let object = try transaction.create(Into(MyEntity.self))
                object.entityID = 1
                object.name = "test entity"
                try transaction.commit { (result) -> Void in
                    switch result {
                    case .success(let hasChanges): done("success! \(hasChanges)")
                    case .failure(let error): done("\(error)")
                    }
                }
            }
            #expect(done.wait() == "success! true")
            try CoreStore.beginSynchronous { (transaction) -> Void in
                let object = try transaction.create(Into<MyEntity>())
                object.entityID = 2
                // Not committed: a warning, and everything is undone.
            }
            #expect(try CoreStore.fetchAll(From(MyEntity.self)).map(\.entityID) == [1])
            try CoreStore.beginSynchronous { (transaction) -> Void in
                try transaction.fetchOne(From<MyEntity>())?.name = "changed"
                try transaction.commit()
            }
            #expect(try CoreStore.fetchAll(From(MyEntity.self), Where<MyEntity>("name", isEqualTo: "changed")).count == 1)
            #expect {
                try CoreStore.beginSynchronous { transaction in
                    try transaction.commit()
                    try transaction.commit()
                }
            } throws: { ($0 as? StorageError)?.code == .storeClosed }
            let detached = CoreStore.beginDetached()
            try detached.fetchOne(From<MyEntity>())?.entityID = 9
            try detached.commit()
            #expect(try HardcoreData.fetchAll(From(MyEntity.self)).map(\.entityID) == [9])
        }

        @Test func theDefaultPlaceIsOne() throws {
            let named = try SQLiteStore(fileName: "MyStore.sqlite")
            #expect(try SQLiteStore.legacy(fileName: "MyStore.sqlite").fileURL == named.fileURL)
            #expect(try SQLiteStore.legacy().fileURL == SQLiteStore().fileURL)
            #expect(named.fileURL.lastPathComponent == "MyStore.sqlite")
        }

        @Test func hardcoreDataAnswersWithResults() throws {
            let dataStack = try sampleStack()
            switch dataStack.addInMemoryStore(configuration: "Config1") {
            case .success(let persistentStore): #expect(persistentStore.configuration == "Config1")
            case .failure(let error): Issue.record(error)
            }
            let sqliteFileURL = FileManager.default.temporaryDirectory.appendingPathComponent("polystore-\(UUID().uuidString).sqlite")
            switch dataStack.addSQLiteStore(
                fileURL: sqliteFileURL,
                configuration: "Config2",
                automigrating: true,
                resetStoreOnMigrationFailure: true)
            {
            case .success(let persistentStore): try persistentStore.erase()
            case .failure(let error): Issue.record(error)
            }
            if case .success = dataStack.addSQLiteStore(fileURL: URL(fileURLWithPath: "/nonexistent/x.sqlite")) {
                Issue.record("a folder that is not there")
            }
        }
    }
}
