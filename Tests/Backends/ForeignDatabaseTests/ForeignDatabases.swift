import Foundation
import PolystoreCatalog
import PolystoreStorage
import PolystoreTransfer
import RawSessions
import TestStores

/// Databases that other programs made, each in a place of its own.
enum ForeignDatabases {
    /// A path that nothing is at.
    static func path(_ suffix: String) -> String {
        FileManager.default.temporaryDirectory.appendingPathComponent("polystore-foreign-\(UUID().uuidString)\(suffix)").path
    }

    /// A SQLite file made by a script.
    static func sqlite(_ script: String) throws -> String {
        let path = path(".sqlite")
        try run("sqlite3", ["-bail", path], script)
        return path
    }

    /// A schema of the server made by a script.
    static func postgreSQL(_ script: String) throws -> (url: String, schema: String) {
        let schema = "foreign_" + UUID().uuidString.lowercased().replacing("-", with: "")
        let server = TestStore.server ?? ""
        try run(
            "psql", ["-q", "-v", "ON_ERROR_STOP=1", "-d", server], "CREATE SCHEMA \(schema); SET search_path = \(schema);\n" + script)
        return ("\(server)\(server.contains("?") ? "&" : "?")x-catalog=foreign&x-schema=\(schema)", schema)
    }

    static func drop(_ schema: String) { _ = try? run("psql", ["-q", "-d", TestStore.server ?? ""], "DROP SCHEMA \(schema) CASCADE") }

    /// What a program prints when it is given an input.
    @discardableResult
    static func run(_ program: String, _ arguments: [String], _ input: String) throws -> String {
        let process = Process(), pipe = Pipe(), answer = Pipe(), trouble = path(".log")
        _ = FileManager.default.createFile(atPath: trouble, contents: nil)
        defer { try? FileManager.default.removeItem(atPath: trouble) }
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [program] + arguments
        process.standardInput = pipe
        process.standardError = FileHandle(forWritingAtPath: trouble)
        process.standardOutput = answer
        try process.run()
        try pipe.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try pipe.fileHandleForWriting.close()
        let text = String(decoding: answer.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        if process.terminationStatus != 0 {
            let sentence = (try? String(contentsOfFile: trouble, encoding: .utf8)) ?? ""
            throw StorageError(.invalidConfiguration, "\(program): \(sentence)")
        }
        return text
    }
}

/// A store that is open.
struct OpenDatabase {
    let store: OpenStore

    /// Opens what a URL names.
    init(_ url: String) throws(StorageError) {
        try self.init(try StoreCatalog.standard.store(at: try StoreURL(url)), nil)
    }

    /// Opens a store, with a schema where it is new.
    init(_ store: any StorageInterface, _ schema: Schema?) throws(StorageError) {
        self.store = try OpenStore(opening: store, OpenRequest(schema: schema, createIfMissing: schema != nil))
    }

    var schema: Schema { store.state.schema }
    var id: UUID { store.storeID }
    var remarks: [String] { (store.storage as? any ForeignStorage)?.remarks ?? [] }

    var losses: [String] { (store.storage as? any ForeignStorage)?.losses ?? [] }

    /// The rows and pairs, one line each.
    func lines() throws -> [String] {
        let reader = try store.beginRead()
        defer { reader.end() }
        var bytes: [UInt8] = []
        try ArchiveWriter(Contents(reader)).write { bytes += $0 }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
            .filter { $0.hasPrefix("{\"entity\"") || $0.hasPrefix("{\"link\"") }
    }

    func digests() throws -> [TransferItem] {
        let reader = try store.beginRead()
        defer { reader.end() }
        return try Contents(reader).digests()
    }

    /// The keys of what a predicate finds.
    func keys(_ entity: String, _ text: String, orderBy: [String] = []) throws -> [Int64] {
        let reader = try store.beginRead()
        defer { reader.end() }
        let plan = try ObjectRequest(entity, where: QueryPredicate(parsing: text), orderBy: orderBy.map { .init(PropertyPath($0)) }).plan(
            in: schema)
        guard reader.pushdown(of: plan) == .exact else { return [] }
        let cursor = try reader.cursor(for: plan), batch = RowBatch()
        var keys: [Int64] = []
        while try cursor.next(into: batch) { for index in 0..<batch.count { keys.append(batch.row(index).key) } }
        return keys
    }

    /// What reading everything throws; nil for nothing.
    var readingFailure: StorageError? { failure { _ = try digests() } }

    /// Copies everything to a new store and gives the store.
    func transferred(to target: any StorageInterface) throws -> OpenDatabase {
        let copy = try OpenDatabase(target, schema)
        _ = try TransferEngine().transfer(from: store, to: copy.store)
        return copy
    }

    func close() { try? store.close() }
}

/// What work throws; nil when it throws nothing.
func failure(of work: () throws -> Void) -> StorageError? {
    do {
        try work()
        return nil
    } catch { return error as? StorageError }
}

extension Schema {
    /// The entity of a name.
    func entity(_ name: String) -> Entity? { entities.first { $0.name == name } }

    /// `Entity.name -> Destination` with `*` for a to-many and the inverse, for all relationships.
    var relationshipLines: [String] {
        entities.flatMap { entity in
            entity.relationships.map { relationship in
                let sign = ["toOne": "1", "toMany": "*", "toManyOrdered": "**"][relationship.cardinality.rawValue] ?? ""
                return
                    "\(entity.name).\(relationship.name) \(sign) \(relationship.destination).\(relationship.inverse ?? "-") \(relationship.deleteRule.rawValue)"
            }
        }
    }
}
