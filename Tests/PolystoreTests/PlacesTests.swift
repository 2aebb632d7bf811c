import Foundation
import Polystore
import PolystoreLMDB
import PolystorePostgreSQL
import PolystoreSQLite
import Synchronization
import TestStores
import Testing

/// Stores in files: their size, copies of them, and what happens when they do not fit.
@Suite struct LocalStorageTests {
    private func place(_ suffix: String) -> URL {
        FileManager.default.temporaryDirectory.appendingPathComponent("polystore-\(UUID().uuidString).\(suffix)")
    }

    private func store(_ kind: String, _ url: URL, _ options: LocalStorageOptions = []) -> any LocalStorage {
        kind == "sqlite" ? SQLiteStore(fileURL: url, localStorageOptions: options) : LMDBStore(fileURL: url, localStorageOptions: options)
    }

    private func stack(_ storage: some LocalStorage) throws -> DataStack {
        let stack = try DataStack(Person.self, Animal.self, Dog.self)
        try stack.addStorageAndWait(storage)
        return stack
    }

    @Test(arguments: ["sqlite", "lmdb"]) func aBackupIsOneSnapshotWhileOthersWrite(_ kind: String) throws {
        let url = place(kind), copy = place(kind)
        let storage = store(kind, url), original = try stack(storage)
        defer { try? storage.erase() }
        let stop = Mutex(false)
        let writer = Thread {
            while !stop.withLock({ $0 }) {
                // Always two at once: a copy with an odd number would be torn.
                try? original.perform(synchronous: { transaction in
                    for _ in 0..<2 { try transaction.create(Person.self).name = String(repeating: "x", count: 500) }
                })
            }
        }
        writer.start()
        while try original.fetchCount(From<Person>()) < 20 { Thread.sleep(forTimeInterval: 0.01) }
        try storage.backup(to: copy)
        #expect(throws: StorageError.self) { try storage.backup(to: copy) }
        stop.withLock { $0 = true }
        let backup = store(kind, copy), restored = try stack(backup)
        defer { try? backup.erase() }
        let count = try restored.fetchCount(From<Person>())
        #expect(count >= 20 && count.isMultiple(of: 2))
        try restored.perform(synchronous: { _ = try $0.create(Person.self) })
        #expect(try restored.fetchCount(From<Person>()) == count + 1)
        #expect(!FileManager.default.fileExists(atPath: copy.path + ".partial"))
    }

    @Test(arguments: ["sqlite", "lmdb"]) func unusedSpaceIsReleased(_ kind: String) throws {
        let url = place(kind), copy = place(kind)
        let storage = store(kind, url), stack = try stack(storage)
        defer { try? storage.erase() }
        try stack.perform(synchronous: { transaction in
            for _ in 0..<3_000 { try transaction.create(Person.self).name = String(repeating: "x", count: 1_000) }
        })
        try stack.perform(synchronous: { try $0.deleteAll(From<Person>()) })
        let before = try storage.fileSize()
        #expect(before > 3_000_000)
        if kind == "sqlite" {
            try storage.compact()
            #expect(try storage.fileSize() < 500_000)
        } else {
            #expect(throws: StorageError.self) { try storage.compact() }
        }
        try storage.backup(to: copy)
        let backup = store(kind, copy)
        #expect(try backup.fileSize() < 500_000)
        try? backup.erase()
        #expect(try stack.fetchCount(From<Person>()) == 0)
        try storage.erase()
        #expect(throws: StorageError.self) { try storage.fileSize() }
    }

    @Test(arguments: ["sqlite", "lmdb"]) func aStoreIsRecreatedOnlyIfRequested(_ kind: String) throws {
        let url = place(kind)
        do {
            let storage = store(kind, url), old = try stack(storage)
            try old.perform(synchronous: { _ = try $0.create(Person.self) })
            try old.removeStorage(storage)
        }
        let other = try Schema(entities: [Entity("Other", attributes: [Attribute("x", .int64)])])
        let refused = try DataStack(schema: other)
        #expect { try refused.addStorageAndWait(store(kind, url)) } throws: { ($0 as? StorageError)?.code == .schemaMismatch }
        let made = try DataStack(schema: other)
        let storage = store(kind, url, .recreateStoreOnModelMismatch)
        try made.addStorageAndWait(storage)
        #expect(try made.fetchCount(From<DynamicObject>(entity: "Other")) == 0)
        try made.removeStorage(storage)
        let again = try DataStack(schema: other)
        try again.addStorageAndWait(store(kind, url))
        try storage.erase()
    }
}

