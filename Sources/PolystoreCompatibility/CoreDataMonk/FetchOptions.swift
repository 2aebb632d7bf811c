public import Polystore

/// Options of a CoreDataMonk request, combined with `|`.
public struct FetchOptions<Object: ManagedObject>: Sendable {
    private let apply: @Sendable (From<Object>) -> From<Object>

    private init(_ apply: @escaping @Sendable (From<Object>) -> From<Object>) { self.apply = apply }

    func applied(to from: From<Object>) -> From<Object> { apply(from) }

    /// Combines two options.
    public static func | (a: FetchOptions, b: FetchOptions) -> FetchOptions { FetchOptions { b.apply(a.apply($0)) } }
    /// Limits the number of objects.
    public static func limit(_ count: Int) -> FetchOptions { FetchOptions { $0.limit(count) } }
    /// Skips the given number of objects.
    public static func offset(_ count: Int) -> FetchOptions { FetchOptions { $0.offset(count) } }
    /// Sets the number of objects that a cursor or a stream reads at once.
    public static func batch(_ count: Int) -> FetchOptions { FetchOptions { $0.batchSize(count) } }
    /// Excludes objects of subentities.
    public static var noSubEntities: FetchOptions { FetchOptions { $0.withoutSubentities() } }
    /// Excludes uncommitted changes.
    public static var noPendingChanges: FetchOptions { FetchOptions { $0.includesPendingChanges(false) } }
    /// Prefetches the destinations of relationships.
    public static func prefetch(_ keyPaths: [String]) -> FetchOptions { FetchOptions { $0.prefetch(named: keyPaths) } }
    /// Changes settings of the request.
    public static func tweak(_ change: @escaping @Sendable (TweakedRequest) -> Void) -> FetchOptions {
        FetchOptions { Tweak<Object>(change).applied(to: $0) }
    }
}
