internal import ArgumentParser
internal import Polystore
internal import PolystoreStorage

/// `polystore schema`.
struct SchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "Shows the version of the model that a store keeps, and leads the store to others.",
        subcommands: [
            Status.self, Plan.self, Apply.self, Revert.self, Expand.self, Backfill.self, Contract.self, Abandon.self, History.self,
            Diff.self,
            Stamp.self, Lock.self,
        ])

    /// The versions of a model that a command line names.
    struct Models: ParsableArguments {
        @Option(help: "A model file. There can be several, oldest version first: the last one is where the store is to be led.")
        var model: [String] = []

        @Option(help: "The versions that the store goes through, separated by commas; without it every version leads straight to the last.")
        var chain: String?

        /// Returns the history of the model files, or nil if none is named.
        func history(accepting losses: [String] = []) throws(StorageError) -> SchemaHistory? {
            if model.isEmpty { return nil }
            var schemas: [Schema] = []
            for file in model { schemas.append(try Stores.model(file)) }
            let versions = chain.map { $0.split(separator: ",").map(String.init) } ?? []
            var history = try SchemaHistory(schemas: schemas, migrationChain: MigrationChain(versions))
            history.acceptedLosses = Set(losses)
            return history
        }

        /// Returns the history of the model files. At least one must be named.
        func required(accepting losses: [String]) throws -> SchemaHistory {
            guard let history = try history(accepting: losses) else { throw ValidationError("give --model FILE") }
            return history
        }
    }

    /// The options of a command that performs migration steps.
    struct Steps: ParsableArguments {
        @Option(help: "What may be lost, by the path that the plan names, such as Note.mail; there can be several.")
        var acceptLoss: [String] = []

        @Flag(help: "Do not ask.")
        var yes = false

        @Flag(help: "Make no copy of a file beside it before steps that lose something or that a mapping of the program runs over.")
        var noBackup = false

        @Flag(name: .shortAndLong, help: "Show no progress.")
        var quiet = false

        @Flag(help: "Print JSON.")
        var json = false
    }
}
