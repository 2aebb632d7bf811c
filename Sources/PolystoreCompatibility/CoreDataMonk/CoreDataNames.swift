public import Polystore

/// The condition of CoreDataMonk.
public typealias CoreDataQuery<Object: ManagedObject> = Where<Object>

/// The order of CoreDataMonk.
public typealias CoreDataOrderBy<Object: ManagedObject> = OrderBy<Object>

/// The options of CoreDataMonk.
public typealias CoreDataQueryOptions = FetchOptions

/// The key path of CoreDataMonk.
public typealias CoreDataQueryKey = MonkKey

/// The values that a query of CoreDataMonk requests.
public typealias CoreDataSelect = QueryTargets
