#if Macros
import Foundation
import Polystore
import PolystoreCatalog
import PolystoreInMemory
import PolystoreMacros
import PolystoreSQLite
import Testing

/// The samples of "Opening Stores".
@Suite(.scratch) struct OpeningStoresSamples {
    @Model final class Note: ManagedObject {
        var text: String = ""
    }

    @Model final class Draft: ManagedObject {
        var text: String = ""
        @Attribute(.inverseDeleteRule(.nullify)) var note: ObjectID<Note>?
    }

    @Test func aStoreIsAdded() async throws {
        let stack = try DataStack(Note.self, Draft.self)
        let store = try await stack.addStorage(SQLiteStore(path: scratch("notes.db")))
        try stack.removeStorage(store)
        #expect(stack.storages.isEmpty)
        try stack.addStorageAndWait(SQLiteStore(path: scratch("notes.db"), localStorageOptions: .allowSynchronousLightweightMigration))
        #expect(stack.storages.count == 1)
    }

    @Test func aStoreIsNamedByASetting() throws {
        let stack = try DataStack(Note.self, Draft.self)

        let url = ProcessInfo.processInfo.environment["NOTES_STORE"] ?? "memory:"
        try stack.addStorageAndWait(StoreCatalog.standard.store(at: StoreURL(url)))
        #expect(stack.storages.map { type(of: $0).storeType } == ["memory"])
    }

    @Test func storesAreListedInAFile() throws {
        let stack = try DataStack(Note.self, Draft.self, configurations: ["Shared": ["Note"], "Local": ["Draft"]])
        let json = Data(#"{"stores": [{"url": "memory:", "configuration": "Local"}, {"url": "memory:", "configuration": "Shared"}]}"#.utf8)
        try stack.addStorages(StackConfiguration(json: json), opener: StoreCatalog.standard)
        #expect(stack.storages.map(\.configuration) == ["Local", "Shared"])
    }

    @Test func aStackHasSeveralStores() async throws {
        let stack = try DataStack(Note.self, Draft.self, configurations: ["Shared": ["Note"], "Local": ["Draft"]])
        try await stack.addStorage(SQLiteStore(path: scratch("notes.db"), configuration: "Shared"))
        try await stack.addStorage(InMemoryStore(configuration: "Local"))
        try await stack.perform { transaction in
            try transaction.create(Into<Draft>("Local")).text = "Tea"
        }
        print(try stack.fetchCount(From<Draft>("Local")))
        #expect(printed == ["1"])
        let note = try await stack.perform { transaction in
            let note = try transaction.create(Note.self)
            try transaction.fetchOne(From<Draft>())?.note = note.objectID
            return note.objectID
        }
        #expect(try stack.fetchOne(From<Draft>())?.note == note)
        try await stack.perform { try $0.delete(note) }
        #expect(try stack.fetchOne(From<Draft>())?.note == nil)
    }

    @Test func anUnknownOptionIsAnError() throws {
        let error = #expect(throws: StorageError.self) { try SQLiteStore(url: StoreURL("sqlite:notes.db?cash=1")) }
        #expect(error?.code == .invalidConfiguration && error?.message.contains("cache") == true)
    }
}
#endif
