internal import PolystoreFoundation
internal import PolystoreSchema

/// Checks a predicate against a schema and brings it into the normal form that `CheckedPredicate` describes.
struct PredicateChecker {
    static let largest = 100_000

    let schema: Schema
    let entity: EntityIndex
    /// The entities of the objects outside the enclosing conditions, outermost first.
    let outer: [EntityIndex]
    private let paths: PathChecker

    init(schema: Schema, entity: EntityIndex, outer: [EntityIndex] = []) {
        self.schema = schema
        self.entity = entity
        self.outer = outer
        paths = PathChecker(schema: schema)
    }

    /// Returns the normal form of a predicate.
    func check(_ predicate: QueryPredicate) throws(QueryError) -> CheckedPredicate {
        if predicate.isTooDeep { throw Self.tooDeep("a predicate") }
        var nodes = 0
        return try check(predicate, &nodes)
    }

    static func tooDeep(_ what: String) -> QueryError {
        QueryError(.tooComplex, "\(what) can be at most \(QueryPredicate.deepest) levels deep")
    }

    /// Returns the error for a variable that has no value.
    static func open(_ variable: String) -> QueryError {
        QueryError(path: "$" + variable, "the variable $\(variable.excerpt()) has no value; pass one to substituting")
    }

    private func check(_ predicate: QueryPredicate, _ nodes: inout Int) throws(QueryError) -> CheckedPredicate {
        nodes += 1
        if nodes > Self.largest { throw QueryError(.tooComplex, "a predicate can have at most \(Self.largest) parts") }
        switch predicate.node {
        case .constant(let value): return .constant(value)
        case .compare(let a, let comparison, let b): return try compare(a, comparison, b)
        case .isIn(let expression, let values): return try isIn(expression, values)
        case .between(let expression, let low, let high):
            let left = try compare(expression, .greaterOrEqual, low)
            return CheckedPredicate.all([left, try compare(expression, .lessOrEqual, high)])
        case .text(let expression, let match, let needle): return try TextChecker(expressions: expressions).check(expression, match, needle)
        case .open(_, _, let variable): throw Self.open(variable)
        case .related(let quantifier, let path, let inner): return try related(quantifier, path, inner, &nodes)
        case .quantified(let quantifier, let inner):
            let (path, inner) = try self.inner(quantifier, inner)
            return try related(quantifier, path, inner, &nodes)
        case .isEntity(let name): return try isEntity(name)
        case .and(let parts):
            return CheckedPredicate.all(try parts.mapChecked { part throws(QueryError) in try check(part, &nodes) })
        case .or(let parts):
            return CheckedPredicate.any(try parts.mapChecked { part throws(QueryError) in try check(part, &nodes) })
        case .not(let part): return try check(part, &nodes).negated
        }
    }

    var expressions: ExpressionChecker {
        ExpressionChecker(schema: schema, entity: entity, outer: outer, paths: paths) {
            [schema] predicate, entity, outer throws(QueryError) in
            try PredicateChecker(schema: schema, entity: entity, outer: outer).check(predicate)
        }
    }

    private func isEntity(_ name: String) throws(QueryError) -> CheckedPredicate {
        guard let index = schema.index(of: name) else {
            throw QueryError(
                path: name, "the model has no entity \"\(name.excerpt())\"\(Suggestion.nearest(name, in: schema.entities.map(\.name)))")
        }
        let family = schema[entity].family, wanted = schema[index].family.filter(family.contains)
        // Every object of the request belongs to the family of its entity.
        if wanted.isEmpty { return .constant(schema[index].family.contains(entity)) }
        return wanted.count == family.count ? .constant(true) : .isEntity(wanted)
    }

