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
