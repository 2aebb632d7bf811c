internal import Foundation
public import Polystore

extension Select {
    /// A value that a query requests by a key path: `Select<Person, Int>(.maximum(\.age))`.
    public struct KeyPathTerm: Sendable, Hashable, ExpressibleByStringLiteral {
        let term: SelectTerm

        fileprivate init(_ term: SelectTerm) { self.term = term }

        /// Creates a term for the value of a property, given by its stored name.
        @_disfavoredOverload
        public init(stringLiteral keyPath: String) { self.init(.attribute(keyPath)) }
    }
}

extension Select.KeyPathTerm {
    /// Returns a term for the value of a property.
    public static func attribute<O: ManagedObject, R, V>(_ keyPath: KeyPath<O, V>) -> Select<O, R>.KeyPathTerm {
        Select<O, R>.KeyPathTerm(.attribute(String(keyPath: keyPath)))
    }

    /// Returns a term for the average, which is nil if there are no values. Its default name is `average(keyPath)`.
    public static func average<O: ManagedObject, R, V>(_ keyPath: KeyPath<O, V>, as alias: String? = nil) -> Select<O, R>.KeyPathTerm {
        Select<O, R>.KeyPathTerm(.average(String(keyPath: keyPath), as: alias))
    }

    /// Returns a term for the number of values, or of the destinations of a to-many relationship. Its default name is `count(keyPath)`.
    public static func count<O: ManagedObject, R, V>(_ keyPath: KeyPath<O, V>, as alias: String? = nil) -> Select<O, R>.KeyPathTerm {
        Select<O, R>.KeyPathTerm(.count(String(keyPath: keyPath), as: alias))
    }

    /// Returns a term for the maximum, which is nil if there are no values. Its default name is `max(keyPath)`.
    public static func maximum<O: ManagedObject, R, V>(_ keyPath: KeyPath<O, V>, as alias: String? = nil) -> Select<O, R>.KeyPathTerm {
        Select<O, R>.KeyPathTerm(.maximum(String(keyPath: keyPath), as: alias))
    }

    /// Returns a term for the minimum, which is nil if there are no values. Its default name is `min(keyPath)`.
    public static func minimum<O: ManagedObject, R, V>(_ keyPath: KeyPath<O, V>, as alias: String? = nil) -> Select<O, R>.KeyPathTerm {
        Select<O, R>.KeyPathTerm(.minimum(String(keyPath: keyPath), as: alias))
    }

    /// Returns a term for the sum, which is 0 if there are no values. Its default name is `sum(keyPath)`.
    public static func sum<O: ManagedObject, R, V>(_ keyPath: KeyPath<O, V>, as alias: String? = nil) -> Select<O, R>.KeyPathTerm {
        Select<O, R>.KeyPathTerm(.sum(String(keyPath: keyPath), as: alias))
    }
}