    private func related(
        _ quantifier: Quantifier, _ path: PropertyPath, _ inner: QueryPredicate, _ nodes: inout Int
    ) throws(QueryError) -> CheckedPredicate {
        let (hops, destination) = try paths.hops(path, from: entity)
        guard hops.contains(where: { if case .toMany = $0 { true } else { false } }) else {
            throw QueryError(path: path.description, "\(quantifier.rawValue) requires a to-many relationship")
        }
        let condition = try PredicateChecker(schema: schema, entity: destination, outer: outer + [entity]).check(inner, &nodes)
        func some(_ condition: CheckedPredicate) -> CheckedPredicate {
            var hops = hops, condition = condition, destination = destination
            if case .constant(false) = condition { return condition }
            // The relationships must end with a to-many one: a to-one relationship after it becomes part of the condition.
            while case .toOne(let step)? = hops.last, !condition.looksAtEntity {
                condition = condition.through(step)
                destination = step.entity
                hops.removeLast()
            }
            return .related(CheckedMembers(hops: hops, destination: destination, predicate: condition, text: path.description))
        }
        switch quantifier {
        case .any: return some(condition)
        case .none: return some(condition).negated
        case .all: return some(condition.negated).negated
        }
    }

    /// Returns the relationship of a condition such as `ANY a.friends.boss.name == 'Rex'`, which ends with the last to-many one, and the
    /// condition on the related objects.
    private func inner(_ quantifier: Quantifier, _ condition: QueryPredicate) throws(QueryError) -> (PropertyPath, QueryPredicate) {
        let found = try KeyPathCollector.keyPaths(condition)
        var candidates: [(relationship: [String], isSure: Bool)] = []
        for path in found {
            try paths.checkLength(PropertyPath(path.names))
            let ends = path.names.indices.filter { endsToMany(path.names[...$0]) }
            if let last = ends.dropLast(path.inner).last { candidates.append((Array(path.names[...last]), path.inner == 0)) }
        }
        // A part of the condition may own more to-many relationships than one. Without a path outside of such parts the shortest is taken.
        let shortest = candidates.min { $0.relationship.count < $1.relationship.count }
        guard let relationship = (candidates.first { $0.isSure } ?? shortest)?.relationship else {
            // A name that is wrong is more useful to know.
            for path in found { try checkNames(path) }
            throw QueryError(
                path: PropertyPath(found.first?.names ?? []).description, "\(quantifier.rawValue) requires a to-many relationship")
        }
        var rewriter = ReferenceRewriter { level, own throws(QueryError) in
            if level > 0 { return (level + 1, own) }
            if own.names == relationship { return (0, .object) }
            return own.names.starts(with: relationship)
                ? (0, PropertyPath(Array(own.names.dropFirst(relationship.count)))) : (1, own)
        }
        return (PropertyPath(relationship), try rewriter.rewritten(condition, 0))
    }

    /// Refuses a key path with a name that the entity does not have, or that is not a relationship although others follow.
    private func checkNames(_ path: KeyPathCollector.KeyPath) throws(QueryError) {
        if path.isCollection || path.names.count > 1 {
            _ = try paths.hops(PropertyPath(path.isCollection ? path.names : path.names.dropLast()), from: entity)
        } else {
            _ = try paths.check(PropertyPath(path.names), from: entity)
        }
    }

    /// Whether the last of some relationships is a to-many one.
    private func endsToMany(_ names: ArraySlice<String>) -> Bool {
        guard case .toMany? = (try? paths.hops(PropertyPath(Array(names)), from: entity))?.hops.last else { return false }
        return true
    }

    private func compare(_ a: QueryExpression, _ comparison: Comparison, _ b: QueryExpression) throws(QueryError) -> CheckedPredicate {
        switch (a.node, b.node) {
        case (.path(let path), .value(let value)): return try compare(path, comparison, value)
        case (.value(let value), .path(let path)): return try compare(path, comparison.mirrored, value)
        case (.path(let x), .path(let y)): return try comparePaths(x, comparison, y)
        case (.value(let x), .value(let y)): return .constant(try constant(x, comparison, y))
        case (.path, _), (.outer, _), (.value, _), (.variable, _), (.function, _), (.conditional, _), (.related, _), (.aggregate, _):
            return try compareComputed(try expressions.check(a), comparison, try expressions.check(b))
        }
    }

