import Foundation
import PolystoreCatalog
import PolystoreStorage
import RawSessions
import Testing

/// What is left of a file when a store in it is erased: all that the store has not made.
@Suite struct SQLiteErasureTests {
    private static let schema = Result {
        try Schema(entities: [
            Entity(
                "Note", attributes: [Attribute("text", .string)],
                relationships: [Relationship("tags", to: "Tag", .toMany, inverse: "notes")],
                indexes: [Index(["text"], kind: .fullText)]),
            Entity("Tag", relationships: [Relationship("notes", to: "Note", .toMany, inverse: "tags")]),
        ])
    }

    private let folder: String

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("polystore-erasure-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    private func path(_ name: String) -> String { folder + "/" + name }

    private func files() throws -> [String] { try FileManager.default.subpathsOfDirectory(atPath: folder).sorted() }

    private func store(_ name: String, _ options: String = "") throws -> any StorageInterface {
        try StoreCatalog.standard.store(at: StoreURL("sqlite:\(path(name))\(options)"), configuration: nil)
    }

    private func make(_ name: String) throws -> any StorageInterface {
        let store = try store(name)
        #expect(try store.open(OpenRequest(schema: Self.schema.get())).wasCreated)
        return store
    }

    @discardableResult
    private func sql(_ name: String, _ text: String) throws -> String {
        let process = Process(), output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/sqlite3")
        process.arguments = [path(name), text]
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// In a file that keeps the mark of an erased store.
    @Test(arguments: [
        "TABLE polystore_metadata(id)", "TABLE Polystore_Metadata(key, value)", "INDEX polystore_metadata ON t(a)",
        "TABLE polystore_metadata(key, value); INSERT INTO polystore_metadata VALUES('a', 'b')",
        "VIEW polystore_metadata AS SELECT 1 AS key, 2 AS value",
    ]) func somethingOfOthersWithTheNameOfTheMetadataIsNamedAndKept(_ creation: String) throws {
        try sql("theirs.db", "PRAGMA application_id = \(0x706f_6c79); CREATE TABLE t(a); CREATE \(creation)")
        let before = try Data(contentsOf: URL(fileURLWithPath: path("theirs.db"))), store = try store("theirs.db")
        for work in [{ _ = try store.open(OpenRequest(schema: Self.schema.get())) }, { try store.erase() }] as [() throws -> Void] {
            let error = #expect(throws: StorageError.self) { try work() }
            #expect(error?.code == .alreadyExists && error?.message.contains("polystore_metadata") == true, "\(String(describing: error))")
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path("theirs.db"))) == before)
    }

    @Test func aFileThatIsNoStoreStays() throws {
        try "a text".write(toFile: path("text.txt"), atomically: true, encoding: .utf8)
        try FileManager.default.createDirectory(atPath: path("tree/leaf"), withIntermediateDirectories: true)
        try sql("theirs.db", "CREATE TABLE t(a); INSERT INTO t VALUES(1);")
        let before = try files()
        for name in ["text.txt", "tree", "theirs.db"] {
            let store = try store(name)
            #expect(code { try store.erase() } == .notADatabase, "\(name)")
        }
        #expect(try files() == before)
        #expect(try String(contentsOfFile: path("text.txt"), encoding: .utf8) == "a text")
        #expect(try sql("theirs.db", "SELECT a FROM t") == "1")
    }

    @Test func aFileOfAnotherProgramThatIsOpenedKeepsItsSettings() throws {
        try sql("theirs.db", "CREATE TABLE t(a); INSERT INTO t VALUES(1);")
        let before = try Data(contentsOf: URL(fileURLWithPath: path("theirs.db")))
        for options in ["", "?history=off", "?mode=ro"] {
            let store = try store("theirs.db", options)
            #expect(code { _ = try store.open(OpenRequest(schema: Self.schema.get())) } == .notADatabase, "\(options)")
        }
        #expect(try files() == ["theirs.db"])
        #expect(try Data(contentsOf: URL(fileURLWithPath: path("theirs.db"))) == before)
    }

