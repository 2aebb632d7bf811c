internal import ArgumentParser
internal import Polystore
internal import PolystoreStorage

extension SchemaCommand {
    /// `polystore schema plan`.
    struct Plan: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "plan", abstract: "Shows the steps that lead a store to a model, with what the store would do; changes nothing.",
            discussion: "Exit code 1 when the first step would be refused because it loses something.")

        @Argument(help: "The store.")
        var store: String

        @OptionGroup var models: Models

        @Option(help: "What may be lost, by its path, such as Note.mail; there can be several.")
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
            Console.error("polystore: the plan would be refused; accept what is lost with \(SchemaStep.options(losses))")
            throw Failure.differs
        }

        private func show(_ steps: [SchemaStep], _ stored: Schema) {
            if steps.isEmpty { return Console.print("the store keeps version \"\(stored.version)\" already: nothing is to be done") }
            for step in steps { step.show() }
            let later = steps.flatMap { $0.possibleLosses(acceptLoss) }
            if !later.isEmpty { Console.print("a later step is refused where anything is stored there: \(SchemaStep.options(later))") }
            Console.print("nothing was changed")
        }
    }
}
