#if Macros
internal import PolystoreModelCode
internal import PolystoreSchema
internal import SwiftParser
internal import SwiftSyntax

/// The type of a property as written.
struct ModelType {
    let text: String
    /// The type without an optional around it.
    let wrapped: String

    init(_ type: TypeSyntax) {
        text = Self.shortened(type.trimmedDescription)
        wrapped = text.hasSuffix("?") ? String(text.dropLast()) : text
    }

    /// Returns the short form of a type, such as `T?` for `Optional<T>` and `Set<T>` for `Swift.Set<T>`, because expansions examine the
    /// text.
    private static func shortened(_ text: String) -> String {
        let plain = text.hasPrefix("Swift.") ? String(text.dropFirst("Swift.".count)) : text
        if plain.hasPrefix("Optional<"), plain.hasSuffix(">") {
            return shortened(String(plain.dropFirst("Optional<".count).dropLast())) + "?"
        }
        if plain.hasPrefix("Array<"), plain.hasSuffix(">") { return "[\(plain.dropFirst("Array<".count).dropLast())]" }
        return plain.hasSuffix("!") ? plain.dropLast() + "?" : plain
    }

    var isSet: Bool { text.hasPrefix("Set<") && text.hasSuffix(">") }

    /// The kind and the destination class of a relationship of this type.
    var relationship: (ModelClass.Property.Kind, String)? {
        if text.hasSuffix("?") { return (.toOne, wrapped) }
        if isSet { return (.toMany, String(text.dropFirst(4).dropLast())) }
        if text.hasPrefix("["), text.hasSuffix("]") { return (.toManyOrdered, String(text.dropFirst().dropLast())) }
        return nil
    }

    /// The type without the optional, if it is an optional set, or list, of something else than attribute values.
    var optionalToMany: String? {
        guard text.hasSuffix("?"), !Self.isValue(wrapped) else { return nil }
        let isSet = wrapped.hasPrefix("Set<") && wrapped.hasSuffix(">")
        let isList = wrapped.hasPrefix("[") && wrapped.hasSuffix("]") && !wrapped.contains(":")
        return isSet || isList ? wrapped : nil
    }

    /// The element type of a set, optional or not, if the element is an attribute type, which is not a model class.
    var setOfValues: String? {
        guard wrapped.hasPrefix("Set<"), wrapped.hasSuffix(">") else { return nil }
        let element = String(wrapped.dropFirst(4).dropLast())
        return Self.isValue(element) ? element : nil
    }

    /// Whether a type, as written, is an attribute type of the library, or an optional or array of one.
    static func isValue(_ text: String) -> Bool {
        let text = shortened(text)
        if text.hasSuffix("?") { return isValue(String(text.dropLast())) }
        if text.hasPrefix("["), text.hasSuffix("]") { return isValue(String(text.dropFirst().dropLast())) }
        return valueNames.contains(text.hasPrefix("Foundation.") ? String(text.dropFirst("Foundation.".count)) : text)
    }

    private static let valueNames = Set(ValueType.allCases.map(\.swiftName) + ["Int64"])

    /// Returns the type of a literal or of an initializer of an attribute type of the library, such as `UUID()` and `Date.now`; nil for other
    /// expressions, whose types only the compiler knows.
    static func inferred(from expression: ExprSyntax) -> TypeSyntax? {
        let name: String?
        switch expression.as(ExprSyntaxEnum.self) {
        case .booleanLiteralExpr: name = "Bool"
        case .integerLiteralExpr: name = "Int"
        case .floatLiteralExpr: name = "Double"
        case .stringLiteralExpr: name = "String"
        case .prefixOperatorExpr(let negated) where negated.operator.text == "-": return inferred(from: negated.expression)
        case .functionCallExpr(let call): name = Self.valueName(call.calledExpression)
        case .memberAccessExpr(let access) where ownMembers.contains(access.declName.baseName.text):
            name = access.base.flatMap(Self.valueName)
        default: name = nil
        }
        return name.map { TypeSyntax(IdentifierTypeSyntax(name: .identifier($0))) }
    }

    /// Static members of attribute types that are values of the type.
    private static let ownMembers: Set = ["now", "distantPast", "distantFuture", "min", "max", "zero"]

    /// Returns the name of an attribute type of the library that an expression is.
    private static func valueName(_ expression: ExprSyntax) -> String? {
        guard let name = expression.as(DeclReferenceExprSyntax.self)?.baseName.text, valueNames.contains(name) else { return nil }
        return name
    }

    /// Whether a type is a function or a tuple, optional or not, which cannot conform to a protocol.
    static func isFunctionOrTuple(_ type: TypeSyntax) -> Bool {
        if let optional = type.as(OptionalTypeSyntax.self) { return isFunctionOrTuple(optional.wrappedType) }
        guard let tuple = type.as(TupleTypeSyntax.self) else { return type.is(FunctionTypeSyntax.self) }
        guard tuple.elements.count == 1, let only = tuple.elements.first?.type else { return true }
        return isFunctionOrTuple(only)
    }

    /// The destination class of a reference into another store.
    var referenced: String? {
        guard wrapped.hasPrefix("ObjectID<"), wrapped.hasSuffix(">") else { return nil }
        return String(wrapped.dropFirst("ObjectID<".count).dropLast())
    }
}
#endif
