internal import Foundation
internal import PolystoreStorage

/// Random conditions, expressions and orders about the objects of a model.
struct ProgramConditions {
    var schema: Schema
    var random: SplitMix
    /// The entities of the existing objects.
    var objects: [Int: String] = [:]

    init(_ schema: Schema, _ random: SplitMix) {
        self.schema = schema
        self.random = random
    }

    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
    mutating func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
    mutating func pick<T>(_ list: [T]) -> T { list[below(list.count)] }

    // MARK: Paths

    /// Returns a path to an attribute, perhaps through to-one relationships; nil if there is none of the wanted types.
    mutating func path(_ entity: String, steps: Int = 2, where isWanted: (Attribute) -> Bool) -> (path: PropertyPath, attribute: Attribute)?
    {
        let description = schema.description(entity)
        let through = description.relationships.filter { $0.relationship.cardinality == .toOne }
        if steps > 0, !through.isEmpty, chance(30) {
            let step = pick(through)
            if let found = path(schema[step.destination].name, steps: steps - 1, where: isWanted) {
                return (PropertyPath([step.relationship.name] + found.path.names), found.attribute)
            }
        }
        let attributes = description.slots.compactMap(\.attribute).filter { $0.crossReference == nil && isWanted($0) }
        if attributes.isEmpty { return nil }
        let attribute = pick(attributes)
        return (PropertyPath([attribute.name]), attribute)
    }

    /// Returns a to-many relationship, perhaps after a to-one or another to-many relationship, with its destination entity.
    private mutating func many(_ entity: String) -> (path: PropertyPath, entity: String)? {
        let relationships = schema.description(entity).relationships
        let many = relationships.filter { $0.relationship.cardinality != .toOne }
        let ones = relationships.filter { $0.relationship.cardinality == .toOne }
        if !ones.isEmpty, chance(25) {
            let one = pick(ones)
            let behind = schema[one.destination].relationships.filter { $0.relationship.cardinality != .toOne }
            if !behind.isEmpty {
                let last = pick(behind)
                return (PropertyPath([one.relationship.name, last.relationship.name]), schema[last.destination].name)
            }
        }
        if many.isEmpty { return nil }
        let first = pick(many)
        return (PropertyPath([first.relationship.name]), schema[first.destination].name)
    }

    // MARK: Values

    /// Returns a value of an attribute's type.
    mutating func value(_ type: ValueType, extreme: Int = 15) -> Value {
        let values = ProgramValues(type)
        if let long = values.long, below(200) == 0 { return long }
        return !values.extreme.isEmpty && chance(extreme) ? pick(values.extreme) : pick(values.ordinary)
    }

    private mutating func constant(_ type: ValueType) -> Value {
        let numeric: [ValueType] = [.int64, .int64, .double, .decimal]
        return type.isNumeric && chance(30) ? value(pick(numeric)) : value(type)
    }

    // MARK: Conditions

    mutating func predicate(_ entity: String, depth: Int) -> QueryPredicate {
        if depth > 0 {
            switch below(12) {
            case 0: return .not(predicate(entity, depth: depth - 1))
            case 1, 2: return .and((0..<below(4)).map { _ in predicate(entity, depth: depth - 1) })
            case 3, 4: return .or((0..<below(4)).map { _ in predicate(entity, depth: depth - 1) })
            case 5, 6: if let related = related(entity, depth: depth) { return related }
            case 7: return computed(entity, depth: depth)
            default: break
            }
        }
        return plain(entity) ?? .constant(chance(50))
    }

    private mutating func plain(_ entity: String) -> QueryPredicate? {
        if chance(12), let identity = identity(entity) { return identity }
        if chance(5) { return .isEntity(schema[pick(schema.description(entity).family)].name) }
        guard let (path, attribute) = path(entity, where: { _ in true }) else { return nil }
        let type = attribute.type, subject = QueryExpression.path(path)
        switch below(7) {
        case 0: return .compare(subject, pick([.equal, .notEqual]), .value(.null))
        case 1: return .isIn(subject, (0..<below(4)).map { _ in chance(15) ? .null : constant(type) })
        case 2: return .between(subject, .value(constant(type)), .value(constant(type)))
        case 3, 4:
            if type == .string { return text(subject) }
            return .compare(subject, pick(Comparison.allCases), .value(constant(type)))
        case 5:
            if let (other, _) = self.path(entity, where: { $0.type == type || $0.type.isNumeric && type.isNumeric }) {
                return .compare(subject, pick(Comparison.allCases), .path(other))
            }
            return .compare(subject, .notEqual, .value(constant(type)))
        default: return .compare(subject, pick(Comparison.allCases), .value(constant(type)))
        }
    }

