import Foundation
import PolystoreCompatibility
import PolystoreInMemory
import PolystorePostgreSQL
import PolystoreSQLite
import Synchronization
import TestEnvironment
import TestStores
import Testing

// CoreStore 4's samples on stores. What it kept in iCloud is kept on a server: the name of the store is the schema, the container the
// server, the peer's token its `application_name`, and the names of the observer's functions are those of `RemoteStorageObserver`.

extension DefaultStackTests {
    @Suite struct StoreSamplesTests {
        private static let home = String(cString: test_data_home())

        private func add(_ body: () throws -> Void) throws {
            CoreStore.defaultStack = try sampleStack()
            try body()
            try CoreStore.perform(synchronous: { try $0.create(Into<MyPersonEntity>()).age = 1 })
            #expect(try CoreStore.fetchAll(From<MyPersonEntity>()).map(\.age) == [1])
            for store in CoreStore.defaultStack.storages { try store.erase() }
            CoreStore.defaultStack = .withoutEntities
            try? FileManager.default.removeItem(atPath: Self.home)
        }

        @Test func theDefaultPlaceBelongsToTheProgram() throws {
            defer { try? FileManager.default.removeItem(atPath: Self.home) }
            let stack = try sampleStack()
            let store = try stack.addStorageAndWait()
            #expect(store.path.hasPrefix(Self.home) && store.path.hasSuffix(".sqlite"))
            try stack.removeStorage(store)
            #expect(try stack.addStorageAndWait(SQLiteStore.self).path == store.path)
            let preview = try DataStack.preview(MyPersonEntity.self)
            #expect(preview.storages.count == 1)
        }

        @Test func theDefaultStore() throws {
            try add { try CoreStore.addStorageAndWait() }
            try add { try CoreStore.addStorageAndWait(SQLiteStore()) }
            try add { try CoreStore.addStorageAndWait(SQLiteStore.self) }
            try add { _ = CoreStore.defaultStack.addSQLiteStore() }
            #expect(try SQLiteStore().fileURL.path.hasPrefix(Self.home))
        }

        @Test func aStoreByName() throws {
            try add {
                let done = Done()
                let migrationProgress = CoreStore.addStorage(
                    try SQLiteStore(
                        fileName: "MyStore.sqlite",
                        configuration: "Config2",  // optional. Use entities from the "Config2" configuration in the .xcdatamodeld file
                        localStorageOptions: .recreateStoreOnModelMismatch  // optional. How to setup the persistent store
                    ),
                    completion: { _ in done() }
                )
                #expect(migrationProgress == nil)
                #expect(done.wait() != nil)
            }
        }

        @Test func aStoreInMemory() throws {
            try add {
                try CoreStore.addStorageAndWait(
                    InMemoryStore(
                        configuration: "Config2"  // optional. Use entities from the "Config2" configuration in the .xcdatamodeld file
                    )
                )
            }
        }

        private final class Observer: RemoteStorageObserver {
            let count = Mutex(0)
            func storageWillFinishInitialImport(_ storage: any RemoteStorage) { count.withLock { $0 += 1 } }
            func storageDidFinishInitialImport(_ storage: any RemoteStorage) { count.withLock { $0 += 1 } }
        }

        @Test(.enabled(if: TestStore.server != nil)) func aStoreElsewhere() throws {
            #expect(PostgreSQLStore(reaching: "postgresql:///none?host=/nonexistent&connect_timeout=1") == nil)
            let observer = Observer()
            try add {
                guard
                    let storage = PostgreSQLStore(
                        reaching: TestStore.server ?? "",  // the container
                        configuration: "Config2",  // optional. Use entities from the "Config2" configuration in the .xcdatamodeld file
                        schema: "my_app_cloud_data_\(UUID().uuidString.prefix(8).lowercased())"  // the name of the store
                    )
                else {
                    // The server could not be reached.
                    Issue.record("the server answers")
                    return
                }
                storage.addObserver(observer)
                let done = Done()
                CoreStore.addStorage(
                    storage,
                    completion: { result in
                        switch result {
                        case .success(let storage): done("\(storage.configuration ?? "")")
                        case .failure(let error): done("\(error)")
                        }
                    }
                )
                #expect(done.wait() == "Config2")
                storage.removeObserver(observer)
            }
            #expect(observer.count.withLock { $0 } == 2)
        }
    }
}
