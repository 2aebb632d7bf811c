internal import Foundation
internal import Polystore
internal import PolystoreCatalog
internal import PolystoreTransfer

/// The demonstration: it loads a week of flights, queries them with typed key paths, and copies them from store to store.
struct Demo {
    let postgres: String?

    func run() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("polystore-demo-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let sqlite = "sqlite:\(folder.path)/flights.db"
        try load(sqlite)
        try query(sqlite)
        try move(sqlite, to: "lmdb:\(folder.path)/flights.lmdb")
        try move(sqlite, to: "memory:")
        if let postgres {
            let server =
                postgres + (postgres.contains("?") ? "&" : "?") + "x-schema=polystore_demo_\(UUID().uuidString.prefix(8).lowercased())"
            try move(sqlite, to: server)
            try move(server, to: "sqlite:\(folder.path)/back.db")
            try Stores.catalog.store(at: StoreURL(server)).erase()
        }
        Console.print("\nEverything above used a temporary folder and a separate schema, which are now removed.")
    }

    private func data(_ name: String) throws -> Data {
        guard let url = Bundle.module.url(forResource: "flights", withExtension: nil) else {
            throw StorageError(
                .notFound, "the folder \"flights\" with the data of the demonstration is missing from the resources of the program")
        }
        return try Data(contentsOf: url.appendingPathComponent(name))
    }

    private func load(_ url: String) throws {
        Console.print("1. One week of flights from New York, loaded from CSV into SQLite\n")
        let schema = try Schema(json: String(decoding: data("model.json"), as: UTF8.self))
        let opened = try Stores.create(url, schema)
        defer { opened.close() }
        let report = try FileLoader.load(LoadMapping(json: data("load.json")), into: opened.store) { FileBlocks(try data($0)) }
        try opened.finish()
        LoadCommand.show(report)
    }

    private func query(_ url: String) throws {
        Console.print("\n2. Three typed queries\n")
        let stack = try DataStack(Airline.self, Airport.self, Plane.self, Weather.self, Flight.self)
        let storage = try Stores.catalog.store(at: Stores.catalog.url(for: url))
        try stack.addStorageAndWait(storage)
        defer { try? stack.removeStorage(storage) }

        let long = try stack.fetchCount(From<Flight>().where(\.distance > 2000 && \.originAirport?.faa == "JFK"))
        Console.print("   flights from JFK of more than 2000 miles: \(long)")
        let delay = try stack.queryValue(From<Flight>().select(Double.self, .average(\.dep_delay))) ?? 0
        Console.print("   mean delay at departure: \(String(format: "%.2f", delay)) minutes")
        let latest = try stack.fetchAll(
            From<Flight>().where(\.plane?.manufacturer == "BOEING").orderBy(.descending(\.dep_delay), .ascending(\.flight)).limit(3))
        Console.print("   the three Boeings with the longest delay:")
        for flight in latest {
            let names = "\(flight.carrier)\(flight.flight) to \(flight.destAirport?.name ?? flight.dest)"
            Console.print("     \(flight.dep_delay ?? 0) minutes: \(names), \(flight.plane?.model ?? "")")
        }
    }

    private func move(_ source: String, to target: String) throws {
        let from = try Stores.open(source)
        defer { from.close() }
        let to = try Stores.create(target, from.schema)
        defer { to.close() }
        let start = Date()
        let items = try TransferEngine().transfer(from: from.store, to: to.store)
        let rows = items.items.reduce(0) { $0 + $1.digest.count }
        Console.print(
            "\n3. \(from.url.scheme) to \(to.url.scheme): \(rows) rows in \(String(format: "%.2f", Date().timeIntervalSince(start))) s")
        let pairs = try TransferEngine().verify(from.store, to.store)
        for pair in pairs { Console.print(VerifyCommand.line(pair)) }
        if !pairs.allSatisfy(\.isSame) { throw Failure.differs }
        try to.finish()
    }
}
