internal import ArgumentParser
internal import Polystore
internal import PolystoreStorage
internal import PolystoreTransfer

extension SchemaCommand {
    /// `polystore schema lock`.
    struct Lock: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "lock", abstract: "Prints the version lock of a model as Swift, ready to paste.")

        @Argument(help: "The model file, or the store whose model to read, as a URL.")
        var model: String

        @Flag(help: "Print JSON: the hash of each entity, which the lock contains as four words.")
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
