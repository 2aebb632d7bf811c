import ArgumentParser
import Foundation

/// The command that compares every store with its C floor and with other packages, interleaved in one process, and prints ratios.
@main
struct Benchmarks: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "polystore-benchmarks",
        abstract:
            "Compares each store with the same work in C, with GRDB, with the object mappers of Python and with pgloader. A ratio below 1 means that Polystore is faster."
    )

    @Flag(help: "Print one JSON object per line instead of a table.")
    var json = false

    @Option(help: "The stores to measure, separated by commas.")
    var stores = "memory,sqlite,lmdb,postgresql"

    @Option(help: "The workloads to run, separated by commas; by default all.")
    var workloads: String?

    @Option(help: "The number of objects.")
    var count = 100_000

    @Option(help: "The number of runs of each side.")
    var rounds = 5

    @Option(help: "The number of rows of the transfer that is compared with pgloader; 0 disables it.")
    var transfer = 1_000_000

    func run() throws {
        let wanted = stores.split(separator: ",").map(String.init)
        let server = wanted.contains("postgresql") ? try PostgreSQLServer() : nil
        defer { server?.stop() }
        let places = try Places(server: server?.url)
        defer { places.remove() }
        if !json { FileHandle.standardOutput.write(Data((Measurement.header + "\n").utf8)) }
        for store in wanted {
            let floor: Floor? = ["sqlite": .sqlite, "lmdb": .lmdb, "postgresql": .postgresql][store]
            try Workloads(
                store: store, floor: floor, place: places, count: count, rounds: rounds,
                wanted: workloads.map { Set($0.split(separator: ",").map(String.init)) }, report: show
            ).run()
        }
        let chosen = workloads.map { Set($0.split(separator: ",").map(String.init)) }
        func wants(_ name: String) -> Bool { chosen?.contains(name) ?? true }
        if wanted.contains("sqlite"), wants("graph") {
            try GraphBenchmark(place: places, owners: max(count / 5, 1), rounds: rounds, report: show).run()
        }
        if wanted.contains("sqlite"), wants("two-store-commit") {
            try TwoStoresBenchmark(place: places, rounds: rounds, report: show).run()
        }
        if wanted.contains("sqlite"), wants("fields") {
            try FieldsBenchmark(place: places, count: count, rounds: rounds, report: show).run()
        }
        if wanted.contains("sqlite"), wants("python") {
            let workloads = Workloads(
                store: "sqlite", floor: nil, place: places, count: count, rounds: min(rounds, 3), wanted: nil, report: show)
            try PythonBenchmark(workloads: workloads).run()
        }
        if wants("parse") { try ParseBenchmark(rounds: rounds, report: show).run() }
        if wants("compile") { try CompileBenchmark(place: places, rounds: rounds, report: show).run() }
        for store in wanted where wants("import") {
            try ImportBenchmark(store: store, place: places, count: max(count * 2 / 5, 1), rounds: rounds, report: show).run()
        }
        for store in wanted where wants("history") {
            try HistoryBenchmark(store: store, place: places, count: count, rounds: rounds, report: show).run()
        }
        for store in wanted where wants("query") && store != "postgresql" {
            try QueryBenchmark(store: store, place: places, count: count * 10, rounds: rounds, report: show).run()
        }
        for store in wanted where wants("migrate") && store != "memory" {
            try MigrationBenchmark(store: store, place: places, count: count * 10, rounds: rounds, report: show).run()
        }
        for store in wanted where wants("observe") {
            try ObservationBenchmark(store: store, place: places, rounds: rounds, report: show).run()
        }
        for store in wanted where chosen?.contains("detached") ?? false {
            try DetachedBenchmark(store: store, place: places, seconds: 60, report: show).run()
        }
        if let server, transfer > 0 { try TransferBenchmark(places, server: server.url, rows: transfer, report: show).run() }
    }

    /// Prints a measurement immediately, even to a pipe, because a run takes minutes.
    private func show(_ measurement: Measurement) {
        FileHandle.standardOutput.write(Data(((json ? measurement.json : measurement.row) + "\n").utf8))
    }
}
