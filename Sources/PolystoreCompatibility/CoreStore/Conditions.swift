public import Polystore

extension Where {
    /// The condition of a text in the grammar of `NSPredicate`, with arguments for its placeholders.
    public init(_ format: String, _ arguments: Any?...) { self.init(format: format, arguments: arguments) }

    /// True or false of every object.
    public init(_ value: Bool) { self.init(.constant(value)) }
}

infix operator &&? : LogicalConjunctionPrecedence
infix operator ||? : LogicalConjunctionPrecedence

extension Where {
    /// Both, where there are two.
    public static func &&? (a: Where, b: Where?) -> Where { b.map { a && $0 } ?? a }
    /// Both, where there are two.
    public static func &&? (a: Where?, b: Where) -> Where { a.map { $0 && b } ?? b }
    /// Either, where there are two.
    public static func ||? (a: Where, b: Where?) -> Where { b.map { a || $0 } ?? a }
    /// Either, where there are two.
    public static func ||? (a: Where?, b: Where) -> Where { a.map { $0 || b } ?? b }
}

extension Sequence {
    /// All of them; true of every object where there is none.
    public func combinedByAnd<O: ManagedObject>() -> Where<O> where Element == Where<O> {
        reduce(nil) { (result: Where<O>?, next) in result.map { $0 && next } ?? next } ?? Where(.constant(true))
    }

    /// One of them or more; false of every object where there is none.
    public func combinedByOr<O: ManagedObject>() -> Where<O> where Element == Where<O> {
        reduce(nil) { (result: Where<O>?, next) in result.map { $0 || next } ?? next } ?? Where(.constant(false))
    }
}

/// The settings of a request that `Tweak` can change, by their names in Core Data.
public final class TweakedRequest {
    /// Whether uncommitted changes of the transaction are seen.
    public var includesPendingChanges: Bool?
    /// Whether objects of sub-entities are included.
    public var includesSubentities = true
    /// The greatest number of objects; 0 for no limit.
    public var fetchLimit = 0
    /// The number of objects to leave out at the beginning.
    public var fetchOffset = 0
    /// Whether objects are loaded when they are first used; here they come with their values in any case.
    public var returnsObjectsAsFaults = true
    /// How many objects cursors and streams load at once; 0 for what is usual. Fetches read in batches in any case.
    public var fetchBatchSize = 0
    /// The stored names of the attributes that objects are loaded with, the others when they are first used; nil for all.
    public var propertiesToFetch: [String]?
}

/// Changes settings of a request just before it runs.
public struct Tweak<Object: ManagedObject>: FetchClause {
    private let change: (TweakedRequest) -> Void

    /// A change of settings.
    public init(_ change: @escaping (TweakedRequest) -> Void) { self.change = change }

    /// The request with the settings.
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