    @Test func nothingIsErasedWhereThereIsNoStore() throws {
        try store("none.db").erase()
        _ = FileManager.default.createFile(atPath: path("empty.db"), contents: nil)
        try store("empty.db").erase()
        #expect(try files() == ["empty.db"])
    }

    @Test func aReadOnlyStoreIsNotErased() throws {
        try make("a.db").close()
        let store = try store("a.db", "?mode=ro")
        #expect(code { try store.erase() } == .readOnly)
        _ = try store.open(OpenRequest(schema: nil, createIfMissing: false))
        #expect(code { try store.erase() } == .readOnly)
        try store.close()
        #expect(try files().contains("a.db"))
    }

    @Test func anErasedStoreLeavesNothing() throws {
        try make("a.db").erase()
        #expect(try files() == [])
    }

    @Test func tablesOfOtherProgramsStay() throws {
        let store = try make("a.db")
        try sql("a.db", "CREATE TABLE theirs(a); INSERT INTO theirs VALUES(7); CREATE VIEW seen AS SELECT a FROM theirs;")
        try store.erase()
        #expect(try sql("a.db", "SELECT group_concat(name, ' ') FROM (SELECT name FROM sqlite_master ORDER BY name)") == "seen theirs")
        #expect(try sql("a.db", "SELECT a FROM seen") == "7")
        // It can be made there again.
        let again = try make("a.db")
        #expect(try sql("a.db", "SELECT a FROM seen") == "7")
        try again.erase()
        #expect(try sql("a.db", "SELECT a FROM seen") == "7")
    }

    @Test(arguments: ["CREATE VIEW theirs AS SELECT * FROM Note", "CREATE TABLE theirs(a REFERENCES Note(_id))"])
    func whatDependsOnATablePreventsErasing(_ statement: String) throws {
        let store = try make("a.db")
        try sql("a.db", statement)
        let error = #expect(throws: StorageError.self) { try store.erase() }
        #expect(error?.code == .unsupported && error?.message.contains("theirs") == true)
        #expect(try store.open(OpenRequest(schema: Self.schema.get())).wasCreated == false)
    }

    @Test func theFileBehindALinkIsErased() throws {
        try FileManager.default.createDirectory(atPath: path("inner"), withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: path("link.db"), withDestinationPath: path("inner/a.db"))
        let store = try make("link.db")
        #expect(try files().contains("inner/a.db"))
        try store.erase()
        #expect(try files() == ["inner", "link.db"])
    }

    // MARK: Withdrawing

    private func withdraw(_ store: any StorageInterface) throws { try #require(store as? any WithdrawableStorage).withdraw() }

    @Test func anUnusedStoreIsWithdrawn() throws {
        try withdraw(make("a.db"))
        #expect(try files() == [])
        _ = FileManager.default.createFile(atPath: path("empty.db"), contents: nil, attributes: [.posixPermissions: 0o640])
        try withdraw(make("empty.db"))
        let left = try FileManager.default.attributesOfItem(atPath: path("empty.db"))
        #expect(left[.size] as? Int == 0 && left[.posixPermissions] as? Int == 0o640)
        #expect(try files() == ["empty.db"])
    }

    @Test func aStoreThatWasThereOrIsUsedIsNotWithdrawn() throws {
        try make("a.db").close()
        let there = try store("a.db")
        _ = try there.open(OpenRequest(schema: Self.schema.get()))
        try withdraw(there)
        let used = try make("b.db"), other = try store("b.db")
        _ = try other.open(OpenRequest(schema: Self.schema.get()))
        let writer = try other.beginWrite(WriteOptions()), batch = RowBatch()
        batch.appendRow(key: 1, version: 1, entity: 0, slots: 1)[0] = batch.cell(for: .string("a"))
        try writer.load(0, batch)
        _ = try writer.commit(CommitRecord())
        try other.close()
        try withdraw(used)
        #expect(try files().filter { $0.hasSuffix(".db") } == ["a.db", "b.db"])
        #expect(try sql("b.db", "SELECT count(*) FROM Note") == "1")
    }
}
