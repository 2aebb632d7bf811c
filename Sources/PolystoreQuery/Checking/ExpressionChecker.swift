internal import PolystoreFoundation
public import PolystoreSchema

extension QueryExpression {
    /// Returns the expression checked against a schema, for objects of an entity.
    public func checked(in schema: Schema, _ entity: EntityIndex) throws(QueryError) -> CheckedExpression {
        try PredicateChecker(schema: schema, entity: entity).expressions.check(self)
    }
}

/// Checks expressions against a schema: determines types and computes constant parts.
struct ExpressionChecker {
    let schema: Schema
    let entity: EntityIndex
    /// The entities of the objects outside the enclosing conditions, outermost first.
    let outer: [EntityIndex]
    let paths: PathChecker
    /// Checks a condition inside an expression: a condition about an entity, with the entities outside.
    let check: (QueryPredicate, EntityIndex, [EntityIndex]) throws(QueryError) -> CheckedPredicate

    func check(_ expression: QueryExpression) throws(QueryError) -> CheckedExpression {
        if expression.isTooDeep { throw PredicateChecker.tooDeep("an expression") }
        switch expression.node {
        case .path(let path): return .path(try paths.check(path, from: entity))
        case .outer(let level, let path):
            guard level > 0, level <= outer.count else {
                throw QueryError(
                    path: path.description, "the reference to an outer object's \(path) is not inside a condition on related objects")
            }
            return .outer(level, try paths.check(path, from: outer[outer.count - level]))
        case .variable(let name): throw PredicateChecker.open(name)
        case .value(let value):
            if value.isNaN { throw QueryError("NaN is not a value that can be compared") }
            return Self.constant(value, value.type ?? .int64)
        case .function(let function, let arguments):
            let checked = try arguments.mapChecked { argument throws(QueryError) in try check(argument) }
            return try self.function(function, checked)
        case .conditional(let condition, let a, let b):
            let first = try check(a), second = try check(b)
            let type = try common([first, second], "the two results of a conditional")
            return .conditional(try check(condition, entity, outer), first, second, type)
        case .related(let aggregate): return try related(aggregate)
        case .aggregate(let aggregate):
            throw QueryError(
                "\(QueryExpression.aggregate(aggregate)) is an aggregate over a group, which is allowed only in a query for values")
        }
    }

    private func function(_ function: Function, _ arguments: [CheckedExpression]) throws(QueryError) -> CheckedExpression {
        let type = try type(function, arguments)
        let result = CheckedExpression.function(function, arguments, type)
        let constants = arguments.compactMap { if case .value(let value, _) = $0 { value } else { nil } }
        guard constants.count == arguments.count else { return result }
        return Self.constant(try FunctionEvaluator(function, type).value(constants), type)
    }

    /// Returns a constant as an attribute stores it: the contract has one zero, and two that are equal would be mistaken for each other.
    private static func constant(_ value: Value, _ type: ValueType) -> CheckedExpression {
        if case .double(let number) = value, number == 0 { return .value(.double(0), type) }
        return .value(value, type)
    }

    private func type(_ function: Function, _ arguments: [CheckedExpression]) throws(QueryError) -> ValueType {
        let descriptor = function.descriptor
        switch descriptor.count {
        case .exactly(let wanted) where arguments.count != wanted:
            throw QueryError("\(function.name) takes \(wanted == 1 ? "one argument" : "\(wanted) arguments"), not \(arguments.count)")
        case .oneOrMore where arguments.isEmpty: throw QueryError("\(function.name) takes at least one argument")
        case .exactly, .oneOrMore: break
        }
        if let zone = descriptor.zone, ZoneOffsets(zone) == nil {
            let advice = ZoneOffsets.hasFiles ? "use an identifier such as Europe/Berlin, or UTC" : "install the package tzdata, or use UTC"
            throw QueryError("\"\(zone.excerpt())\" is not a time zone; \(advice)")
        }
        let common: ValueType
        switch descriptor.takes {
        case .numbers: common = try number(function, arguments)
        case .wholeNumbers:
            common = try number(function, arguments)
            if common != .int64 { throw QueryError("\(function.name) requires integers, not \(common.rawValue)") }
        case .texts:
            common = .string
            try check(arguments, of: function, "a string", \.isText)
        case .date:
            common = .date
            try check(arguments, of: function, "a date") { $0 == .date }
        case .alike: common = try self.common(arguments, "the arguments of \(function.name)")
        }
        switch descriptor.gives {
        case .text: return .string
        case .wholeNumber: return .int64
        case .ofArguments: return common
        }
    }

