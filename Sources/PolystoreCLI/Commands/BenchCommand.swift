internal import ArgumentParser
internal import PolystoreStorage
internal import PolystoreTransfer

/// `polystore bench`.
struct BenchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench", abstract: "Measures how fast a kind of store inserts, fetches, queries, updates and deletes objects.",
        discussion: """
            The objects are in a scratch store, which is removed afterwards: sqlite: and lmdb: use a temporary folder, or one in the folder that the \
            URL names; a PostgreSQL URL gets a schema with a random name. No existing store is used. Options of the URL, such as durability, apply.

            Objects are inserted, updated and deleted in transactions of --batch objects; all are fetched at once; single objects are queried by an \
            indexed number.
            """)

    @Argument(help: "The kind of store, as a URL such as sqlite: or lmdb:/mnt/disk.", completion: ShellCompletion.store)
    var store: String

    @Option(parsing: .unconditional, help: "The number of objects.")
    var objects = 10_000

    @Option(parsing: .unconditional, help: "The number of objects of a transaction.")
    var batch = 1000

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        if !(1...100_000_000).contains(objects) { throw ValidationError("--objects must be from 1 to 100000000") }
        if batch < 1 { throw ValidationError("--batch must be at least 1") }
    }

    func run() throws {
        Interruption.watch()
        let place = try ScratchPlace(store)
        defer { place.remove() }
        let measured = try StoreBench(objects: objects, batch: batch).run(at: place)
        if json {
            let steps = measured.map { step in
                JSONText.object([
                    ("step", JSONText.string(step.name)), ("operations", "\(step.operations)"), ("seconds", step.secondsText),
                    ("rate", "\(step.rate)"),
                ])
            }
            return Console.print(
                JSONText.object([
                    ("store", JSONText.string(place.name)), ("objects", "\(objects)"), ("batch", "\(batch)"),
                    ("steps", JSONText.array(steps)),
                ]))
        }
        Console.print("\(place.name): \(objects) objects, \(batch) in a transaction")
        for step in measured {
            Console.print("  \(step.name.padding(8)) \(step.operations) in \(step.secondsText) s: \(step.rate) per second")
        }
    }
}
