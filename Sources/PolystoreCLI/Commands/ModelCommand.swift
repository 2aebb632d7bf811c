internal import ArgumentParser
internal import Foundation
internal import PolystoreModelCode
internal import PolystoreStorage

/// `polystore model`.
struct ModelCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "model", abstract: "Works with models.", subcommands: [Generate.self, Show.self])

    /// The schema of a model file, or of a store.
    static func schema(_ text: String) throws(StorageError) -> Schema {
        if text.hasSuffix(".json") { return try Stores.model(text) }
        let opened = try Stores.open(text)
        defer { opened.close() }
        return opened.schema
    }

    /// `polystore model generate`.
    struct Generate: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "generate", abstract: "Writes Swift classes for the entities of a model file or a store.")

        @Argument(help: "A model file, or a store whose model is wanted.")
        var model: String

        @Option(name: .shortAndLong, help: "A file instead of the output.")
        var output: String?

        @Flag(help: "Make the classes public.")
        var `public` = false

        func run() throws {
            let code = ModelCode.swift(for: try ModelCommand.schema(model), ModelCode.Options(access: `public` ? "public" : ""))
            guard let output else { return FileHandle.standardOutput.write(Data(code.utf8)) }
            do { try code.write(toFile: output, atomically: true, encoding: .utf8) } catch {
                throw StorageError(.permissionDenied, "the file \(output) cannot be written", cause: error)
            }
        }
    }

    /// `polystore model show`.
    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Prints the model of a model file or a store, checked.")

        @Argument(help: "A model file, or a store whose model is wanted.")
        var model: String

        func run() throws { Console.print(try ModelCommand.schema(model).prettyJSON) }
    }
}
