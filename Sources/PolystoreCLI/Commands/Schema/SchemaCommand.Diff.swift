internal import ArgumentParser
internal import PolystoreStorage

extension SchemaCommand {
    /// `polystore schema diff`, and `polystore model diff`.
    struct Diff: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "diff", abstract: "Lists what the second of two models changes in the first; exit code 1 when they differ.",
            discussion: "Defaults, rules of values and limits of relationships are not stored: a difference in them alone is none.")

        @Argument(help: "The older model: a model file, or a store whose model is meant.")
        var first: String

        @Argument(help: "The newer model: a model file, or a store whose model is meant.")
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
                    ? "both store the same"
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
