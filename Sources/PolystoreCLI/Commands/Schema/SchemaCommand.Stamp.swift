internal import ArgumentParser
internal import PolystoreStorage
internal import PolystoreTransfer

extension SchemaCommand {
    /// `polystore schema stamp`.
    struct Stamp: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "stamp", abstract: "Changes only the version name of the model in a store.")

        @Argument(help: "The store to change, as a URL.", completion: ShellCompletion.store)
        var store: String

        @Option(help: "The new name of the version.")
        var version: String

        @Flag(help: "Print JSON.")
        var json = false

        func validate() throws { if version.isEmpty { throw ValidationError("--version must not be empty") } }

        func run() throws {
            let opened = try Stores.open(store, readOnly: false)
            defer { opened.close() }
            let before = opened.schema.version
            if before != version { try VersionStamp(version).apply(to: opened.store) }
            if json {
                return Console.report(JSONText.object([("version", JSONText.string(version)), ("before", JSONText.string(before))]))
            }
            Console.report(
                "the store \(before == version ? "already" : "now") has version \"\(version)\"\(before == version ? "" : "; it was \"\(before)\"")"
            )
        }
    }
}
