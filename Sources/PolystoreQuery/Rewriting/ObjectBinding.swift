public import PolystoreFoundation
public import PolystoreSchema

/// Replaces the objects that a plan compares with by the keys that they have in one store. Objects of other stores, and of other
/// hierarchies, match none of its objects.
struct ObjectBinding: CheckedRewriter {
    let store: UUID
    let schema: Schema

    func bound(_ predicate: CheckedPredicate) -> CheckedPredicate { rewritten(predicate, 0) }

    func bound(_ expression: CheckedExpression) -> CheckedExpression { rewritten(expression, 0) }

    func rewritten(_ predicate: CheckedPredicate, _ depth: Int) -> CheckedPredicate {
        switch predicate {
        case .compare(let a, let comparison, let b):
            guard let left = rewritten(a, beside: b, depth), let right = rewritten(b, beside: a, depth) else {
                return .constant(comparison == .notEqual)
            }
            return .compare(left, comparison, right)
        case .isIn(let expression, let values):
            let keys = expression.property.map { self.keys(values, $0) } ?? values
            return keys.isEmpty ? .constant(false) : .isIn(rewritten(expression, depth), keys)
        case .constant, .isNil, .text, .related, .isEntity, .and, .or, .not: return rebuilt(predicate, depth)
        }
    }

    func bound(_ sort: CheckedSort) -> CheckedSort { CheckedSort(bound(sort.expression), ascending: sort.ascending) }

    /// Returns an expression that is compared with another; nil for an object that does not belong to the store.
    private func rewritten(_ expression: CheckedExpression, beside other: CheckedExpression, _ depth: Int) -> CheckedExpression? {
        guard case .value(.string(let uri), .int64) = expression, let path = other.property else { return rewritten(expression, depth) }
        return key(uri, path).map { .value(.int($0), .int64) }
    }

    private func keys(_ values: [Value], _ path: CheckedPath) -> [Value] {
        // In a list of keys, texts are the URIs of objects. They sort after numbers.
        guard path.type == .int64, case .string? = values.last else { return values }
        let prefix = ObjectKey.prefix(store: store, root: root(path))
        let keys = values.compactMap { value -> Int64? in
            if case .int(let key) = value { return key }
            guard case .string(let uri) = value else { return nil }
            if uri.utf8.starts(with: prefix.utf8) { return Int64(Substring(uri.utf8.dropFirst(prefix.utf8.count))) }
            return key(uri, path)
        }
        return Set(keys).sorted().map { .int($0) }
    }

    private func key(_ uri: String, _ path: CheckedPath) -> Int64? {
        guard let key = ObjectKey(uri), key.store == store, key.root == root(path) else { return nil }
        return key.key
    }

    /// Returns the name of the hierarchy of the objects that a path references.
    private func root(_ path: CheckedPath) -> String {
        let entity =
            switch path.leaf {
            case .key: path.entity
            case .slot(let slot): schema[path.entity].slots[slot].destination ?? path.entity
            }
        return schema.entities[schema[entity].root].name
    }
}

extension FetchPlan {
    /// Returns the plan for one store: the objects that it names become keys of that store, or match none of its objects.
    public func bound(to store: UUID, in schema: Schema) -> FetchPlan {
        if !predicate.namesObjects, !sort.contains(where: \.expression.namesObjects) { return self }
        let binding = ObjectBinding(store: store, schema: schema)
        var plan = self
        plan.predicate = binding.bound(predicate)
        plan.sort = sort.map(binding.bound)
        return plan
    }
}

extension QueryPlan {
    /// Returns the plan for one store: the objects that it names become keys of that store, or match none of its objects.
    public func bound(to store: UUID, in schema: Schema) -> QueryPlan {
        let binding = ObjectBinding(store: store, schema: schema)
        var plan = self
        plan.fetch = fetch.bound(to: store, in: schema)
        if !valuesNameObjects { return plan }
        switch kind {
        case .rows(let expressions): plan.kind = .rows(expressions.map(binding.bound))
        case .groups(var grouping):
            grouping.keys = grouping.keys.map(binding.bound)
            grouping.aggregates = grouping.aggregates.map { CheckedAggregate($0.function, $0.argument.map(binding.bound), $0.type) }
            grouping.outputs = grouping.outputs.map(binding.bound)
            grouping.having = binding.bound(grouping.having)
            grouping.sort = grouping.sort.map(binding.bound)
            plan.kind = .groups(grouping)
        }
        return plan
    }

    /// Whether a value, a group or an order of the answer depends on objects that are compared with.
    package var valuesNameObjects: Bool {
        switch kind {
        case .rows(let expressions): expressions.contains(where: \.namesObjects)
        case .groups(let grouping):
            (grouping.keys + grouping.aggregates.compactMap(\.argument) + grouping.outputs).contains(where: \.namesObjects)
                || grouping.having.namesObjects || grouping.sort.contains(where: \.expression.namesObjects)
        }
    }
}

extension CheckedExpression {
    /// Returns the expression for one store: the objects that it names become keys of that store, or match none of its objects.
    package func bound(to store: UUID, in schema: Schema) -> CheckedExpression {
        namesObjects ? ObjectBinding(store: store, schema: schema).bound(self) : self
    }

    /// Whether it compares with objects that are not yet keys of a store.
    package var namesObjects: Bool { contains { node, _ in node.namesObjects } }
}

extension CheckedPredicate {
    /// Whether it compares with objects that are not yet keys of a store.
    package var namesObjects: Bool { contains { node, _ in node.namesObjects } }
}

extension CheckedNode {
    fileprivate var namesObjects: Bool {
        switch self {
        case .predicate(.compare(.value(.string, .int64), _, _)), .predicate(.compare(_, _, .value(.string, .int64))): true
        case .predicate(.isIn(let expression, let values)): expression.type == .int64 && values.last.isURI
        case .predicate, .expression, .property, .members: false
        }
    }
}

extension Value? {
    /// Whether the value, the greatest of some keys, is the URI of an object.
    fileprivate var isURI: Bool { if case .string? = self { true } else { false } }
}
