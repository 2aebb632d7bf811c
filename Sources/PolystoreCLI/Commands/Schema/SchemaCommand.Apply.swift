internal import ArgumentParser
internal import PolystoreStorage

extension SchemaCommand {
    /// `polystore schema apply`.
    struct Apply: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "apply", abstract: "Leads a store to the version of a model, in place.",
            discussion: "Each step is one transaction. It asks before the first; exit code 5 when it is refused.")

        @Argument(help: "The store.")
        var store: String

        @OptionGroup var models: Models

        @OptionGroup var options: Steps

        func run() throws {
            let history = try models.required(accepting: options.acceptLoss)
            let opened = try Stores.open(store, readOnly: false)
            defer { opened.close() }
            let way = try SchemaWay(history, opened)
            if way.steps.isEmpty, !options.json {
                return Console.print("the store keeps version \"\(opened.schema.version)\" already: nothing is to be done")
            }
            try SchemaWork(way: way, opened: opened, options: options).run()
        }
    }
}
