import Foundation
import PolystoreKeyValue
import PolystoreStorage
import RawSessions
import Testing

@testable import PolystoreLMDB

/// What is left at the location of a store when it is erased: all that the store has not made.
@Suite struct LMDBErasureTests {
    private static let schema = Result { try Schema(entities: [Entity("Blob", attributes: [Attribute("bytes", .data)])]) }
    private let folder: String

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("polystore-erasure-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    private func path(_ name: String) -> String { folder + "/" + name }

    private func files() throws -> [String] { try FileManager.default.subpathsOfDirectory(atPath: folder).sorted() }

    private func store(_ name: String, _ options: String = "") throws -> LMDBStore {
        try LMDBStore(url: StoreURL("lmdb:\(path(name))\(options)"))
    }

    private func make(_ name: String, _ options: String = "") throws -> LMDBStore {
        let store = try store(name, options)
        #expect(try store.open(OpenRequest(schema: Self.schema.get())).wasCreated)
        return store
    }

    private func code(_ body: () throws -> Void) -> StorageError.Code? { #expect(throws: StorageError.self, performing: body)?.code }

    @Test func aFileThatIsNoStoreStays() throws {
        for name in ["text.txt", "text.txt-lock", "long.txt"] {
            let text = String(repeating: "a text ", count: name == "long.txt" ? 10_000 : 1)
            try text.write(toFile: path(name), atomically: true, encoding: .utf8)
        }
        try FileManager.default.createDirectory(atPath: path("tree/leaf"), withIntermediateDirectories: true)
        let before = try files()
        for name in ["text.txt", "tree", "long.txt"] { #expect(code { try store(name).erase() } == .notADatabase, "\(name)") }
        #expect(try files() == before)
    }

    @Test func anEnvironmentOfAnotherProgramStays() throws {
        let location = LMDBLocation(path("theirs.mdb"), usesFolder: false)
        _ = try location.prepare(.init(create: true, readOnly: false, mapCount: 0), firstMap: 1 << 26)
        #expect(code { try store("theirs.mdb").erase() } == .notADatabase)
        #expect(try files().contains("theirs.mdb"))
    }

    @Test(arguments: ["theirs", nil]) func aStoreWithDataOfAnotherProgramIsNotErased(_ map: String?) throws {
        try make("a.lmdb").close()
        let process = Process(), input = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/mdb_load")
        process.arguments = ["-n"] + (map.map { ["-s", $0] } ?? []) + ["-T", path("a.lmdb")]
        process.standardInput = input
        try process.run()
        input.fileHandleForWriting.write(Data("one\n1\n".utf8))
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        let before = try Data(contentsOf: URL(fileURLWithPath: path("a.lmdb")))
        #expect(code { try store("a.lmdb").erase() } == .unsupported)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path("a.lmdb"))) == before)
        try make("b.lmdb").erase()
        #expect(try files().contains("a.lmdb") && !files().contains("b.lmdb"))
    }

    @Test func nothingIsErasedWhereThereIsNoStore() throws {
        try store("none.lmdb").erase()
        _ = FileManager.default.createFile(atPath: path("empty.lmdb"), contents: nil)
        try store("empty.lmdb").erase()
        #expect(try files() == ["empty.lmdb"])
    }

    @Test func aReadOnlyStoreIsNotErased() throws {
        try make("a.lmdb").close()
        let store = try store("a.lmdb", "?mode=ro")
        #expect(code { try store.erase() } == .readOnly)
        #expect(try files().contains("a.lmdb"))
    }

    @Test func anErasedStoreLeavesNothing() throws {
        try make("a.lmdb").erase()
        let closed = try make("b.lmdb")
        try closed.close()
        try closed.erase()
        #expect(try files() == [])
        // Also while another instance, or a session, has it open.
        let open = try make("c.lmdb")
        try store("c.lmdb").erase()
        try open.close()
        #expect(try files() == [])
    }

    @Test func aStoreWithManyMapsIsOpenedWithoutAModelAndErased() throws {
        let entities = (0..<300).map { Entity("E\($0)", attributes: [Attribute("x", .int64)]) }
        let many = try store("many.lmdb"), request = OpenRequest(schema: try Schema(entities: entities))
        _ = try many.open(request)
        try many.close()
        #expect(try many.open(OpenRequest(schema: nil, createIfMissing: false)).schema.entities.count == 300)
        try many.close()
        #expect(code { _ = try many.open(OpenRequest(schema: Self.schema.get())) } == .schemaMismatch)
        _ = try many.open(request)
        try many.close()
        try many.erase()
        #expect(try files() == [])
    }

    @Test func onlyAFolderThatTheStoreHasMadeIsRemoved() throws {
        try make("own", "?subdir=1").erase()
        #expect(try files() == [])
        let closed = try make("own", "?subdir=1")
        try closed.close()
        try closed.erase()
        #expect(try files() == [])
        try FileManager.default.createDirectory(atPath: path("theirs"), withIntermediateDirectories: true)
        try make("theirs", "?subdir=1").erase()
        #expect(try files() == ["theirs"])
        // A folder that another program has put something into stays with that.
        let shared = try make("shared", "?subdir=1")
        try "a".write(toFile: path("shared/text.txt"), atomically: true, encoding: .utf8)
        try shared.erase()
        #expect(try files() == ["shared", "shared/text.txt", "theirs"])
    }

    // MARK: Withdrawing

    @Test func anUnusedStoreIsWithdrawn() throws {
        try make("a.lmdb").withdraw()
        #expect(try files() == [])
        _ = FileManager.default.createFile(atPath: path("empty.lmdb"), contents: nil, attributes: [.posixPermissions: 0o640])
        try make("empty.lmdb").withdraw()
        let left = try FileManager.default.attributesOfItem(atPath: path("empty.lmdb"))
        #expect(left[.size] as? Int == 0 && left[.posixPermissions] as? Int == 0o640)
        try make("own", "?subdir=1").withdraw()
        try FileManager.default.createDirectory(atPath: path("theirs"), withIntermediateDirectories: true)
        try make("theirs", "?subdir=1").withdraw()
        #expect(try files() == ["empty.lmdb", "theirs"])
    }

    @Test func aStoreThatWasThereOrIsUsedIsNotWithdrawn() throws {
        try make("a.lmdb").close()
        let there = try store("a.lmdb")
        _ = try there.open(OpenRequest(schema: Self.schema.get()))
        try there.withdraw()
        let used = try make("b.lmdb"), writer = try used.beginWrite(WriteOptions()), batch = RowBatch()
        batch.appendRow(key: 1, version: 1, entity: 0, slots: 1)[0] = batch.cell(for: .data(Data([1])))
        try writer.load(0, batch)
        _ = try writer.commit(CommitRecord())
        try used.withdraw()
        #expect(try files().filter { !$0.hasSuffix("-lock") } == ["a.lmdb", "b.lmdb"])
    }
}
