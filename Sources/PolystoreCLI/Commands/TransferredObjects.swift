internal import ArgumentParser
internal import PolystoreStorage
internal import PolystoreTransfer

/// The part of a store that a command copies.
struct TransferredObjects: ParsableArguments {
    @Option(
        parsing: .unconditionalSingleValue, help: "Copy only the objects of this entity and its sub-entities; can be repeated.",
        completion: ShellCompletion.entity)
    var only: [String] = []

    @Option(
        parsing: .unconditionalSingleValue, help: "Do not copy the objects of this entity and its sub-entities; can be repeated.",
        completion: ShellCompletion.entity)
    var except: [String] = []

    @Option(
        name: .customLong("where"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "Copy only those objects of an entity that satisfy a condition, such as 'Order: total > 100'; can be repeated.",
            valueName: "entity: condition"))
    var conditions: [String] = []

    @Flag(help: "Also copy the objects to which copied objects refer by to-one relationships.")
    var closure = false

    func validate() throws {
        if let both = only.first(where: except.contains) { throw ValidationError("--only and --except both name \(both)") }
        if closure, only.isEmpty, except.isEmpty, conditions.isEmpty {
            throw ValidationError("--closure completes the objects of --only, --except or --where")
        }
    }

    /// Returns the selection of the objects.
    func selection() throws -> TransferSelection {
        var selection = TransferSelection()
        if !only.isEmpty { selection.only = Set(only) }
        selection.except = Set(except)
        selection.followsReferences = closure
        for condition in conditions {
            let parts = condition.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map {
                String($0.drop { $0 == " " })
            }
            guard parts.count == 2, !parts[0].isEmpty else {
                throw ValidationError("--where '\(condition.excerpt())' needs an entity and a condition: 'Order: total > 100'")
            }
            let entity = parts[0].reversed().drop { $0 == " " }.reversed().map(String.init).joined()
            if selection.conditions[entity] != nil { throw ValidationError("--where has two conditions for \(entity); join them with AND") }
            selection.conditions[entity] = try ChosenObjects.parsed(parts[1], "--where") { text throws(QueryError) in
                try QueryPredicate(parsing: text)
            }
        }
        return selection
    }
}
