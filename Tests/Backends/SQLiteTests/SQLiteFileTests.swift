import Foundation
import PolystoreCatalog
import PolystoreStorage
import RawSessions
import Synchronization
import Testing

@testable import PolystoreSQLite

/// The file of a SQLite store: its locks, its permissions, and what others have done to it.
@Suite struct SQLiteFileTests {
    /// The last connection to a file may take it out of WAL mode, others may not: what our locks are for.
    private func isLocked(_ file: SQLiteFile) throws -> Bool {
        try file.sql("PRAGMA journal_mode = DELETE").contains("locked")
    }

    @Test func nothingDropsTheLocksOfTheEngine() throws {
        let file = try SQLiteFile()
        try file.add(0..<10)
        let reader = try file.store.beginRead()
        defer { reader.end() }
        _ = try reader.note("x")
        #expect(try isLocked(file))
        #expect(try StoreCatalog.standard.url(for: file.path) == StoreURL("sqlite:\(file.path)"))
        #expect(try isLocked(file), "looking at the first bytes")
        let local = try #require(file.store as? SQLiteStore)
        _ = try local.fileSize()
        #expect(try isLocked(file), "asking for the size")
        try local.backup(to: URL(fileURLWithPath: file.path + ".copy"))
        #expect(try isLocked(file), "copying")
        try local.check()
        #expect(try isLocked(file), "checking")
        let watch = try file.store.watchChanges { _ in }
        try file.add(10..<20)
        watch?.cancel()
        #expect(try isLocked(file), "watching")
        let other = try SQLiteStore(url: StoreURL("sqlite:\(file.path)"))
        _ = try other.open(OpenRequest(schema: try SQLiteFile.schema.get()))
        try other.close()
        #expect(try isLocked(file), "another store of the file")
    }

    /// Commits to a file without a name would be lost with it.
    @Test(arguments: [true, false]) func aDeletedOrReplacedFileIsDetected(_ isReplaced: Bool) throws {
        let file = try SQLiteFile(), manager = FileManager.default
        try file.add(0..<3)
        try file.store.close()
        try manager.copyItem(atPath: file.path, toPath: file.path + ".copy")
        try file.open()
        #expect(try file.count() == 3)
        try manager.removeItem(atPath: file.path)
        if isReplaced { try manager.moveItem(atPath: file.path + ".copy", toPath: file.path) }
        #expect(code { try file.add(3..<4) } == .notFound)
        #expect(code { _ = try file.count() } == .notFound)
        #expect(code { try file.add(4..<5) } == .notFound)
        try file.store.close()
        try file.open()
        #expect(try file.count() == (isReplaced ? 3 : 0))
    }

    /// A new file gets its name when nothing that this process has open of it is still to be closed.
    @Test func concurrentCreatorsOfAFileKeepTheirLocks() throws {
        let file = try SQLiteFile()
        for number in 0..<20 {
            let path = "\(file.path).\(number)", schema = try SQLiteFile.schema.get(), failures = Mutex(0)
            let stores = try (0..<4).map { _ in try StoreCatalog.standard.store(at: StoreURL("sqlite:\(path)"), configuration: nil) }
            DispatchQueue.concurrentPerform(iterations: stores.count) { index in
                do { _ = try stores[index].open(OpenRequest(schema: schema)) } catch { failures.withLock { $0 += 1 } }
            }
            #expect(failures.withLock { $0 } == 0)
            #expect(try file.sql("PRAGMA journal_mode = DELETE", of: path).contains("locked"))
            for store in stores { try store.close() }
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: (file.path as NSString).deletingLastPathComponent)
        #expect(!names.contains { $0.contains(".new-") })
    }

    @Test func onlyTheOwnerMayReadNewFiles() throws {
        let file = try SQLiteFile()
        try file.add(0..<10)
        let copy = file.path + ".copy"
        try (file.store as? SQLiteStore)?.backup(to: URL(fileURLWithPath: copy))
        for path in [file.path, file.path + "-wal", file.path + "-shm", copy] {
            let permissions = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(permissions == 0o600, "\(path.suffix(4))")
        }
    }

    @Test func aBackupLeavesOtherFilesAlone() throws {
        let file = try SQLiteFile()
        let copy = file.path + ".copy"
        try Data("mine".utf8).write(to: URL(fileURLWithPath: copy + ".partial"))
        try (file.store as? SQLiteStore)?.backup(to: URL(fileURLWithPath: copy))
        #expect(try Data(contentsOf: URL(fileURLWithPath: copy + ".partial")) == Data("mine".utf8))
        let names = try FileManager.default.contentsOfDirectory(atPath: (file.path as NSString).deletingLastPathComponent)
        #expect(names.filter { $0.hasSuffix(".partial") }.count == 1)
    }

