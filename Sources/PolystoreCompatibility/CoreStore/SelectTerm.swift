internal import Foundation
internal import Polystore

/// A value that a query in the form of CoreStore requests: a key path or an aggregate.
public struct SelectTerm: Sendable, Hashable, ExpressibleByStringLiteral {
    let text: String
    let alias: String?

    private init(_ text: String, _ alias: String?) {
        self.text = text
        self.alias = alias
    }

    private init(_ function: String, _ keyPath: String, _ alias: String) { self.init("@\(function)(\(keyPath))", alias) }

    /// Creates a term for the value of a key path.
    public init(stringLiteral keyPath: String) { self.init(keyPath, nil) }
    /// Returns a term for the value of a key path.
    public static func attribute(_ keyPath: String) -> SelectTerm { SelectTerm(keyPath, nil) }
    /// Returns a term for the average, which is nil if there are no values. Its default name is `average(keyPath)`.
    public static func average(_ keyPath: String, as alias: String? = nil) -> SelectTerm {
        SelectTerm("avg", keyPath, alias ?? "average(\(keyPath))")
    }
    /// Returns a term for the number of values, or for the number of destinations of a to-many relationship. Its default name is
    /// `count(keyPath)`.
    public static func count(_ keyPath: String, as alias: String? = nil) -> SelectTerm {
        SelectTerm("count", keyPath, alias ?? "count(\(keyPath))")
    }
    /// Returns a term for the maximum, which is nil if there are no values. Its default name is `max(keyPath)`.
    public static func maximum(_ keyPath: String, as alias: String? = nil) -> SelectTerm {
        SelectTerm("max", keyPath, alias ?? "max(\(keyPath))")
    }
    /// Returns a term for the minimum, which is nil if there are no values. Its default name is `min(keyPath)`.
    public static func minimum(_ keyPath: String, as alias: String? = nil) -> SelectTerm {
        SelectTerm("min", keyPath, alias ?? "min(\(keyPath))")
    }
    /// Returns a term for the sum, which is 0 if there are no values. Its default name is `sum(keyPath)`.
    public static func sum(_ keyPath: String, as alias: String? = nil) -> SelectTerm {
        SelectTerm("sum", keyPath, alias ?? "sum(\(keyPath))")
    }
    /// Returns a term for the identity of the object, an `ObjectID`. Its default name is `objectID`.
    ///
    /// The query is `unsupported` if several stores hold the entity: specify a configuration, or fetch with `fetchObjectIDs`.
    public static func objectID(as alias: String? = nil) -> SelectTerm { SelectTerm("SELF", alias ?? "objectID") }
}
