internal import ArgumentParser
internal import Foundation
internal import Polystore
internal import PolystoreStorage

/// `polystore update`.
struct UpdateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "update", abstract: "Assigns attributes of the objects that satisfy a condition, after a confirmation.",
        discussion: """
            Example: polystore update sqlite:shop.db Product --where 'category == "tea"' --set 'price = price * 1.1' --set 'note = NIL'

            Values are computed from what each object had before. All objects are changed in one transaction, or none: the rules of the model \
            hold, versions are incremented, and the history records the change.
            """)

    @OptionGroup
    var objects: ChosenObjects

    @Option(
        name: .customLong("set"), parsing: .unconditionalSingleValue,
        help: "An attribute and its new value, such as 'age = age + 1'; can be repeated.")
    var assignments: [String] = []

    func validate() throws {
        if assignments.isEmpty { throw ValidationError("specify at least one --set 'attribute = value'") }
    }

    func run() throws {
        let assignments = try assignments.map(Self.assignment)
        let count = try objects.change("update") { transaction, from in try transaction.updateAll(from, assignments) }
        Console.print("updated \(count) objects of \(objects.entity)")
    }

    /// Parses an assignment.
    private static func assignment(_ text: String) throws -> Assignment<DynamicObject> {
        let sides = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = sides[0].trimmingCharacters(in: .whitespaces)
        guard sides.count == 2, !name.isEmpty, !sides[1].hasPrefix("=") else {
            throw ValidationError("--set takes 'attribute = value', not '\(text.excerpt())'")
        }
        do throws(QueryError) { return .set(named: name, to: try QueryExpression(parsing: String(sides[1]))) } catch {
            throw StorageError(error)
        }
    }
}
