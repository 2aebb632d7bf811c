internal import ArgumentParser
internal import PolystoreStorage
internal import PolystoreTransfer

extension SchemaCommand {
    /// `polystore schema history`.
    struct History: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "history", abstract: "Lists the previous versions of a store, oldest first, with the times of their migrations.")

        @Argument(help: "The store to read, as a URL.", completion: ShellCompletion.store)
        var store: String

        @Flag(help: "Print JSON.")
        var json = false

        func run() throws {
            let opened = try Stores.open(store)
            defer { opened.close() }
            let reader = try opened.store.beginRead()
            defer { reader.end() }
            var versions: [(schema: Schema, until: String?)] = []
            for record in try MigrationRecord.all(reader) { versions.append((record.schema, ISO8601.string(record.time))) }
            versions.append((opened.schema, nil))
            if json {
                let items = versions.map { JSONText.object(JSONText.version($0.schema) + [("until", JSONText.string($0.until))]) }
                return Console.print(JSONText.array(items))
            }
            let width = versions.map(\.schema.version.count).max() ?? 0
            for (schema, until) in versions {
                Console.print(
                    "\(schema.version.padding(width))  \(schema.hash.description.prefix(16))  \(until.map { "until \($0)" } ?? "now")")
            }
        }
    }
}
