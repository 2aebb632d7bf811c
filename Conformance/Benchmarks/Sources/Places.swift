import CFloor
import Foundation
import GRDB
import Polystore
import PolystoreCatalog

/// The locations of the data of both sides: new folders, and a separate schema on the server.
final class Places {
    let folder: URL
    let server: String?
    private var number = 0

    init(server: String?) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("polystore-benchmarks-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        self.server = server
    }

    func file(_ name: String) -> String {
        number += 1
        return folder.appendingPathComponent("\(number)-\(name)").path
    }

    func remove() { try? FileManager.default.removeItem(at: folder) }

    /// Returns the URL of a store that does not exist yet.
    func url(_ store: String) throws -> String {
        number += 1
        switch store {
        case "sqlite": return "sqlite:\(file("ours.db"))"
        case "lmdb": return "lmdb:\(file("ours.lmdb"))"
        case "postgresql":
            guard let server else { throw BenchmarkError.noServer }
            return server + (server.contains("?") ? "&" : "?") + "x-schema=ours_\(number)"
        default: return "memory:"
        }
    }

    /// Returns the location where the C code of a store writes.
    func floorPlace(_ store: String) throws -> String {
        if store == "postgresql" {
            guard let server else { throw BenchmarkError.noServer }
            return server
        }
        return file("floor.\(store)")
    }
}

extension OpenStore {
    /// Opens the store that the store registry has for a URL.
    convenience init(catalogued url: String, _ request: OpenRequest) throws {
        try self.init(opening: StoreCatalog.standard.store(at: StoreURL(url)), request)
    }
}

extension Workloads {
    /// Runs `body` with a new store of the kind, opened with the benchmark's schema.
    func withStore(_ body: (OpenStore) throws -> Double) throws -> Double {
        let opened = try OpenStore(catalogued: place.url(store), OpenRequest(schema: try Schema(json: BenchmarkModel.json)))
        defer { try? opened.close() }
        return try body(opened)
    }

    /// Runs `body` with a stack over a new store of the kind.
    @discardableResult
    func withStack(_ body: (DataStack) throws -> Double) throws -> Double {
        let stack = try DataStack(Person.self, Employee.self)
        let opened = try StoreCatalog.standard.store(at: StoreURL(try place.url(store)), configuration: nil)
        try stack.addStorageAndWait(opened)
        defer { try? stack.removeStorage(opened) }
        return try body(stack)
    }

    /// Runs `body` with the C code over a new location.
    @discardableResult
    func withFloor(_ body: (Floor, UnsafeMutableRawPointer) throws -> Double) throws -> Double {
        guard let floor, let handle = floor.open(try place.floorPlace(store)) else { throw BenchmarkError.floorFailed(store) }
        defer { floor.close(handle) }
        return try body(floor, handle)
    }

    /// Runs `body` with GRDB over a new file with the same settings. They are set after opening, because its pool sets NORMAL before. For
    /// comparison with the memory store it keeps its database in memory too.
    func withGRDB(_ body: (any DatabaseWriter) throws -> Double) throws -> Double {
        var configuration = Configuration()
        configuration.prepareDatabase { db in try db.execute(sql: "PRAGMA page_size=8192; PRAGMA cache_size=-65536") }
        let pool: any DatabaseWriter =
            store == "memory"
            ? try DatabaseQueue(configuration: configuration)
            : try DatabasePool(path: place.file("grdb.db"), configuration: configuration)
        defer { try? pool.close() }
        try pool.writeWithoutTransaction { db in try db.execute(sql: "PRAGMA synchronous=FULL") }
        try pool.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE person(id INTEGER PRIMARY KEY, number INTEGER, name TEXT, email TEXT, age INTEGER, score REAL,
                    active INTEGER, created INTEGER, note TEXT) STRICT
                    """)
        }
        return try body(pool)
    }
}
