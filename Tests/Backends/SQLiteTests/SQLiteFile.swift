import Foundation
import PolystoreCatalog
import PolystoreStorage
import RawSessions

/// A store in a folder of its own, opened; the folder goes with it.
final class SQLiteFile {
    static let schema = Result {
        try Schema(entities: [
            Entity(
                "Item", attributes: [Attribute("number", .int64), Attribute("bytes", .data)],
                uniqueConstraints: [UniqueConstraint(["number"])])
        ])
    }

    let path: String
    let store: any StorageInterface
    private let folder: URL
    private let schema: Schema

    /// - Parameters:
    ///   - options: Behind the path of the URL.
    ///   - schema: Another schema than that of items.
    init(_ options: String = "", schema: Schema? = nil) throws {
        self.schema = try schema ?? Self.schema.get()
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("polystore-sqlite-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.appendingPathComponent("store.db").path
        store = try StoreCatalog.standard.store(at: StoreURL("sqlite:\(path)\(options)"), configuration: nil)
        try open()
    }

    deinit {
        try? store.close()
        try? FileManager.default.removeItem(at: folder)
    }

    func open() throws { _ = try store.open(OpenRequest(schema: schema)) }

    /// Commits items with these numbers.
    func add(_ numbers: Range<Int64>) throws {
        let writer = try store.beginWrite(WriteOptions())
        defer { writer.end() }
        let keys = try writer.reserveKeys(0, count: numbers.count)
        try writer.apply(Self.inserting(numbers.map { [.int($0), .null] }, from: keys.lowerBound))
        _ = try writer.commit(CommitRecord())
    }

    /// The insertion of rows with keys that follow each other.
    static func inserting(_ rows: [[Cell]], from key: Int64) -> ChangeSet {
        let source = RowSource(count: rows.count) { part, batch in
            for index in part {
                let cells = batch.appendRow(key: key + Int64(index), version: 1, entity: 0, slots: 2)
                for slot in 0..<2 { cells[slot] = rows[index][slot] }
            }
        }
        return ChangeSet(entities: [EntityChanges(entity: 0, inserts: source)])
    }

    /// The number of items, in a session of its own.
    func count() throws -> Int {
        let reader = try store.beginRead()
        defer { reader.end() }
        let cursor = try reader.cursor(for: FetchPlan(entity: 0, entities: [0])), batch = RowBatch()
        var count = 0
        while try cursor.next(into: batch) { count += batch.count }
        return count
    }

    /// What `sqlite3` says.
    func sql(_ text: String, of path: String? = nil) throws -> String {
        let process = Process(), output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/sqlite3")
        process.arguments = [path ?? self.path, text]
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }
}

/// The code of what a closure throws; nil where it throws nothing.
func code(_ body: () throws -> Void) -> StorageError.Code? {
    do { try body() } catch { return (error as? StorageError)?.code }
    return nil
}
