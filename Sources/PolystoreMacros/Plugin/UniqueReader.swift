#if Macros
internal import PolystoreModelCode
internal import PolystoreSchema
internal import SwiftParser
internal import SwiftSyntax

/// Reads the unique constraints in the arguments of `@Model`. They must be literals, because a macro sees only their text.
struct UniqueReader {
    /// The class whose properties the names must be; nil if its properties are not all known.
    private let model: ModelClass?

    init(_ model: ModelClass?) { self.model = model }

    /// Returns the constraints as lists of stored names.
    func constraints(in argument: ExprSyntax?) throws(ModelProblem) -> [[String]] {
        guard let argument else { return [] }
        guard let list = argument.as(ArrayExprSyntax.self) else { throw problem(argument) }
        return try list.elements.map { element throws(ModelProblem) in
            guard let names = element.expression.as(ArrayExprSyntax.self) else { throw problem(element.expression) }
            return try names.elements.map { element throws(ModelProblem) in try name(element.expression) }
        }
    }

    private func problem(_ expression: ExprSyntax) -> ModelProblem {
        ModelProblem(expression, "the unique constraints of a model must be literals, such as [[\"city\", \"street\"]]")
    }

    private func name(_ expression: ExprSyntax) throws(ModelProblem) -> String {
        guard let name = expression.as(StringLiteralExprSyntax.self)?.representedLiteralValue else { throw problem(expression) }
        guard let model else { return name }
        let slots = model.properties.filter { [.attribute, .toOne].contains($0.kind) }
        if slots.contains(where: { $0.key == name }) { return name }
        if let property = model.properties.first(where: { $0.name == name && $0.key != name }) {
            throw ModelProblem(expression, "a unique constraint contains stored names: \(name) is stored as \"\(property.key)\"")
        }
        if model.properties.contains(where: { $0.key == name }) {
            throw ModelProblem(expression, "a unique constraint cannot contain the to-many relationship \(name)")
        }
        throw ModelProblem(expression, "\(model.name) has no property \"\(name)\"\(Suggestion.nearestOrAll(name, of: slots.map(\.key)))")
    }
}
#endif
