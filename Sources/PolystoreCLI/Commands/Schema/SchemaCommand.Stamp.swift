internal import ArgumentParser
internal import PolystoreStorage

extension SchemaCommand {
    /// `polystore schema stamp`.
    struct Stamp: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "stamp", abstract: "Gives the model that a store keeps another version name, and changes nothing else.")

        @Argument(help: "The store.")
        var store: String

        @Option(help: "The new name of the version.")
        var version: String

        func validate() throws { if version.isEmpty { throw ValidationError("a version needs a name") } }

        func run() throws {
            let opened = try Stores.open(store, readOnly: false)
            defer { opened.close() }
            let before = opened.schema.version
            if before != version { try VersionStamp(version).apply(to: opened.store) }
            Console.print("the store keeps version \"\(version)\"\(before == version ? " already" : " now; it was \"\(before)\"")")
        }
    }
}
