import Foundation
import Polystore
import PolystoreCatalog
import RawSessions
import Testing

/// A folder that can be read under another name, by which nothing in it can be written.
@Suite(.serialized) struct ReadOnlyFolderTests {
    private static let canMount = Result { try Mount().end() }.isSuccess

    private final class Mount {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("polystore-mount-\(UUID().uuidString)")
        var source: String { folder.path + "/source" }
        var target: String { folder.path + "/target" }

        init() throws {
            for path in [source, target] { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }
            try run("mount", "--bind", source, target)
            try run("mount", "-o", "remount,bind,ro", target)
        }

        private func run(_ arguments: String...) throws {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = arguments
            process.standardError = FileHandle.nullDevice
            try process.run()
            process.waitUntilExit()
            if process.terminationStatus != 0 { throw CocoaError(.fileWriteNoPermission) }
        }

        func end() {
            try? run("umount", target)
            try? FileManager.default.removeItem(at: folder)
        }
    }

    private func store(_ url: String) throws -> any StorageInterface {
        let store = try StoreCatalog.standard.store(at: StoreURL(url), configuration: nil)
        _ = try store.open(OpenRequest(schema: nil, createIfMissing: false, readOnly: true))
        return store
    }

    private func count(_ reader: any StorageReader, _ schema: Schema) throws -> Int {
        let cursor = try reader.cursor(for: FetchPlan(schema, 0)), batch = RowBatch(capacity: 64)
        var count = 0
        while try cursor.next(into: batch) { count += batch.count }
        return count
    }

    /// Readers have no slot there by which a writer would know that their pages are in use.
    @Test(.enabled(if: canMount, "file systems cannot be mounted here")) func aWriterWaitsForReadersItCannotSee() throws {
        let mount = try Mount()
        defer { mount.end() }
        let writer = try HelperProcess(["--write", "lmdb:\(mount.source)/store.lmdb"])
        #expect(writer.lines(2) == ["open: done", "ready"])
        let store = try StoreCatalog.standard.store(at: StoreURL("lmdb:\(mount.target)/store.lmdb?mode=ro"), configuration: nil)
        let schema = try store.open(OpenRequest(schema: nil, createIfMissing: false, readOnly: true)).schema
        let reader = try store.beginRead(), other = try store.beginRead()
        #expect(try count(reader, schema) == 1)
        reader.end()
        writer.say("2")
        #expect(!writer.saysSomething(within: 1), "a reader is still at work")
        #expect(try count(other, schema) == 1)
        other.end()
        #expect(writer.lines(2) == ["write: done", "read: done"])
        let later = try store.beginRead()
        #expect(try count(later, schema) == 2)
        later.end()
        try store.close()
        writer.endInput()
        #expect(try writer.rest() == [])
    }

    /// A write-ahead log cannot be made there; one that is there is read, and a database without one too.
    @Test(.enabled(if: canMount, "file systems cannot be mounted here")) func aLogThatCannotBeCreatedIsReported() throws {
        let mount = try Mount()
        defer { mount.end() }
        let source = "sqlite:\(mount.source)/store.db", target = "sqlite:\(mount.target)/store.db?mode=ro"
        let writer = try HelperProcess(["--write", source])
        #expect(writer.lines(2) == ["open: done", "ready"])
        let store = try store(target)
        try store.beginRead().end()
        let copy = URL(fileURLWithPath: mount.source + "/copy.db")
        try (store as? any LocalStorage)?.backup(to: copy)
        try store.close()
        writer.endInput()
        #expect(try writer.rest() == [])
        let error = #expect(throws: StorageError.self) { _ = try self.store(target) }
        #expect(error?.code == .permissionDenied && error?.message.contains("write-ahead log") == true)
        try self.store("sqlite:\(mount.target)/copy.db?mode=ro").close()
    }
}

extension Result {
    fileprivate var isSuccess: Bool { if case .success = self { true } else { false } }
}
