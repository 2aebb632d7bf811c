import Foundation
import PolystoreInMemory
import PolystoreSQLite
import PolystoreStorage
import PolystoreTransfer
import TestStores
import Testing

/// Transfers in steps that are interrupted and continue.
@Suite struct InterruptedTransferTests {
    private let schema: Schema
    private let folder: URL
    private let source: OpenStore
    private let file: String

    init() throws {
        schema = try Schema(entities: [
            Entity(
                "Note", attributes: [Attribute("text", .string), Attribute("rank", .int64)],
                relationships: [Relationship("items", to: "Note", .toManyOrdered)], indexes: [Index(["rank"])],
                uniqueConstraints: [UniqueConstraint(["text"])])
        ])
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("interrupted-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        file = folder.appendingPathComponent("copy.db").path
        source = try OpenStore(opening: InMemoryStore(), OpenRequest(schema: schema))
        let lines = (1...20_000).map { "n\($0),\($0 % 7),\($0 % 50 == 0 ? "n\($0 - 1)" : "")" }.joined(separator: "\n")
        let mapping = LoadMapping.file("notes.csv", entity: "Note")
        var members = mapping
        members.relationships = ["items": ["text": "items"]]
        _ = try FileLoader.load(LoadMapping(files: [members]), into: source) { _ in FileBlocks(Data("text,rank,items\n\(lines)\n".utf8)) }
    }

    private func options(_ source: String = "memory:a") -> TransferOptions {
        var options = TransferOptions()
        options.source = source
        options.step = .zero
        return options
    }

    private func target(acceptsIncompleteCopy: Bool = true) throws -> OpenStore {
        var request = OpenRequest(schema: schema)
        request.acceptsIncompleteCopy = acceptsIncompleteCopy
        return try OpenStore(opening: SQLiteStore(path: file), request)
    }

    /// Copies until more than a number of rows are copied, and closes the target.
    private func interrupt(after rows: Int) throws {
        let target = try self.target(), limit = WorkLimit()
        let error = #expect(throws: StorageError.self) {
            try TransferEngine(limit: limit).transfer(from: source, to: target, options()) { if $0.allDone > rows { limit.cancel() } }
        }
        #expect(error?.code == .cancelled)
        try target.close()
    }

    private func rows(_ store: OpenStore) throws -> Int {
        let reader = try store.beginRead()
        defer { reader.end() }
        return try Contents(reader).count(0)
    }

    @Test func aTransferContinuesWhereItWasInterrupted() throws {
        try interrupt(after: 1)
        let refused = #expect(throws: StorageError.self) { try self.target(acceptsIncompleteCopy: false) }
        #expect(refused?.code == .incompleteCopy)
        let first = try target(), begun = try rows(first)
        #expect(begun > 0 && begun < 20_000)
        try first.close()
        try interrupt(after: begun + 1)
        let target = try self.target(), more = try rows(target)
        #expect(more > begun && more < 20_000)
        let report = try TransferEngine().transfer(from: source, to: target, options())
        #expect(report.continued == more)
        #expect(try TransferEngine().verify(source, target).allSatisfy(\.isSame))
        try target.close()
        // The indexes that the steps have left exist, and the store opens as any other.
        let other = try self.target(acceptsIncompleteCopy: false)
        var findings: [CheckFinding] = []
        try TransferEngine().check(other) { findings.append($0) }
        #expect(findings.isEmpty)
        try other.close()
        let indexes = try Self.sqlite3(
            file, "SELECT count(*) FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'Note' AND sql IS NOT NULL")
        #expect(indexes == "2")
        #expect(throws: (any Error).self) { try Self.sqlite3(file, "UPDATE Note SET text = 'n2' WHERE _id = 1") }
    }

