#if Macros
import Polystore
import PolystoreCatalog
import PolystoreConformance
import PolystoreInMemory
import PolystoreMacros
import PolystoreStorage
import Synchronization
import Testing

/// The samples of "Writing a Store".
@Suite(.scratch) struct WritingAStoreSamples {
    @Model final class Note: ManagedObject {
        var text: String = ""
    }

    final class CountingStore: ForwardingStore {
        static let storeType = "counting"
        let base: any StorageInterface
        private let count = Mutex(0)

        init(_ base: any StorageInterface) { self.base = base }

        var reads: Int { count.withLock { $0 } }

        func beginRead(_ options: ReadOptions) throws(StorageError) -> any StorageReader {
            count.withLock { $0 += 1 }
            return try base.beginRead(options)
        }
    }

    @Test func readsAreCounted() throws {
        let store = CountingStore(InMemoryStore())
        let stack = try DataStack(Note.self)
        try stack.addStorageAndWait(store)
        let before = store.reads
        _ = try stack.fetchAll(From<Note>())
        print(store.reads - before, "read")
        #expect(printed == ["1 read"])
    }

    @Test func aSchemeIsRegistered() throws {
        var catalog = StoreCatalog.standard
        catalog.register(scheme: "counting") { _, configuration in CountingStore(InMemoryStore(configuration: configuration)) }
        let store = try catalog.store(at: StoreURL("counting:"))
        #expect(store is CountingStore && catalog.schemes.contains("counting"))
    }

    @Test(arguments: ConformanceRunner(only: ["V001*", "T001*"]).cases) func keepsTheContract(_ item: ConformanceCase) throws {
        let harness = try StoreHarness { StorePlace(store: { CountingStore(InMemoryStore(configuration: $0)) }, remove: {}) }
        let result = item.run(harness)
        #expect(result.status == .pass || result.status == .skipped, "\(result.messages)")
    }
}
#endif
