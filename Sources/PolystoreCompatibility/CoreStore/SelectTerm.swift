internal import Foundation
public import Polystore

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

// Key paths name their class, `.maximum(\Person.age)`, because the type of a term does not. With terms of the parameters of `Select` the compiler
// would infer it, but arrays of them end the process in the runtime of Swift 6.3. Those of a chain, `.select(Int.self, .maximum(\.age))`, need not
// name it.
extension SelectTerm {
    /// Returns a term for the value of a property: `.attribute(\Person.age)`.
    public static func attribute<O: ManagedObject, V>(_ keyPath: KeyPath<O, V>) -> SelectTerm { attribute(String(keyPath: keyPath)) }

    /// Returns a term for the average, which is nil if there are no values. Its default name is `average(keyPath)`.
    public static func average<O: ManagedObject, V>(_ keyPath: KeyPath<O, V>, as alias: String? = nil) -> SelectTerm {
        average(String(keyPath: keyPath), as: alias)
    }

    /// Returns a term for the number of values, or of the destinations of a to-many relationship. Its default name is `count(keyPath)`.
    public static func count<O: ManagedObject, V>(_ keyPath: KeyPath<O, V>, as alias: String? = nil) -> SelectTerm {
        count(String(keyPath: keyPath), as: alias)
    }

    /// Returns a term for the maximum, which is nil if there are no values. Its default name is `max(keyPath)`.
    public static func maximum<O: ManagedObject, V>(_ keyPath: KeyPath<O, V>, as alias: String? = nil) -> SelectTerm {
        maximum(String(keyPath: keyPath), as: alias)
    }

    /// Returns a term for the minimum, which is nil if there are no values. Its default name is `min(keyPath)`.
    public static func minimum<O: ManagedObject, V>(_ keyPath: KeyPath<O, V>, as alias: String? = nil) -> SelectTerm {
        minimum(String(keyPath: keyPath), as: alias)
    }

    /// Returns a term for the sum, which is 0 if there are no values. Its default name is `sum(keyPath)`.
    public static func sum<O: ManagedObject, V>(_ keyPath: KeyPath<O, V>, as alias: String? = nil) -> SelectTerm {
        sum(String(keyPath: keyPath), as: alias)
    }
}
