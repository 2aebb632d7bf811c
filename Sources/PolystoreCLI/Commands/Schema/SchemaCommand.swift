internal import ArgumentParser
internal import Polystore
internal import PolystoreStorage

/// `polystore schema`.
struct SchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "Shows the model version of a store, and migrates the store to other versions.",
        subcommands: [
            Status.self, Plan.self, Apply.self, Revert.self, Expand.self, Backfill.self, Contract.self, Abandon.self, History.self,
            Diff.self,
            Stamp.self, Lock.self,
        ])

    /// The versions of a model that a command line names.
    struct Models: ParsableArguments {
        @Option(help: "A model file; can be repeated, oldest version first. The last one is the target version.")
        var model: [String] = []

        @Option(
            parsing: .unconditional,
            help: "The versions of the migration path, separated by commas; by default every version is migrated directly to the last one.")
        var chain: String?

        func validate() throws {
            if chain != nil, model.isEmpty { throw ValidationError("--chain orders the versions of --model FILE") }
        }

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
            guard let history = try history(accepting: losses) else { throw ValidationError("specify --model FILE") }
            return history
        }
    }

    /// The options of a command that performs migration steps.
    struct Steps: ParsableArguments {
        @Option(
            parsing: .unconditionalSingleValue,
            help: "The path of data that may be lost, as the plan prints it, such as Note.mail; can be repeated.")
        var acceptLoss: [String] = []

        @Flag(help: "Do not ask for confirmation.")
        var yes = false

        @Flag(help: "Do not back up a file store before steps that lose data or have a custom mapping.")
        var noBackup = false

        @Flag(name: .shortAndLong, help: "Do not show progress.")
        var quiet = false

        @Flag(help: "Print JSON.")
        var json = false
    }
}