/// Stores on a server: who is told what.
@Suite(.enabled(if: TestStore.server != nil)) struct RemoteStorageTests {
    private final class Observer: RemoteStorageObserver {
        let events = Mutex<[String]>([])
        private func add(_ event: String) { events.withLock { $0.append(event) } }
        func storageWillFinishInitialImport(_ storage: any RemoteStorage) { add("will import") }
        func storageDidFinishInitialImport(_ storage: any RemoteStorage) { add("did import") }
        func storage(_ storage: any RemoteStorage, willAddPeer peer: String) { add("will add") }
        func storage(_ storage: any RemoteStorage, didAddPeer peer: String) { add("did add") }
        func storage(_ storage: any RemoteStorage, willRemovePeer peer: String) { add("will remove") }
        func storage(_ storage: any RemoteStorage, didRemovePeer peer: String) { add("did remove") }
        func storageWillRemoveContent(_ storage: any RemoteStorage) { add("will erase") }
        func storageDidRemoveContent(_ storage: any RemoteStorage) { add("did erase") }

        func wait(for expected: [String]) -> [String] {
            for _ in 0..<500 {
                let found = events.withLock { $0 }
                if found.count >= expected.count { return found }
                Thread.sleep(forTimeInterval: 0.01)
            }
            return events.withLock { $0 }
        }
    }

    /// Tells nothing: every function is optional.
    private final class Quiet: RemoteStorageObserver {}

    private func store(_ schema: String) -> PostgreSQLStore { PostgreSQLStore(conninfo: TestStore.server ?? "", schema: schema) }

    @Test func allEightEventsAreReportedInPairs() throws {
        let schema = "polystore_observed_\(UUID().uuidString.prefix(8))", observed = store(schema), observer = Observer(), quiet = Quiet()
        observed.addObserver(observer)
        observed.addObserver(quiet)
        let stack = try DataStack(Person.self, Animal.self, Dog.self)
        try stack.addStorageAndWait(observed)
        #expect(observer.wait(for: ["", ""]) == ["will import", "did import"])
        // The listener needs a moment to listen.
        Thread.sleep(forTimeInterval: 0.3)
        let other = store(schema), peer = try DataStack(Person.self, Animal.self, Dog.self)
        try peer.addStorageAndWait(other)
        #expect(observer.wait(for: Array(repeating: "", count: 4)).suffix(2) == ["will add", "did add"])
        try peer.removeStorage(other)
        #expect(observer.wait(for: Array(repeating: "", count: 6)).suffix(2) == ["will remove", "did remove"])
        try store(schema).erase()
        #expect(observer.wait(for: Array(repeating: "", count: 8)).suffix(2) == ["will erase", "did erase"])
        try stack.removeStorage(observed)
    }

    @Test(arguments: [false, true]) func anObserverIsAddedWhenTheStoreIsOpen(_ isInCompletion: Bool) throws {
        let schema = "polystore_observed_\(UUID().uuidString.prefix(8))", observed = store(schema), observer = Observer()
        let stack = try DataStack(Person.self, Animal.self, Dog.self), added = DispatchSemaphore(value: 0)
        defer { try? store(schema).erase() }
        if isInCompletion {
            stack.addStorage(observed) { result in
                if case .success(let storage) = result { storage.addObserver(observer) }
                added.signal()
            }
            #expect(added.wait(timeout: .now() + 30) == .success)
        } else {
            try stack.addStorageAndWait(observed)
            observed.addObserver(observer)
        }
        // The listener needs a moment to listen.
        Thread.sleep(forTimeInterval: 0.3)
        let other = store(schema), peer = try DataStack(Person.self, Animal.self, Dog.self)
        try peer.addStorageAndWait(other)
        #expect(observer.wait(for: ["", ""]) == ["will add", "did add"])
        try peer.removeStorage(other)
        #expect(observer.wait(for: Array(repeating: "", count: 4)).suffix(2) == ["will remove", "did remove"])
        try stack.removeStorage(observed)
    }

    @Test func observersAreHeldWeakly() throws {
        let observed = store("polystore_weak")
        weak var gone: Observer?
        do {
            let observer = Observer()
            gone = observer
            observed.addObserver(observer)
            #expect(!observed.observers.isEmpty)
        }
        #expect(gone == nil)
        #expect(observed.observers.isEmpty)
        let kept = Observer()
        observed.addObserver(kept)
        observed.removeObserver(kept)
        #expect(observed.observers.isEmpty)
    }

    @Test func anUnreachableServerIsNilOrAnError() throws {
        let nobody = "postgresql:///postgres?host=/nonexistent&connect_timeout=1"
        #expect(PostgreSQLStore(reaching: nobody) == nil)
        #expect { try PostgreSQLStore(conninfo: nobody).probe() } throws: { ($0 as? StorageError)?.code == .connectionLost }
        #expect(PostgreSQLStore(reaching: TestStore.server ?? "") != nil)
    }
}
