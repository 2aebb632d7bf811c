#if Macros
import Foundation
import Polystore
import PolystoreCatalog
import PolystoreInMemory
import PolystoreLMDB
import PolystoreMacros
import PolystorePostgreSQL
import PolystoreSQLite
import TestStores
import Testing

/// The samples of "Choosing a Store".
@Suite(.scratch) struct ChoosingAStoreSamples {
    @Model final class Note: ManagedObject {
        var text: String = ""
    }

    @Test func oneLineChanges() async throws {
        let stack = try DataStack(Note.self)
        try await stack.addStorage(SQLiteStore(path: scratch("notes.db")))  // or another one of the four
        try await stack.perform { try $0.create(Note.self).text = "Tea" }
        #expect(try stack.fetchAll(From<Note>()).map(\.text) == ["Tea"])
    }

    @Test func aStoreSaysWhatItCanDo() throws {
        let stack = try DataStack(Note.self), store = LMDBStore(path: scratch("notes.lmdb"))
        let opened = try OpenStore(opening: store, OpenRequest(schema: stack.schema))
        print(opened.capabilities.contains(.rawSQL), opened.capabilities.maximumColumns)
        #expect(printed == ["false 4096"])
    }

    @Test func aSettingDecides() async throws {
        let stack = try DataStack(Note.self)
        #if !os(Windows)
        setenv("NOTES_STORE", scratch("lmdb:notes.lmdb"), 1)
        defer { unsetenv("NOTES_STORE") }
        #endif
        let url = ProcessInfo.processInfo.environment["NOTES_STORE"] ?? "sqlite:notes.db"
        try await stack.addStorage(StoreCatalog.standard.store(at: StoreURL(url)))
        #expect(stack.storages.map { type(of: $0).storeType } == ["lmdb"])
    }

    /// The table of properties.
    @Test func theTableIsThatOfTheStores() throws {
        let article = try Checkout.lines("Sources/Polystore/Polystore.docc/ChoosingAStore.md")
        func row(_ name: String) throws -> [Substring] {
            try #require(article.first { $0.hasPrefix("| \(name) |") }).split(separator: "|").dropFirst().map {
                Substring($0.trimmingCharacters(in: .whitespaces))
            }
        }
        var stores: [any StorageInterface] = [
            InMemoryStore(), SQLiteStore(path: scratch("notes.db")), LMDBStore(path: scratch("notes.lmdb")),
        ]
        if TestStore.server != nil { stores.append(PostgreSQLStore(conninfo: scratch("dbname=notes"))) }
        let columns = try row("columns of a hierarchy of entities"), sql = try row("SQL, and other programs that read the tables")
        let online = try row("online migrations, while programs of two versions work"), others = try row("other processes")
        for (number, store) in stores.enumerated() {
            let capabilities = try OpenStore(opening: store, OpenRequest(schema: DataStack(Note.self).schema)).capabilities
            #expect(columns[number].replacing(",", with: "") == "\(capabilities.maximumColumns)")
            #expect((sql[number] == "yes") == capabilities.contains(.rawSQL))
            #expect((online[number] == "yes") == capabilities.contains(.rollingMigrations))
            #expect((others[number] != "no") == capabilities.contains(.multipleProcesses))
            for capability in [.snapshotReads, .savepoints, .history, .fullTextIndexes, .migrations] as [StorageCapabilities.Capability] {
                #expect(capabilities.contains(capability), "\(capability)")
            }
        }
    }
}
#endif