    @Test(arguments: TestStore.all.filter { $0 != .memory }, [false, true]) func aStoreMadeForACopyIsIncompleteFromTheBeginning(
        _ kind: TestStore, _ isLive: Bool
    ) throws {
        let name = "polystore_\(UUID().uuidString.lowercased())"
        var options = options()
        options.isLive = isLive
        var request = OpenRequest(schema: schema)
        request.notes = try options.notes(for: schema)
        // The process ends before anything is copied.
        try OpenStore(opening: kind.make(named: name), request).close()
        let refused = #expect(throws: StorageError.self) {
            try OpenStore(opening: kind.make(named: name), OpenRequest(schema: self.schema))
        }
        #expect(refused?.code == .incompleteCopy)
        request.acceptsIncompleteCopy = true
        let target = try OpenStore(opening: kind.make(named: name), request)
        defer { try? target.erase() }
        if isLive {
            // What the source has purged before is not needed, because nothing is copied yet.
            let writer = try source.beginWrite()
            defer { writer.end() }
            if let newest = try writer.currentToken() { try writer.purgeHistory(through: newest) }
            _ = try writer.commit(CommitRecord())
            let transfer = try LiveTransfer(from: source, to: target, options)
            #expect(!transfer.isCopied)
            try transfer.copy()
            #expect(try rows(target) == 20_000 && transfer.isCopied)
            let other = try OpenStore(opening: InMemoryStore(), OpenRequest(schema: self.schema))
            let refused = #expect(throws: StorageError.self) { try LiveTransfer(from: other, to: target, options) }
            #expect(refused?.code == .alreadyExists)
        } else {
            #expect(try TransferEngine().transfer(from: source, to: target, options).continued == 0)
            #expect(try TransferEngine().verify(source, target).allSatisfy(\.isSame))
        }
    }

    private static func sqlite3(_ file: String, _ statement: String) throws -> String {
        let process = Process(), output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/sqlite3")
        process.arguments = [file, statement]
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        if process.terminationStatus != 0 { throw CocoaError(.fileWriteUnknown) }
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Assigns a text to an object of the source.
    private func change(_ key: Int64, _ text: String) throws {
        let writer = try source.beginWrite()
        defer { writer.end() }
        let rows = RowSource(count: 1) { _, batch in
            let cell = batch.cell(for: .string(text)), cells = batch.appendRow(key: key, version: 1, entity: 0, slots: 2)
            cells.update(repeating: .null, count: 2)
            cells[0] = cell
        }
        let update = RowUpdate(mask: SlotMask([0]), checksVersion: false, rows: rows)
        try writer.apply(ChangeSet(entities: [EntityChanges(entity: 0, updates: [update])]))
        _ = try writer.commit(CommitRecord())
    }

    @Test func aChangeOfWhatWasCopiedIsNoticedAndAChangeOfTheRestIsCopied() throws {
        try interrupt(after: 1)
        try change(20_000, "last")
        let target = try self.target()
        try change(1, "first")
        let error = #expect(throws: StorageError.self) { try TransferEngine().transfer(from: source, to: target, options()) }
        #expect(error?.code == .incompleteCopy && error?.message.hasPrefix("the source has changed") == true)
        try change(1, "n1")
        #expect(try TransferEngine().transfer(from: source, to: target, options()).continued > 0)
        #expect(try TransferEngine().verify(source, target).allSatisfy(\.isSame))
    }

    @Test func anotherTransferDoesNotContinue() throws {
        try interrupt(after: 1)
        let target = try self.target()
        var part = options()
        part.selection.only = ["Note"]
        for other in [options("memory:b"), part] {
            let error = #expect(throws: StorageError.self) { try TransferEngine().transfer(from: source, to: target, other) }
            #expect(error?.code == .alreadyExists && error?.message.contains("incomplete copy of another source") == true)
        }
    }

    @Test func aCompleteTransferIsNotRepeated() throws {
        let target = try self.target()
        #expect(try !TransferEngine().transfer(from: source, to: target, options()).wasComplete)
        let again = try TransferEngine().transfer(from: source, to: target, options())
        #expect(again.wasComplete && again.items.map(\.digest.count) == [20_000, 400])
        try change(1, "first")
        let error = #expect(throws: StorageError.self) { try TransferEngine().transfer(from: source, to: target, options()) }
        #expect(error?.code == .alreadyExists && error?.message.contains("has changed since") == true)
    }

    @Test func twoTransfersIntoOneTargetNoticeEachOther() throws {
        let target = try self.target(), second = try self.target()
        var isBegun = false
        func beside(_ progress: TransferProgress) {
            if isBegun { return }
            isBegun = true
            let other = Result { try TransferEngine().transfer(from: source, to: second, options()) }
            #expect(throws: Never.self) { _ = try other.get() }
        }
        let error = #expect(throws: StorageError.self) {
            try TransferEngine().transfer(from: source, to: target, options(), report: beside)
        }
        #expect(error?.code == .busy)
        #expect(try TransferEngine().verify(source, target).allSatisfy(\.isSame))
    }
}