    /// Returns a condition whether the object, or a destination of it, is one that exists or existed.
    private mutating func identity(_ entity: String) -> QueryPredicate? {
        if objects.isEmpty { return nil }
        let ones = schema.description(entity).relationships.filter { $0.relationship.cardinality == .toOne }
        let path = ones.isEmpty || chance(30) ? PropertyPath.object : PropertyPath([pick(ones).relationship.name])
        if path != .object, chance(30) { return .compare(.path(path), pick([.equal, .notEqual]), .value(.null)) }
        let root =
            path == .object
            ? schema.description(entity).root : schema[schema.description(entity).relationship(path.names[0])?.destination ?? 0].root
        let candidates = objects.keys.sorted().filter { schema.description(objects[$0] ?? "").root == root }
        return candidates.isEmpty ? nil : .compare(.path(path), pick([.equal, .notEqual]), .variable("o\(pick(candidates))"))
    }

    private mutating func text(_ subject: QueryExpression) -> QueryPredicate {
        let match = pick(TextMatch.allCases), options: TextOptions = pick([[], [], .caseInsensitive, .diacriticInsensitive])
        switch match {
        case .search: return .text(subject, .search, pick(["a", "b*", "a OR b", "ab -b", "\"a b\"", "z", "A", "long"]))
        case .matches:
            let pattern = chance(50) ? RandomPattern.text(using: &random) : pick(["a.*", "[ab]+", "", ".*"])
            return .text(subject.folded(options), .matches, pattern)
        case .like: return .text(subject.folded(options), .like, pick(["a*", "?", "*b", "a?b", "*", "\\*", "\u{e9}"]))
        case .beginsWith, .endsWith, .contains:
            return .text(subject.folded(options), match, pick(["", "a", "b", "B", "\u{e9}", "e", "\u{301}", "%", "_", "\\"]))
        }
    }

    private mutating func related(_ entity: String, depth: Int) -> QueryPredicate? {
        guard let (path, destination) = many(entity) else { return nil }
        var inner = predicate(destination, depth: depth - 1)
        if chance(20), let (own, attribute) = self.path(destination, steps: 0, where: { _ in true }),
            let (outside, _) = self.path(entity, steps: 1, where: { $0.type == attribute.type })
        {
            let compared = QueryPredicate.compare(.path(own), pick(Comparison.allCases), .outer(1, outside))
            inner = chance(50) ? .and([inner, compared]) : .or([compared, inner])
        }
        if chance(30) {
            let count = QueryExpression.related(RelatedAggregate(.count, path, where: chance(60) ? inner : nil))
            return .compare(count, pick(Comparison.allCases), .value(.int(Int64(below(4)))))
        }
        return .related(pick(Quantifier.allCases), path, inner)
    }

    private mutating func computed(_ entity: String, depth: Int) -> QueryPredicate {
        let kind = chance(40) ? .whole : pick(ProgramExpressionKind.allCases), a = expression(entity, kind, depth: depth - 1)
        switch below(3) {
        case 0: return .compare(a, pick(Comparison.allCases), expression(entity, kind, depth: depth - 1))
        case 1: return .isIn(a, (0..<2).map { _ in pick(ProgramValues(kind.type).ordinary) } + [chance(50) ? .null : value(kind.type)])
        default:
            if kind == .text { return .text(a, pick([.beginsWith, .contains, .endsWith]), pick(["", "A", "b", "ab", "B"])) }
            return .compare(a, pick(Comparison.allCases), .value(constant(kind.type)))
        }
    }

    // MARK: Expressions

