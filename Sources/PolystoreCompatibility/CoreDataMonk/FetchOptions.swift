internal import Polystore

/// Options of a CoreDataMonk request, combined with `|`. A later option replaces an earlier one of the same kind.
public struct FetchOptions: Sendable {
    private enum Option: Sendable {
        case limit(Int)
        case offset(Int)
        case batch(Int)
        case withoutSubentities
        case withoutPendingChanges
        case prefetch([String])
        case properties([String])
        case distinct
        case tweak(@Sendable (TweakedRequest) -> Void)

        func applied<Object>(to from: From<Object>) -> From<Object> {
            switch self {
            case .limit(let count): from.limit(count)
            case .offset(let count): from.offset(count)
            case .batch(let count): from.batchSize(count)
            case .withoutSubentities: from.withoutSubentities()
            case .withoutPendingChanges: from.includesPendingChanges(false)
            case .prefetch(let keyPaths): from.prefetch(named: keyPaths)
            case .properties(let names): from.properties(named: names)
            case .distinct: from
            case .tweak(let change): Tweak<Object>(change).applied(to: from)
            }
        }
    }

    private let options: [Option]

    private init(_ option: Option) { options = [option] }

    private init(_ options: [Option]) { self.options = options }

    func applied<Object>(to from: From<Object>) -> From<Object> { options.reduce(from) { $1.applied(to: $0) } }

    /// Whether a query omits duplicate rows.
    var isDistinct: Bool { options.contains { if case .distinct = $0 { true } else { false } } }

    /// Combines two lists of options.
    public static func | (a: FetchOptions, b: FetchOptions) -> FetchOptions { FetchOptions(a.options + b.options) }
    /// Limits the number of objects.
    public static func limit(_ count: Int) -> FetchOptions { FetchOptions(.limit(count)) }
    /// Skips the given number of objects.
    public static func offset(_ count: Int) -> FetchOptions { FetchOptions(.offset(count)) }
    /// Sets the number of objects that a cursor or a stream reads at once. A number below 1 is refused.
    public static func batch(_ count: Int) -> FetchOptions { FetchOptions(.batch(count)) }
    /// Excludes objects of subentities.
    public static var noSubEntities: FetchOptions { FetchOptions(.withoutSubentities) }
    /// Excludes uncommitted changes of an update.
    public static var noPendingChanges: FetchOptions { FetchOptions(.withoutPendingChanges) }
    /// Fetches no attribute. The first access to an attribute of an object loads all of them. Queries ignore the option.
    public static var noPropertyValues: FetchOptions { FetchOptions(.properties([])) }
    /// Fetches only these attributes. The first access to another attribute of an object loads all others. Queries ignore the option.
    public static func propertiesOnly(_ names: [String]) -> FetchOptions { FetchOptions(.properties(names)) }
    /// Prefetches the destinations of relationships.
    public static func prefetch(_ keyPaths: [String]) -> FetchOptions { FetchOptions(.prefetch(keyPaths)) }
    /// Omits duplicate rows of a query. Objects are always distinct.
    public static var distinct: FetchOptions { FetchOptions(.distinct) }
    /// Changes settings of the request.
    public static func tweak(_ change: @escaping @Sendable (TweakedRequest) -> Void) -> FetchOptions { FetchOptions(.tweak(change)) }
}
