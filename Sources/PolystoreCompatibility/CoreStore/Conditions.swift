public import Polystore

extension Where {
    /// Creates the condition of a text in the grammar of `NSPredicate`, with arguments for its placeholders.
    public init(_ format: String, _ arguments: Any?...) { self.init(format: format, arguments: arguments) }

    /// Creates a condition that is true or false for every object.
    public init(_ value: Bool) { self.init(.constant(value)) }
}

infix operator &&? : LogicalConjunctionPrecedence
infix operator ||? : LogicalConjunctionPrecedence

extension Where {
    /// Returns the conjunction of two conditions, or the first one if the second is nil.
    public static func &&? (a: Where, b: Where?) -> Where { b.map { a && $0 } ?? a }
    /// Returns the conjunction of two conditions, or the second one if the first is nil.
    public static func &&? (a: Where?, b: Where) -> Where { a.map { $0 && b } ?? b }
    /// Returns the disjunction of two conditions, or the first one if the second is nil.
    public static func ||? (a: Where, b: Where?) -> Where { b.map { a || $0 } ?? a }
    /// Returns the disjunction of two conditions, or the second one if the first is nil.
    public static func ||? (a: Where?, b: Where) -> Where { a.map { $0 || b } ?? b }
}

extension Sequence {
    /// Returns the conjunction of all conditions, which is true for every object if there are none.
    public func combinedByAnd<O: ManagedObject>() -> Where<O> where Element == Where<O> {
        reduce(nil) { (result: Where<O>?, next) in result.map { $0 && next } ?? next } ?? Where(.constant(true))
    }

    /// Returns the disjunction of all conditions, which is false for every object if there are none.
    public func combinedByOr<O: ManagedObject>() -> Where<O> where Element == Where<O> {
        reduce(nil) { (result: Where<O>?, next) in result.map { $0 || next } ?? next } ?? Where(.constant(false))
    }
}
