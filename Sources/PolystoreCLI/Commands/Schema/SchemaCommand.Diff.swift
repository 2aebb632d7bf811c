internal import ArgumentParser
internal import PolystoreStorage
internal import PolystoreTransfer

extension SchemaCommand {
    /// `polystore schema diff`, and `polystore model diff`.
    struct Diff: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "diff", abstract: "Lists the changes from one model to another; the exit code is 1 if they differ.",
            discussion:
                "Default values, validation rules and limits of relationships are not stored, so differences in them are not listed.")

        @Argument(help: "The older model: a model file, or a store whose model to read, as a URL.", completion: ShellCompletion.store)
        var first: String

        @Argument(help: "The newer model: a model file, or a store whose model to read, as a URL.", completion: ShellCompletion.store)
        var second: String

        @Flag(help: "Print JSON.")
        var json = false

        func run() throws {
            let old = try ModelCommand.schema(first), new = try ModelCommand.schema(second)
            let changes = new.changes(since: old)
            if json { Console.print(Self.json(old, new, changes)) } else { Self.show(old, new, changes) }
            if !changes.isEmpty { throw Failure.differs }
        }

        private static func show(_ old: Schema, _ new: Schema, _ changes: [SchemaChange]) {
            for change in changes { Console.print("  \(change.line)") }
            Console.print(
                changes.isEmpty
                    ? "the stored schemas are equal"
                    : "\(String.counted(changes.count, "change")) from version \"\(old.version)\" to version \"\(new.version)\"")
        }

        private static func json(_ old: Schema, _ new: Schema, _ changes: [SchemaChange]) -> String {
            JSONText.object([
                ("first", JSONText.object(JSONText.version(old))), ("second", JSONText.object(JSONText.version(new))),
                ("same", String(changes.isEmpty)), ("changes", JSONText.array(changes.map(\.json))),
            ])
        }
    }
}
