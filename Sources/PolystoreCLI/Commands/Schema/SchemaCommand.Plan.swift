internal import ArgumentParser
internal import Polystore
internal import PolystoreStorage
internal import PolystoreTransfer

extension SchemaCommand {
    /// `polystore schema plan`.
    struct Plan: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "plan",
            abstract: "Shows the steps that migrate a store to a model, and the operations of each, without changing the store.",
            discussion: "The exit code is 1 if a step would be refused because it loses data.")

        @Argument(help: "The store to read, as a URL.", completion: ShellCompletion.store)
        var store: String

        @OptionGroup var models: Models

        @Option(parsing: .unconditionalSingleValue, help: "The path of data that may be lost, such as Note.mail; can be repeated.")
        var acceptLoss: [String] = []

        @Flag(help: "Print JSON.")
        var json = false

        func run() throws {
            let history = try models.required(accepting: acceptLoss)
            let opened = try Stores.open(store)
            defer { opened.close() }
            var steps = try SchemaWay(history, opened).steps
            let lines = try MigrationRunner(history, opened.store).explanations()
            for index in steps.indices { steps[index].lines = lines[index] }
            if json { Console.print(JSONText.array(steps.map(\.json))) } else { show(steps, opened.schema) }
            let losses = steps.flatMap(\.losses)
            if losses.isEmpty { return }
            Console.error("polystore: the plan would be refused; accept the loss with \(SchemaStep.options(losses))")
            throw Failure.differs
        }

        private func show(_ steps: [SchemaStep], _ stored: Schema) {
            if steps.isEmpty { return Console.print("the store already has version \"\(stored.version)\": no steps are required") }
            for step in steps { step.show() }
            Console.print("nothing was changed")
        }
    }
}