    private func compareComputed(
        _ a: CheckedExpression, _ comparison: Comparison, _ b: CheckedExpression
    ) throws(QueryError) -> CheckedPredicate {
        let left = try objectConstant(a, beside: b), right = try objectConstant(b, beside: a)
        try expressions.checkComparable(left, comparison, right)
        switch (left, right) {
        case (.value(let x, _), .value(let y, _)): return .constant(try constant(x, comparison, y))
        case (.path(let path), .value(let value, _)): return try compare(path, comparison, value)
        case (.value(let value, _), .path(let path)): return try compare(path, comparison.mirrored, value)
        case (.path, _), (.outer, _), (.value, _), (.function, _), (.conditional, _), (.related, _):
            return .compare(left.alike(right), comparison, right.alike(left))
        }
    }

    private func compare(_ path: PropertyPath, _ comparison: Comparison, _ value: Value) throws(QueryError) -> CheckedPredicate {
        try compare(try paths.check(path, from: entity), comparison, value)
    }

    private func compare(_ path: CheckedPath, _ comparison: Comparison, _ value: Value) throws(QueryError) -> CheckedPredicate {
        if value.isNull {
            switch comparison {
            case .equal: return .isNil(path)
            case .notEqual: return .not(.isNil(path))
            case .less, .lessOrEqual, .greater, .greaterOrEqual: return .constant(false)
            }
        }
        if paths.attribute(path)?.coder != nil, comparison != .equal, comparison != .notEqual {
            throw QueryError(path: path.text, "a coded attribute is not ordered; compare it with == or !=")
        }
        if paths.isReference(path), comparison != .equal, comparison != .notEqual, path.leaf != .key {
            throw QueryError(path: path.text, "objects are not ordered; compare with == or !=")
        }
        if let object = try object(value, path) {
            guard comparison == .equal || comparison == .notEqual else {
                throw QueryError(path: path.text, "objects are not ordered; compare with == or !=")
            }
            return .compare(path, comparison, object)
        }
        return try ConstantNormaliser(path: path).compare(comparison, value)
    }

    /// Returns a constant that is compared with an outer object as the object that its URI identifies.
    private func objectConstant(_ expression: CheckedExpression, beside other: CheckedExpression) throws(QueryError) -> CheckedExpression {
        guard case .value(let value, _) = expression, case .outer(_, let path) = other else { return expression }
        return try object(value, path).map { .value($0, .int64) } ?? expression
    }

    /// Returns the URI of an object if objects are compared; nil for other constants. The key depends on the queried store.
    private func object(_ value: Value, _ path: CheckedPath) throws(QueryError) -> Value? {
        guard case .string(let text) = value, paths.isReference(path) else { return nil }
        if let key = ObjectKey(text) { return key.constant }
        throw QueryError(path: path.text, "\"\(text.excerpt())\" is not the URI of an object; compare with an object, its id or its URI")
    }

    private func comparePaths(_ a: PropertyPath, _ comparison: Comparison, _ b: PropertyPath) throws(QueryError) -> CheckedPredicate {
        let x = try paths.check(a, from: entity), y = try paths.check(b, from: entity)
        let comparable =
            x.type == y.type || (x.type.isNumeric && y.type.isNumeric && !paths.isReference(x) && !paths.isReference(y))
            || (x.type.isText && y.type.isText)
        guard comparable, paths.isReference(x) == paths.isReference(y) else {
            throw QueryError(
                path: y.text, "a value of type \(y.type.rawValue) cannot be compared with \(x.text) of type \(x.type.rawValue)")
        }
        return .compare(.path(x), comparison, .path(y))
    }

    private func isIn(_ expression: QueryExpression, _ values: [Value]) throws(QueryError) -> CheckedPredicate {
        guard case .path(let wanted) = expression.node else { return try isInComputed(try expressions.check(expression), values) }
        let path = try paths.check(wanted, from: entity)
        let normaliser = ConstantNormaliser(path: path)
        var found: [Value] = []
        found.reserveCapacity(values.count)
        for value in values where !value.isNull {
            if let object = try object(value, path) {
                found.append(object)
            } else if case .compare(_, _, .value(let normal, _)) = try normaliser.compare(.equal, value) {
                found.append(normal)
            }
        }
        let ascending = ascending(found)
        let list: CheckedPredicate = ascending.isEmpty ? .constant(false) : .isIn(.path(path), ascending)
        return values.contains(where: \.isNull) ? CheckedPredicate.any([.isNil(path), list]) : list
    }

