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
        help: "An attribute and its new value, such as 'age = age + 1'; can be repeated.", completion: ShellCompletion.property)
    var assignments: [String] = []

    func validate() throws {
        if assignments.isEmpty { throw ValidationError("specify at least one --set 'attribute = value'") }
    }

    func run() throws {
        let texts = try assignments.map(Self.sides)
        for (index, text) in texts.enumerated() where texts[..<index].contains(where: { $0.name == text.name }) {
            throw ValidationError("--set \(text.name) is given twice, and only one value can be used")
        }
        let count = try objects.change("update") { stack, from in
            let slots = stack.schema.index(of: objects.entity).map { stack.schema[$0].slots } ?? []
            let assignments = try texts.map { name, text in
                try Self.assignment(name, text, slots.first { $0.name == name }?.attribute?.type)
            }
            try stack.checkUpdate(from, assignments)
            return ({ transaction, from in try transaction.updateAll(from, assignments) }, "")
        }
        objects.report(count, "updated \(Console.counted(count)) of \(objects.entity)")
    }

    /// Divides the text of an assignment.
    private static func sides(_ text: String) throws -> (name: String, value: String) {
        let sides = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = sides[0].trimmingCharacters(in: .whitespaces)
        guard sides.count == 2, !name.isEmpty, !sides[1].hasPrefix("=") else {
            throw ValidationError("--set takes 'attribute = value', not '\(text.excerpt())'")
        }
        return (name, String(sides[1]))
    }

    /// Parses the value of an assignment. Numbers are numbers of the attribute's type: `price * 1.1` is exact if the price is a decimal.
    private static func assignment(_ name: String, _ text: String, _ type: ValueType?) throws -> Assignment<DynamicObject> {
        let value = try ChosenObjects.parsed(text, "--set \(name) =") { text throws(QueryError) in
            let value = try QueryExpression(parsing: text)
            return try type.map { type throws(QueryError) in try value.numbers(for: type) } ?? value
        }
        return .set(named: name, to: value)
    }
}
