internal import Polystore
internal import PolystoreStorage

/// One step between versions as it is shown before it is taken.
struct SchemaStep {
    let type: MigrationType
    let changes: [SchemaChange]
    /// What would be lost and was not accepted, as far as it is known.
    var losses: [SchemaChange] = []
    /// The number of objects of entities that change; nil where the step does not begin with what is stored now.
    var objectCount: Int?
    /// Whether it begins with what is stored now, so that its losses are known.
    var isFirst = false
    /// What the store would do; nil where it was not asked.
    var lines: [String]?

    /// The steps of a runner, of which only the first begins with what is stored now.
    static func all(of runner: MigrationRunner) throws(StorageError) -> [SchemaStep] {
        try runner.requiredMigrations().enumerated().map { number, step in
            let isFirst = number == 0
            return SchemaStep(
                type: step.type, changes: step.changes, losses: step.losses, objectCount: isFirst ? step.objectCount : nil,
                isFirst: isFirst)
        }
    }

    /// Whether something may be lost in it, or the program has a part in it.
    var needsBackup: Bool { type.isHeavyweightMigration || changes.contains { $0.loss != nil } }

    /// What a later step may lose and was not accepted: only when it begins is it known whether anything is stored there.
    func possibleLosses(_ accepted: [String]) -> [SchemaChange] {
        isFirst ? [] : changes.filter { $0.loss != nil && !accepted.contains($0.path) }
    }

    /// The options that accept what would be lost.
    static func options(_ losses: [SchemaChange]) -> String { losses.map { "--accept-loss \($0.path)" }.joined(separator: " ") }

    /// Refuses a step that would lose something.
    ///
    /// - Throws: `dataLossRefused` naming what would be lost and the options that accept it.
    func refuseLosses() throws(StorageError) {
        if losses.isEmpty { return }
        let texts = losses.compactMap(\.loss).joined(separator: ", ")
        throw StorageError(.dataLossRefused, "the step \(type) would lose \(texts); accept it with \(Self.options(losses))")
    }

    /// The step for people.
    func show() {
        let objects = objectCount.map { ": \(String.counted($0, "object"))" } ?? ""
        Console.print("\(type)\(objects)")
        for change in changes { Console.print("  \(change.line)") }
        guard let lines else { return }
        Console.print("  the store would do:")
        for line in lines.isEmpty ? ["nothing but keep the new version"] : lines { Console.print("    \(line)") }
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
    /// A number with what it counts: `1 step`, `2 steps`.
    static func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
}
