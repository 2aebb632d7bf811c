#if Macros
internal import PolystoreModelCode
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

    /// The destination class of a reference into another store.
    var referenced: String? {
        guard wrapped.hasPrefix("ObjectID<"), wrapped.hasSuffix(">") else { return nil }
        return String(wrapped.dropFirst("ObjectID<".count).dropLast())
    }
}
#endif
