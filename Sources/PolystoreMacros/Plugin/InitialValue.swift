#if Macros
internal import PolystoreSchema
internal import SwiftSyntax

/// The initial value of an attribute, as an expression.
///
/// A value that is the same for all objects is part of the declaration, so that a migration can fill rows with it. A macro does not know
/// the behavior of a function: an expression that calls one is evaluated for each object, unless the call only creates a value of a type,
/// such as `Decimal(5)`.
struct InitialValue {
    /// Types whose values depend on the time of evaluation, with the labels of the initialisers for which this is not the case.
    private static let changing: [String: Set<String>] = [
        "Date": ["timeIntervalSince1970", "timeIntervalSinceReferenceDate"], "UUID": ["uuidString", "uuid"],
    ]

    /// Other types whose initialisers depend only on their arguments.
    private static let constant = Set(ValueType.allCases.map(\.swiftName)).union(["Array", "Int64", "Set"])

    /// Whether the value is computed for each object.
    let isPerObject: Bool

    init(_ expression: ExprSyntax, of type: String) {
        let finder = Finder(type)
        finder.walk(expression)
        isPerObject = finder.found
    }

    private final class Finder: SyntaxVisitor {
        private let type: String
        private(set) var found = false

        init(_ type: String) {
            self.type = type
            super.init(viewMode: .sourceAccurate)
        }

        override func visit(_ call: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
            let callee = call.calledExpression
            let name = Self.lastName(callee)
            let made = name == "init" ? callee.as(MemberAccessExprSyntax.self)?.base.flatMap(Self.lastName) ?? type : name
            let label = call.arguments.first?.label?.text
            let isMade: Bool =
                if let made, let labels = InitialValue.changing[made] {
                    label.map(labels.contains) ?? false
                } else {
                    made == type.split(separator: ".").last.map(String.init) || made.map(InitialValue.constant.contains) ?? false
                        || call.calledExpression.is(ArrayExprSyntax.self)
                }
            if !isMade || call.trailingClosure != nil { found = true }
            return .visitChildren
        }

        override func visit(_ access: MemberAccessExprSyntax) -> SyntaxVisitorContinueKind {
            if access.declName.baseName.text == "now" { found = true }
            return .visitChildren
        }

        override func visit(_ call: MacroExpansionExprSyntax) -> SyntaxVisitorContinueKind {
            found = true
            return .skipChildren
        }

        private static func lastName(_ expression: ExprSyntax) -> String? {
            expression.as(DeclReferenceExprSyntax.self)?.baseName.text ?? expression.as(MemberAccessExprSyntax.self)?.declName.baseName.text
        }
    }
}
#endif
