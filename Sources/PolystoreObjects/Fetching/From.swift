public import PolystoreFoundation
internal import PolystoreStorage

/// A fetch request: a class and, in CoreStore's chained form, the condition, the order and the number of objects.
/// ```swift
/// From<Person>().where(\.age > 30).orderBy(.ascending(\.name)).limit(10)
/// ```
/// A value that can be sent and kept.
public struct From<Object: ManagedObject>: Sendable {
    /// The configurations whose stores are read, with nil for the one that holds all entities; nil for every store that holds the objects.
    public package(set) var configurations: [String?]?
    package var entityName: String?
    package var predicate: QueryPredicate?
    package var sort: [OrderTerm] = []
    package var limit: Int?
    package var offset = 0
    package var includesSubentities = true
    package var prefetched: [PropertyPath] = []
    package var properties: [PropertyPath]?
    /// Whether pending changes are included; nil for the default: fetches include the changes of their transaction, queries do not.
    package var includesPendingChanges: Bool?
    var isStoreOnly = false
    package var batchSize = 256
    package var problem: StorageError?

    /// Creates a request for all objects of the class, in every store that holds them.
    public init() {}

    /// Creates a request for all objects of the class in the stores of a configuration; nil is the one that holds all entities.
    public init(_ configuration: String?) { configurations = [configuration] }

    /// Creates a request for the objects of an entity by its stored name, for `DynamicObject`s.
    public init(entity: String) { entityName = entity }

    /// Creates a request for the objects of an entity by its stored name in the stores of a configuration; nil is the one that holds all
    /// entities.
    public init(entity: String, _ configuration: String?) {
        entityName = entity
        configurations = [configuration]
    }

    /// The request for all objects of the same class or entity, in the same stores.
    package var everything: From {
        var copy = From()
        copy.configurations = configurations
        copy.entityName = entityName
        copy.includesSubentities = includesSubentities
        return copy
    }

    /// Returns the request restricted to objects that satisfy a condition. Several conditions must all hold.
    public func `where`(_ condition: Where<Object>) -> From {
        var copy = self
        copy.predicate = predicate.map { $0 && condition.predicate } ?? condition.predicate
        copy.problem = problem ?? condition.problem
        return copy
    }

    /// Returns the request restricted to objects that satisfy a condition of Foundation: `.where(#Predicate { $0.age > 30 })`.
    public func `where`(_ predicate: Predicate<Object>) -> From { self.where(Where(predicate)) }

    /// Explains how a condition is written.
    @available(*, unavailable, message: "stores do not run closures; write where(\\.age > 30), or where(#Predicate { $0.age > 30 })")
    public func `where`(_ condition: (Object) -> Bool) -> From { self }

    /// Returns the request sorted by these properties in ascending order, after the keys given before: `.orderBy(\.name, \.age)`.
    public func orderBy<First, each Further>(
        _ first: KeyPath<Object, First>, _ further: repeat KeyPath<Object, each Further>
    ) -> From {
        var copy = orderBy(.ascending(first))
        for keyPath in repeat each further { copy = copy.orderBy(.ascending(keyPath)) }
        return copy
    }

    /// Returns the request sorted by these keys, after those given before.
    public func orderBy(_ keys: OrderBy<Object>...) -> From { orderBy(keys) }

    /// Returns the request sorted by a list of keys, which the program chooses when it runs, after those given before.
    public func orderBy(_ keys: [OrderBy<Object>]) -> From {
        var copy = self
        copy.sort += keys.flatMap(\.terms)
        copy.problem = problem ?? keys.lazy.compactMap(\.problem).first
        return copy
    }

    /// Returns the request with the destinations of a relationship, loaded by one lookup: `.prefetch(\.owner?.children)`.
    public func prefetch<Property>(_ relationship: KeyPath<Object, Property>) -> From {
        var copy = self
        do throws(StorageError) {
            copy.prefetched.append(try KeyPathProbe.names(readBy: relationship))
        } catch {
            copy.problem = problem ?? error
        }
        return copy
    }

    /// Returns the request with the destinations of a to-many relationship and with further relationships of these objects:
    /// `.prefetch(\.posts) { $0.prefetch(\.tags) }`.
    ///
    /// - Parameter further: Adds relationships to a request for the destinations. All destinations are loaded: any other change of the request
    ///   is `invalidPredicate`, which the fetch throws.
    public func prefetch<Members: RelatedObjects>(
        _ relationship: KeyPath<Object, Members>, _ further: (From<Members.Member>) -> From<Members.Member>
    ) -> From { prefetch(relationship, further(From<Members.Member>())) }

    /// Returns the request with the destinations of a to-many relationship of a destination, and with further relationships of these objects:
    /// `.prefetch(\.blog?.posts) { $0.prefetch(\.tags) }`.
    public func prefetch<Members: RelatedObjects>(
        _ relationship: KeyPath<Object, Members?>, _ further: (From<Members.Member>) -> From<Members.Member>
    ) -> From { prefetch(relationship, further(From<Members.Member>())) }