    private func check(
        _ arguments: [CheckedExpression], of function: Function, _ wanted: String, _ fits: (ValueType) -> Bool
    ) throws(QueryError) {
        for argument in arguments where !isNil(argument) && !fits(argument.type) {
            throw QueryError(path: text(argument), "\(function.name) requires \(wanted), not \(argument.type.rawValue)")
        }
    }

    private func isNil(_ expression: CheckedExpression) -> Bool { if case .value(.null, _) = expression { true } else { false } }

    private func text(_ expression: CheckedExpression) -> String { expression.property?.text ?? "" }

    private func isReference(_ expression: CheckedExpression) -> Bool { expression.property.map(paths.isReference) ?? false }

    /// Returns the type of a number computed from numbers: double if one is a floating-point number, otherwise decimal if one is a decimal,
    /// otherwise a whole number.
    private func number(_ function: Function, _ arguments: [CheckedExpression]) throws(QueryError) -> ValueType {
        for argument in arguments where !isNil(argument) && (!argument.type.isNumeric || isReference(argument)) {
            throw QueryError(path: text(argument), "\(function.name) requires numbers, not \(argument.type.rawValue)")
        }
        return Self.numeric(arguments.map(\.type))
    }

    private static func numeric(_ types: [ValueType]) -> ValueType {
        if types.contains(where: { $0 == .double || $0 == .float }) { return .double }
        return types.contains(.decimal) ? .decimal : .int64
    }

    /// Returns the common type of several expressions.
    private func common(_ expressions: [CheckedExpression], _ what: String) throws(QueryError) -> ValueType {
        let known = expressions.filter { !isNil($0) }
        guard let first = known.first else { return .int64 }
        if known.allSatisfy({ $0.type.isNumeric && !isReference($0) }) { return Self.numeric(known.map(\.type)) }
        if known.allSatisfy({ $0.type.isText }) { return .string }
        for other in known where other.type != first.type || isReference(other) != isReference(first) {
            throw QueryError(path: text(other), "\(what) have different types, \(first.type.rawValue) and \(other.type.rawValue)")
        }
        return first.type
    }

    private func related(_ aggregate: RelatedAggregate) throws(QueryError) -> CheckedExpression {
        let (hops, destination) = try paths.hops(aggregate.relationship, from: entity)
        let many = hops.count { if case .toMany = $0 { true } else { false } }
        if many != 1 {
            throw QueryError(
                path: aggregate.relationship.description,
                "the path of an aggregate must contain exactly one to-many relationship, not \(many)")
        }
        let condition =
            try aggregate.predicate.map { predicate throws(QueryError) in
                try check(predicate, destination, outer + [entity])
            } ?? .constant(true)
        let members = CheckedMembers(hops: hops, destination: destination, predicate: condition, text: aggregate.relationship.description)
        let property = try aggregate.property.map { property throws(QueryError) in try paths.check(property, from: destination) }
        let type = try paths.checkAggregate(aggregate.function, property.map(CheckedExpression.path))
        return .related(aggregate.function, members, property, type)
    }

    /// Returns a constant in the form required for comparison with an expression: folded if the expression is folded.
    func folded(_ value: Value, like expression: CheckedExpression) throws(QueryError) -> Value {
        guard case .function(.folded(let options), _, _) = expression, case .string(let text) = value else { return value }
        return .string(TextFolding.fold(text, options))
    }

    /// Throws if two expressions cannot be compared.
    func checkComparable(_ a: CheckedExpression, _ comparison: Comparison, _ b: CheckedExpression) throws(QueryError) {
        if isNil(a) || isNil(b) { return }
        let isOrder = comparison != .equal && comparison != .notEqual
        let comparable =
            a.type == b.type || a.type.isText && b.type.isText
            || a.type.isNumeric && b.type.isNumeric && !isReference(a) && !isReference(b)
        let areProperties = a.property != nil && b.property != nil
        guard comparable, !areProperties || isReference(a) == isReference(b) else {
            throw QueryError(
                path: text(b), "a value of type \(b.type.rawValue) cannot be compared with \(text(a)) of type \(a.type.rawValue)")
        }
        for side in [a, b] where isOrder {
            if let path = side.property, paths.attribute(path)?.coder != nil {
                throw QueryError(path: path.text, "a coded attribute is not ordered; compare it with == or !=")
            }
        }
    }
}
