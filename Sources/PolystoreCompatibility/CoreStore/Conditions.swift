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

/// The settings of a request that `Tweak` can change, with their names in Core Data.
public final class TweakedRequest {
    /// Whether the request includes uncommitted changes of the transaction.
    public var includesPendingChanges: Bool?
    /// Whether the request includes objects of subentities.
    public var includesSubentities = true
    /// The maximum number of objects, or 0 for no limit.
    public var fetchLimit = 0
    /// The number of objects to skip.
    public var fetchOffset = 0
    /// Whether objects are loaded on first use. Has no effect: objects are always fetched with their values.
    public var returnsObjectsAsFaults = true
    /// The number of objects that cursors and streams load at once, or 0 for the default. Fetches always read in batches.
    public var fetchBatchSize = 0
    /// The stored names of the attributes that are fetched; others are loaded on first use. Nil for all attributes.
    public var propertiesToFetch: [String]?
}

/// A clause that changes settings of a request just before it runs.
public struct Tweak<Object: ManagedObject>: FetchClause {
    private let change: (TweakedRequest) -> Void

    /// Creates a change of settings.
    public init(_ change: @escaping (TweakedRequest) -> Void) { self.change = change }

    /// Returns the request with the changed settings.
    public func applied(to from: From<Object>) -> From<Object> {
        let request = TweakedRequest()
        change(request)
        var result = from
        if let isIncluded = request.includesPendingChanges { result = result.includesPendingChanges(isIncluded) }
        if !request.includesSubentities { result = result.withoutSubentities() }
        if request.fetchLimit > 0 { result = result.limit(request.fetchLimit) }
        if request.fetchOffset > 0 { result = result.offset(request.fetchOffset) }
        if request.fetchBatchSize > 0 { result = result.batchSize(request.fetchBatchSize) }
        if let names = request.propertiesToFetch { result = result.properties(named: names) }
        return result
    }
}