    private func isInComputed(_ expression: CheckedExpression, _ values: [Value]) throws(QueryError) -> CheckedPredicate {
        if case .value(.null, _) = expression { return .constant(values.contains(where: \.isNull)) }
        // A constant of another numeric type is equal to one of the expression's type, or to none of its values.
        let path = CheckedPath(steps: [], entity: entity, leaf: .key, type: expression.type, text: expression.property?.text ?? "")
        let normaliser = ConstantNormaliser(path: path)
        var found: [Value] = []
        for value in values where !value.isNull {
            let constant = try objectConstant(.value(value, value.type ?? .int64), beside: expression)
            try expressions.checkComparable(expression, .equal, constant)
            if case .value(.string(let uri), .int64) = constant {
                found.append(.string(uri))
                continue
            }
            let folded = try expressions.folded(value, like: expression)
            if case .compare(_, _, .value(let normal, _)) = try normaliser.compare(.equal, folded) { found.append(normal) }
        }
        let isNil = CheckedPredicate.compare(expression, .equal, .value(.null, expression.type))
        let ascending = ascending(found)
        let list: CheckedPredicate = ascending.isEmpty ? .constant(false) : .isIn(expression, ascending)
        return values.contains(where: \.isNull) ? CheckedPredicate.any([isNil, list]) : list
    }

    /// Returns each value once, in ascending order. Imports query existing objects with long lists, which are often already sorted.
    private func ascending(_ values: [Value]) -> [Value] {
        let isAscending = zip(values, values.dropFirst()).allSatisfy { $0.compare(to: $1) < 0 }
        if isAscending { return values }
        let texts = TextOrder(values)
        var result: [Value] = []
        result.reserveCapacity(values.count)
        for value in texts?.sorted ?? values.sorted(by: { $0.compare(to: $1) < 0 }) where result.last.map({ $0 != value }) ?? true {
            result.append(value)
        }
        return result
    }

    private func constant(_ x: Value, _ comparison: Comparison, _ y: Value) throws(QueryError) -> Bool {
        if x.isNull || y.isNull { return comparison.holds(ifNil: x.isNull, y.isNull) }
        if x.isNaN || y.isNaN { throw QueryError("NaN is not a value that can be compared") }
        guard let order = ExactNumber.compare(x, y) else { throw QueryError("constants of different types cannot be compared") }
        return comparison.holds(order)
    }
}

extension Array {
    func mapChecked<T>(_ transform: (Element) throws(QueryError) -> T) throws(QueryError) -> [T] {
        var result: [T] = []
        result.reserveCapacity(count)
        for element in self { result.append(try transform(element)) }
        return result
    }
}

extension CheckedExpression {
    /// Returns a constant number in the type of the expression that it is compared with, if it has the same value there. Engines compare
    /// numbers of one type.
    fileprivate func alike(_ other: CheckedExpression) -> CheckedExpression {
        guard case .value(let value, _) = self else { return self }
        switch other.type {
        case .decimal: if case .int(let number) = value { return .value(.decimal(Decimal(number)), .decimal) }
        case .float, .double:
            if case .int(let number) = value, Int64(exactly: Double(number)) == number { return .value(.double(Double(number)), .double) }
        case .int16, .int32, .int64:
            if case .double(let number) = value, let whole = Int64(exactly: number) { return .value(.int(whole), .int64) }
        case .bool, .string, .date, .uuid, .data, .url: break
        }
        return self
    }
}

extension Comparison {
    /// The comparison with its sides exchanged.
    var mirrored: Comparison {
        switch self {
        case .equal, .notEqual: self
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        }
    }

    /// Returns whether the comparison is true for two values of which at least one is nil.
    func holds(ifNil first: Bool, _ second: Bool) -> Bool {
        switch self {
        case .equal: first && second
        case .notEqual: first != second
        case .less, .lessOrEqual, .greater, .greaterOrEqual: false
        }
    }

    /// Returns whether the comparison is true for an order of two values.
    @inlinable
    public func holds(_ order: Int) -> Bool {
        switch self {
        case .equal: order == 0
        case .notEqual: order != 0
        case .less: order < 0
        case .lessOrEqual: order <= 0
        case .greater: order > 0
        case .greaterOrEqual: order >= 0
        }
    }
}
