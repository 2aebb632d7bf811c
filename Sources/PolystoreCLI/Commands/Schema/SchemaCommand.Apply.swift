internal import ArgumentParser
internal import PolystoreStorage

extension SchemaCommand {
    /// `polystore schema apply`.
    struct Apply: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "apply", abstract: "Migrates a store to the version of a model, in place.",
            discussion:
                "Each step is one transaction. The command asks for confirmation before the first; the exit code is 5 if it is refused.")

        @Argument(help: "The store to migrate, as a URL.", completion: ShellCompletion.store)
        var store: String

        @OptionGroup var models: Models

        @OptionGroup var options: Steps

        func run() throws {
            let history = try models.required(accepting: options.acceptLoss)
            let opened = try Stores.open(store, readOnly: false)
            defer { opened.close() }
            let way = try SchemaWay(history, opened)
            if way.steps.isEmpty, !options.json {
                return Console.print("the store already has version \"\(opened.schema.version)\": no steps are required")
            }
            try SchemaWork(way: way, opened: opened, options: options).run()
        }
    }
}
