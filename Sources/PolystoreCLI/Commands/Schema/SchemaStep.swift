internal import Polystore
internal import PolystoreStorage
internal import PolystoreTransfer

/// A migration step between versions, as it is shown before it is performed.
struct SchemaStep {
    let type: MigrationType
    let changes: [SchemaChange]
    /// The losses that were not accepted, as far as they are known.
    var losses: [SchemaChange] = []
    /// The number of objects of entities that change, or nil if the step does not start at the stored version.
    var objectCount: Int?
    /// The description of the store's work, or nil if it was not requested.
    var lines: [String]?

    /// Returns the steps of a runner. Only the first one starts at the stored version.
    static func all(of runner: MigrationRunner) throws(StorageError) -> [SchemaStep] {
        try runner.requiredMigrations().enumerated().map { number, step in
            SchemaStep(type: step.type, changes: step.changes, losses: step.losses, objectCount: number == 0 ? step.objectCount : nil)
        }
    }

    /// Whether the step may lose data, or involves a mapping of the program.
    var needsBackup: Bool { type.isHeavyweightMigration || changes.contains { $0.loss != nil } }

    /// Returns the options that accept the given losses.
    static func options(_ losses: [SchemaChange]) -> String { losses.map { "--accept-loss \($0.path)" }.joined(separator: " ") }

    /// Refuses a step that would lose data.
    ///
    /// - Throws: `dataLossRefused`, which names the losses and the options that accept them.
    func refuseLosses() throws(StorageError) {
        if losses.isEmpty { return }
        let texts = losses.compactMap(\.loss).joined(separator: ", ")
        throw StorageError(.dataLossRefused, "the step \(type) would lose \(texts); accept the loss with \(Self.options(losses))")
    }

    /// Prints the step for readers.
    func show() {
        let objects = objectCount.map { ": \(String.counted($0, "object"))" } ?? ""
        Console.print("\(type)\(objects)")
        for change in changes { Console.print("  \(change.line)") }
        guard let lines else { return }
        Console.print("  operations of the store:")
        for line in lines.isEmpty ? ["only record the new version"] : lines { Console.print("    \(line)") }
    }

    /// The step as a JSON object.
    var json: String {
        JSONText.object([
            ("from", JSONText.string(type.sourceVersion)), ("to", JSONText.string(type.destinationVersion)),
            ("kind", JSONText.string(type.isHeavyweightMigration ? "heavyweight" : "lightweight")),
            ("objects", objectCount.map(String.init) ?? "null"), ("changes", JSONText.array(changes.map(\.json))),
            ("losses", JSONText.strings(losses.map(\.path))), ("does", lines.map(JSONText.strings) ?? "null"),
        ])
    }
}

extension String {
    /// Returns a number with a noun: `1 step`, `2 steps`.
    static func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
}
