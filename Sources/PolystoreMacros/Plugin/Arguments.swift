#if Macros
internal import SwiftParser
internal import SwiftSyntax

/// The arguments of an attribute, by label. A macro sees only their text, so an argument whose value it needs must be a literal.
struct Arguments {
    private var labelled: [String: ExprSyntax] = [:]
    private(set) var unlabelled: [ExprSyntax] = []

    init(_ node: AttributeSyntax) {
        for argument in node.arguments?.as(LabeledExprListSyntax.self) ?? [] {
            if let label = argument.label?.text { labelled[label] = argument.expression } else { unlabelled.append(argument.expression) }
        }
    }

    subscript(label: String) -> ExprSyntax? { labelled[label].flatMap { $0.is(NilLiteralExprSyntax.self) ? nil : $0 } }

    /// Returns the text of a string literal.
    func text(_ label: String) throws(ModelProblem) -> String? {
        guard let expression = self[label] else { return nil }
        guard let text = expression.as(StringLiteralExprSyntax.self)?.representedLiteralValue else {
            throw ModelProblem(expression, "\(label) must be a string literal: a macro cannot evaluate names")
        }
        return text
    }

    /// Returns the value of a Boolean literal.
    func flag(_ label: String) throws(ModelProblem) -> Bool {
        guard let expression = self[label] else { return false }
        guard let literal = expression.as(BooleanLiteralExprSyntax.self) else {
            throw ModelProblem(expression, "\(label) must be true or false: a macro cannot evaluate names")
        }
        return literal.literal.text == "true"
    }

    /// Returns the name of a case, written with or without its type.
    func name(_ label: String) throws(ModelProblem) -> String? {
        guard let expression = self[label] else { return nil }
        guard let name = expression.as(MemberAccessExprSyntax.self)?.declName.baseName.text else {
            throw ModelProblem(expression, "\(label) must be a case, such as .cascade: a macro cannot evaluate names")
        }
        return name
    }
}
#endif
