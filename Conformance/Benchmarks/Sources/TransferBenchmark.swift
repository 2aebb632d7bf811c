import CFloor
import Foundation
import Polystore
import PolystoreCatalog
import PolystoreTransfer

/// The transfer of a million rows from SQLite to PostgreSQL, compared with pgloader on the same rows and the same server.
struct TransferBenchmark {
    private let places: Places
    private let server: String
    private let rows: Int
    private let report: (Measurement) -> Void

    init(_ places: Places, server: String, rows: Int, report: @escaping (Measurement) -> Void) {
        self.places = places
        self.server = server
        self.rows = rows
        self.report = report
    }

    func run() throws {
        let path = places.file("transfer.db")
        try fill("sqlite:\(path)")
        var measurement = Measurement("transfer", store: "postgresql", against: "pgloader", count: rows)
        let hasPeer = FileManager.default.isExecutableFile(atPath: "/usr/bin/pgloader")
        for _ in 0..<(hasPeer ? 2 : 1) {
            try measurement.run(rounds: 1, ours: { try ours(path) }, theirs: { hasPeer ? try pgloader(path) : 1 })
        }
        report(measurement)
    }

    private func fill(_ url: String) throws {
        let store = try OpenStore(catalogued: url, OpenRequest(schema: try Schema(json: BenchmarkModel.json)))
        // Rows are loaded in parts, so that the values of all rows are never in memory at once.
        for start in stride(from: 0, to: rows, by: 50_000) {
            try BulkLoad((start + 1...min(start + 50_000, rows)).map(PersonValues.init)).run(store)
        }
        try store.close()
    }

    private func ours(_ path: String) throws -> Double {
        let source = try OpenStore(catalogued: "sqlite:\(path)", OpenRequest(schema: nil, readOnly: true))
        let target = try OpenStore(catalogued: places.url("postgresql"), OpenRequest(schema: source.schema))
        defer {
            try? source.close()
            try? target.erase()
        }
        return try nanoseconds { _ = try TransferEngine().transfer(from: source, to: target) }
    }

    private func pgloader(_ path: String) throws -> Double {
        // pgloader supports TCP, or a socket in the URL with escaped slashes.
        let parts = URLComponents(string: server)
        let host = parts?.queryItems?.first { $0.name == "host" }?.value ?? "",
            port = parts?.queryItems?.first { $0.name == "port" }?.value ?? ""
        // Only the rows, because pgloader fails on the sequence of the history table.
        let script = places.file("transfer.load")
        let text = """
            LOAD DATABASE FROM sqlite://\(path) INTO postgresql://postgres@unix:\(host):\(port)/postgres
            WITH include drop, create tables, create indexes, reset no sequences
            INCLUDING ONLY TABLE NAMES LIKE 'Person';
            """
        try text.write(toFile: script, atomically: true, encoding: .utf8)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/pgloader")
        process.arguments = ["--on-error-stop", script]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        let time = try nanoseconds {
            try process.run()
            process.waitUntilExit()
        }
        if process.terminationStatus != 0 { throw BenchmarkError.floorFailed("pgloader") }
        return time
    }
}
