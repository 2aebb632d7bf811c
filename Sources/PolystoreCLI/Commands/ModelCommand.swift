internal import ArgumentParser
internal import Foundation
internal import PolystoreModelCode
internal import PolystoreStorage

/// `polystore model`.
struct ModelCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "model", abstract: "Generates, shows, imports and compares models.",
        subcommands: [Generate.self, Show.self, Import.self, SchemaCommand.Diff.self])

    /// Returns the schema of a model file or of a store. Lists on the standard error what it lacks of a database of another program.
    static func schema(_ text: String) throws(StorageError) -> Schema {
        if text.hasSuffix(".json") { return try Stores.model(text) }
        let opened = try Stores.open(text)
        defer { opened.close() }
        for note in opened.remarks { Console.error("note: \(note)") }
        return opened.schema
    }

    /// Writes a text generated from an input to a file, or to the standard output.
    static func write(_ text: String, from input: String, to file: String?) throws(StorageError) {
        guard let file else { return try Console.write(Data(text.utf8)) }
        try Stores.check(output: file, from: input)
        let output = try AtomicFile(file)
        try output.write(Data(text.utf8))
        try output.finish()
    }

    /// `polystore model generate`.
    struct Generate: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "generate", abstract: "Writes Swift classes for the entities of a model file or a store.")

        @Argument(help: "The model file, or the store whose model to read, as a URL.")
        var model: String

        @Option(name: .shortAndLong, help: "The file to write instead of the standard output.")
        var output: String?

        @Flag(help: "Generate public classes.")
        var `public` = false

        @Option(help: "The name of an enum that encloses the classes, such as V1, for a model with several versions.")
        var namespace: String?

        func run() throws {
            let code = ModelCode.swift(
                for: try ModelCommand.schema(model), ModelCode.Options(access: `public` ? "public" : "", namespace: namespace))
            try ModelCommand.write(code, from: model, to: output)
        }
    }

    /// `polystore model show`.
    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Checks and prints the model of a model file or a store.")

        @Argument(help: "The model file, or the store whose model to read, as a URL.")
        var model: String

        func run() throws { Console.print(try ModelCommand.schema(model).prettyJSON) }
    }

    /// `polystore model import`.
    struct Import: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "import", abstract: "Converts an Xcode data model to a model file.",
            discussion:
                "Properties that Core Data does not store, such as transient attributes, are omitted and listed on the standard error.")

        @Argument(help: "The folder X.xcdatamodeld or X.xcdatamodel to read.")
        var model: String

        @Option(help: "The name of the version to read instead of the current one.")
        var version: String?

        @Option(name: .shortAndLong, help: "The file to write instead of the standard output.")
        var output: String?

        func run() throws {
            let imported = try read()
            try Stores.check(imported.schema, model)
            for name in imported.leftOut { Console.error("omitted: \(name)") }
            try ModelCommand.write(imported.schema.prettyJSON, from: model, to: output)
        }

        private func read() throws(StorageError) -> XcodeDataModel.Version {
            do throws(SchemaError) {
                return try XcodeDataModel(contentsOf: URL(fileURLWithPath: model)).version(version)
            } catch {
                throw StorageError(error)
            }
        }
    }
}