    @Test(.enabled(if: getuid() != 0, "permissions forbid root nothing")) func erasingReportsRemainingFiles() throws {
        let file = try SQLiteFile(), manager = FileManager.default, folder = (file.path as NSString).deletingLastPathComponent
        try manager.setAttributes([.posixPermissions: 0o500], ofItemAtPath: folder)
        defer { try? manager.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder) }
        #expect(code { try file.store.erase() } == .permissionDenied)
        #expect(manager.fileExists(atPath: file.path))
    }

    /// A link that leads to itself: whether the files are still there cannot be known.
    @Test func erasingReportsUnreachableFiles() throws {
        let file = try SQLiteFile(), manager = FileManager.default, folder = (file.path as NSString).deletingLastPathComponent
        try manager.moveItem(atPath: folder, toPath: folder + ".moved")
        defer { try? manager.removeItem(atPath: folder + ".moved") }
        try manager.createSymbolicLink(atPath: folder, withDestinationPath: folder)
        #expect(throws: StorageError.self) { try file.store.erase() }
        #expect(manager.fileExists(atPath: folder + ".moved/store.db"))
    }

    @Test func aPathThatIsNoFileIsRefusedBeforeTheStoreIsMade() throws {
        for url in ["sqlite::memory:", "sqlite:///:memory:", "sqlite:"] {
            #expect(code { _ = try SQLiteStore(url: StoreURL(url)) } == .invalidConfiguration)
        }
        let store = SQLiteStore(path: "~/polystore-tilde.db")
        let error = #expect(throws: StorageError.self) { _ = try store.open(OpenRequest(schema: Schema(entities: []))) }
        #expect(error?.code == .invalidConfiguration && error?.message.contains("expanded by a shell") == true)
    }

    /// A database in memory has no log, like one on a file system that shares no memory between processes.
    @Test func aDatabaseThatCannotHaveALogIsRefused() throws {
        let connection = try SQLiteConnection(path: ":memory:", readOnly: false, create: false)
        #expect(code { try connection.switchToLog() } == .unsupported)
    }

    @Test(arguments: [
        ("UPDATE polystore_counters SET next = 9223372036854775807", StorageError.Code.limitExceeded),
        ("UPDATE polystore_counters SET next = -9223372036854775808", .corrupted), ("UPDATE polystore_counters SET next = -5", .corrupted),
        ("UPDATE polystore_history SET position = 9223372036854775807", .corrupted),
        ("INSERT INTO polystore_notes VALUES('history.floor', CAST('9223372036854775806' AS BLOB))", .corrupted),
        ("INSERT INTO polystore_notes VALUES('history.floor', CAST('9223372036854775807' AS BLOB))", .corrupted),
    ])
    func numbersThatLeaveNoRoomAreErrors(_ change: String, _ expected: StorageError.Code) throws {
        let file = try SQLiteFile()
        try file.add(0..<3)
        try file.store.close()
        #expect(try file.sql(change) == "")
        try file.open()
        #expect(code { try file.add(10..<13) } == expected)
        #expect(try file.sql("SELECT count(*) FROM Item") == "3")
    }

    @Test func aLoadedKeyThatLeavesNoRoomIsRefused() throws {
        let file = try SQLiteFile()
        let writer = try file.store.beginWrite(WriteOptions(bulk: .whole))
        defer { writer.end() }
        let batch = RowBatch()
        let cells = batch.appendRow(key: .max, version: 1, entity: 0, slots: 2)
        cells[0] = .int(1)
        cells[1] = .null
        #expect(
            code {
                try writer.load(0, batch)
                _ = try writer.commit(CommitRecord())
            } == .limitExceeded)
    }

    /// The error names what helps: no command mends a file.
    @Test func aDamagedFileIsToBeRestored() throws {
        let file = try SQLiteFile()
        try file.add(0..<3)
        try file.store.close()
        let change = "PRAGMA writable_schema = ON; UPDATE sqlite_master SET rootpage = 99999 WHERE name = 'Item'"
        #expect(try file.sql(change) == "")
        let error = #expect(throws: StorageError.self) {
            try file.open()
            _ = try file.count()
        }
        #expect(error?.code == .corrupted)
        #expect(error?.message == "the database is damaged; restore it from a backup")
    }

    @Test func damageIsFound() throws {
        let file = try SQLiteFile()
        try file.add(0..<3000)
        try file.store.close()
        // Another root page: rows are read as entries of an index.
        #expect(
            try file.sql("PRAGMA writable_schema = ON; UPDATE sqlite_master SET rootpage = 3 WHERE name LIKE '%Item%' AND type = 'index'")
                == "")
        let checked = try SQLiteStore(url: StoreURL("sqlite:\(file.path)?check=on"))
        #expect(code { _ = try checked.open(OpenRequest(schema: nil)) } == .corrupted)
        #expect(code { _ = try checked.beginRead() } == .storeClosed)
    }

    /// SQLite 3.40 finds NULLs in tables without row IDs whose columns are not in the order of the key.
    @Test func aNullIsDamageOnlyWhereThereIsOne() throws {
        let file = try SQLiteFile(), path = file.path + ".lists", store = SQLiteStore(path: path)
        defer { try? store.close() }
        let schema = try Schema(entities: [
            Entity("List", relationships: [Relationship("items", to: "Item", .toManyOrdered)]),
            Entity("Item", attributes: [Attribute("number", .int64)]),
        ])
        func reopened(_ statements: String...) throws {
            try store.close()
            for text in statements { #expect(try file.sql(text, of: path) == "") }
            _ = try store.open(OpenRequest(schema: schema))
        }
        _ = try store.open(OpenRequest(schema: schema))
        try reopened(
            """
            INSERT INTO List(_id, _version) VALUES(1, 1);
            INSERT INTO Item(_id, _version, number) VALUES(1, 1, 5), (2, 1, 6);
            INSERT INTO "List.items"(owner, rank, member) VALUES(1, 1, 1), (1, 2, 2);
            """)
        try store.check()
        // The table takes a NULL while its definition allows it.
        func define(_ old: String, as new: String) -> String {
            "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(sql, '\(old)', '\(new)') WHERE name = 'Item';"
        }
        let required = #""number" INTEGER NOT NULL"#, optional = #""number" INTEGER"#
        try reopened(define(required, as: optional), "UPDATE Item SET number = NULL WHERE _id = 2", define(optional, as: required))
        let error = #expect(throws: StorageError.self) { try store.check() }
        #expect(error?.message.hasSuffix("NULL value in Item.number") == true, "\(error as Any)")
    }
}
