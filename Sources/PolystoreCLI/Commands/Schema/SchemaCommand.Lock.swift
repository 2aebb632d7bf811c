internal import ArgumentParser
internal import Polystore
internal import PolystoreStorage

extension SchemaCommand {
    /// `polystore schema lock`.
    struct Lock: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "lock", abstract: "Prints the version lock of a model as Swift, ready to paste.")

        @Argument(help: "A model file, or a store whose model is meant.")
        var model: String

        @Flag(help: "Print JSON: the hash of each entity, whose four words are the lock.")
        var json = false

        func run() throws {
            let schema = try ModelCommand.schema(model), lock = schema.versionLock
            if !json { return Console.print("versionLock: \(lock)") }
            let entities = schema.entities.map { entity in
                (name: entity.name, value: JSONText.string(SchemaHash(of: entity).description))
            }
            Console.print(JSONText.object(JSONText.version(schema) + [("lock", JSONText.object(entities))]))
        }
    }
}