    /// Returns a whole number computed from an object.
    mutating func number(_ entity: String, depth: Int) -> QueryExpression {
        let integer = path(entity, where: { $0.type.isInteger })?.path
        switch below(13) {
        case 0: return .function(.length, [text(entity, depth: depth - 1)])
        case 8: if let integer { return .function(pick([.negate, .absolute, .floor, .ceiling, .round]), [.path(integer)]) }
        case 9: if let integer { return .function(pick([.bitAnd, .bitOr]), [.path(integer), .value(.int(pick([0, 1, 6, -2, 255])))]) }
        case 10, 11:
            let part = pick(DatePart.allCases)
            if path(entity, where: { $0.type == .date }) != nil {
                return .function(.datePart(part, timeZone: "UTC"), [date(entity, depth: depth - 1)])
            }
        case 1:
            if let (path, destination) = many(entity) {
                return .related(
                    RelatedAggregate(.count, path, where: depth > 0 && chance(50) ? predicate(destination, depth: depth - 1) : nil))
            }
        case 2:
            if let (path, destination) = many(entity), let (own, _) = self.path(destination, steps: 0, where: { $0.type.isInteger }) {
                return .related(RelatedAggregate(pick([.minimum, .maximum, .sum]), path, own))
            }
        case 3:
            if let integer { return .function(.modulo, [.path(integer), .value(.int(Int64(1 + below(5))))]) }
        case 4:
            if let integer { return .function(.divide, [.path(integer), .value(.int(pick([-3, 2, 7])))]) }
        case 5:
            if let integer { return .function(.coalesce, [.path(integer), .value(.int(Int64(below(3))))]) }
        case 6:
            if let integer, depth > 0 { return .conditional(predicate(entity, depth: depth - 1), .path(integer), .value(.int(1))) }
        case 7:
            if let integer { return .function(pick([.add, .subtract, .multiply]), [.path(integer), .value(.int(Int64(below(3))))]) }
        default: break
        }
        return integer.map(QueryExpression.path) ?? .value(.int(Int64(below(3))))
    }

    mutating func order(_ entity: String) -> [OrderTerm] {
        (0..<below(3)).compactMap { _ in
            if chance(20) { return OrderTerm(anyOutput(entity, depth: 1), ascending: chance(50)) }
            guard let (path, _) = path(entity, where: { _ in true }) else { return nil }
            return OrderTerm(path, ascending: chance(50))
        }
    }

    mutating func request(_ entity: String, depth: Int = 5) -> ProgramRequest {
        var fetch = ObjectRequest(entity, where: chance(85) ? predicate(entity, depth: below(depth + 1)) : nil, orderBy: order(entity))
        if chance(30) { fetch.limit = below(12) }
        if chance(20) { fetch.offset = below(6) }
        if chance(10) { fetch.includesSubentities = false }
        return ProgramRequest(fetch: fetch, home: chance(15) ? below(2) : nil, isText: chance(40), isCommitted: chance(10))
    }

    mutating func query(_ entity: String) -> ProgramQuery {
        var request = self.request(entity, depth: 2)
        let attributes = (0...below(2)).compactMap { _ in path(entity, where: { _ in true }) }
        var keys: [QueryExpression] = []
        for item in attributes where !keys.contains(.path(item.path)) { keys.append(.path(item.path)) }
        if chance(30) {
            let computed = anyOutput(entity, depth: 1)
            if !keys.contains(computed), !computed.isLiteral { keys.append(computed) }
        }
        if chance(40) || keys.isEmpty {
            if keys.isEmpty { keys = [output(entity, .whole, depth: 0)] }
            var query = ProgramQuery(request: request, outputs: outputs(keys))
            query.isDistinct = chance(30)
            if query.isDistinct {
                // Equal rows are ordered by their values.
                query.request.fetch.order = keys.map { OrderTerm($0, ascending: chance(50)) }
            }
            return query
        }
        if chance(30) { keys = [] }
        var aggregates: [QueryExpression] = [.aggregate(Aggregate(.count))]
        for _ in 0...below(2) {
            let function = pick(AggregateFunction.allCases)
            let isAny = [.count, .countDistinct, .minimum, .maximum].contains(function)
            var aggregate = QueryExpression.aggregate(
                Aggregate(function, of: output(entity, isAny ? pick(ProgramExpressionKind.allCases) : .whole)))
            if chance(70) {
                guard let (path, _) = path(entity, where: { isAny || $0.type.isNumeric }) else { continue }
                aggregate = .aggregate(Aggregate(function, path))
            }
            if !aggregates.contains(aggregate) { aggregates.append(aggregate) }
        }
        let all = keys + aggregates
        request.fetch.order = chance(50) ? [OrderTerm(pick(all), ascending: chance(50))] : []
        var query = ProgramQuery(request: request, outputs: outputs(all), keys: keys)
        if chance(30) { query.having = .compare(.aggregate(Aggregate(.count)), pick(Comparison.allCases), .value(.int(Int64(below(4))))) }
        return query
    }

    private func outputs(_ expressions: [QueryExpression]) -> [QueryOutput] {
        expressions.enumerated().map { QueryOutput($1, as: "v\($0)") }
    }
}