    private func prefetch<Member>(_ relationship: KeyPath<Object, some Any>, _ further: From<Member>) -> From {
        var copy = prefetch(relationship)
        if let problem = copy.problem ?? further.problem ?? further.otherThanPrefetched {
            copy.problem = problem
        } else if let path = copy.prefetched.last {
            copy.prefetched += further.prefetched.map { PropertyPath(path.names + $0.names) }
        }
        return copy
    }

    /// The error of a request that does more than prefetch relationships of all objects; nil if it does not.
    private var otherThanPrefetched: StorageError? {
        let isPlain = predicate == nil && sort.isEmpty && limit == nil && offset == 0 && properties == nil && includesSubentities
        return isPlain
            ? nil
            : StorageError(
                .invalidPredicate, "a prefetch loads all objects of the relationship: its closure can only add relationships with prefetch")
    }

    /// Returns the request as `prefetch(_:)` does, with relationships by their stored names.
    public func prefetch(named keyPaths: [String]) -> From {
        var copy = self
        copy.prefetched += keyPaths.map { PropertyPath($0) }
        return copy
    }

    /// Returns the request for objects with only these attributes, and all references: `.properties(\.name, \.age)`.
    ///
    /// The other attributes of an object are faults, which the first access to one of them loads together. The object keeps its initial
    /// version until it is refreshed. An object that its context already has, and one that is fetched by its id, has all attributes.
    public func properties<each Property>(_ keyPath: repeat KeyPath<Object, each Property>) -> From {
        var copy = self
        do throws(StorageError) {
            for keyPath in repeat each keyPath { copy.properties = (copy.properties ?? []) + [try KeyPathProbe.names(readBy: keyPath)] }
        } catch {
            copy.problem = problem ?? error
        }
        return copy
    }

    /// Returns the request as `properties(_:)` does, with attributes by their stored names.
    public func properties(named names: [String]) -> From {
        var copy = self
        copy.properties = (properties ?? []) + names.map { PropertyPath($0) }
        return copy
    }

    /// Returns the request for at most this number of objects.
    public func limit(_ count: Int) -> From {
        var copy = self
        copy.limit = count
        return copy
    }

    /// Returns the request without this number of objects at the beginning.
    public func offset(_ count: Int) -> From {
        var copy = self
        copy.offset = count
        return copy
    }

    /// Returns the request with the number of objects that cursors and streams read at a time, or fewer of more than 4 MB; the default is
    /// 256. Other methods return all objects at once, and ignore it.
    public func batchSize(_ count: Int) -> From {
        var copy = self
        copy.batchSize = count
        if count < 1 { copy.problem = problem ?? StorageError(.invalidPredicate, "the batch size must be at least 1, not \(count)") }
        return copy
    }

    /// Returns the request without objects of sub-entities.
    public func withoutSubentities() -> From {
        var copy = self
        copy.includesSubentities = false
        return copy
    }

    /// Returns the request with a setting for uncommitted changes of the transaction. By default fetches include them and queries for
    /// values do not.
    ///
    /// If they are excluded, conditions and orders apply to committed data. The objects are those of the transaction, with its assignments,
    /// and without those that it deleted. Counts and ids cover all committed objects.
    public func includesPendingChanges(_ isIncluded: Bool) -> From {
        var copy = self
        copy.includesPendingChanges = isIncluded
        return copy
    }

    func entity(_ model: StackModel) throws(StorageError) -> EntityIndex {
        guard let entityName else { return try model.entity(of: Object.self) }
        if let index = model.schema.index(of: entityName) {
            if Object.self == ManagedObject.self || model.types[index] is Object.Type { return index }
            throw StorageError(
                .invalidPredicate,
                "the objects of \(entityName) have the class \(model.types[index]), which is not \(Object.self) or a subclass of it",
                details: .init(entity: entityName))
        }
        throw StorageError(
            .invalidPredicate,
            "the model has no entity \"\(entityName)\"\(Suggestion.nearest(entityName, in: model.schema.entities.map(\.name)))")
    }

    package func plan(_ model: StackModel) throws(StorageError) -> FetchPlan {
        let request = try request(model)
        do throws(QueryError) { return try request.plan(in: model.schema) } catch { throw StorageError(error) }
    }

    /// Returns the plan of a fetch that creates objects.
    func objectPlan(_ model: StackModel) throws(StorageError) -> FetchPlan {
        var plan = try plan(model)
        guard let properties else { return plan }
        let entity = model.schema[plan.entity]
        var mask = SlotMask()
        for path in properties {
            let name = path.description
            if let slot = entity.slot(name) {
                mask.insert(slot)
            } else if entity.relationshipIndex(name) == nil {
                throw StorageError(
                    .invalidPredicate,
                    "\(entity.name) has no attribute \"\(name)\"\(Suggestion.nearest(name, in: entity.slots.map(\.name)))",
                    details: .init(entity: entity.name, property: name))
            }
        }
        plan.fields = .some(mask)
        return plan
    }

    func request(_ model: StackModel) throws(StorageError) -> ObjectRequest {
        if let problem { throw problem }
        return ObjectRequest(
            model.schema.entities[try entity(model)].name, where: predicate, orderBy: sort, limit: limit, offset: offset,
            includesSubentities: includesSubentities)
    }
}
