internal import Foundation
internal import PolystoreStorage

/// The kinds of values that expressions of random programs compute.
enum ProgramExpressionKind: CaseIterable {
    case whole, real, decimal, text, date

    /// The type of the values.
    var type: ValueType {
        switch self {
        case .whole: .int64
        case .real: .double
        case .decimal: .decimal
        case .text: .string
        case .date: .date
        }
    }

    /// Creates the kind of the values of a type; nil if a program computes no such values for attributes of the type.
    init?(assignable type: ValueType) {
        switch type {
        case .int64: self = .whole
        case .double: self = .real
        case .decimal: self = .decimal
        case .string: self = .text
        case .date: self = .date
        case .bool, .int16, .int32, .float, .uuid, .data, .url: return nil
        }
    }
}

/// Expressions that compute numbers, texts and dates.
///
/// They leave out what the naive model does not specify: remainders of decimals, other time zones than UTC, and folded texts.
extension ProgramConditions {
    mutating func expression(_ entity: String, _ kind: ProgramExpressionKind, depth: Int) -> QueryExpression {
        switch kind {
        case .whole: number(entity, depth: depth)
        case .real: real(entity, depth: depth)
        case .decimal: decimal(entity, depth: depth)
        case .text: text(entity, depth: depth)
        case .date: date(entity, depth: depth)
        }
    }

    /// Returns an expression of a kind without reference to a single other object.
    mutating func output(_ entity: String, _ kind: ProgramExpressionKind, depth: Int = 1) -> QueryExpression {
        let objects = objects
        self.objects = [:]
        defer { self.objects = objects }
        return expression(entity, kind, depth: depth)
    }

    /// Returns an expression of any kind without reference to a single other object.
    mutating func anyOutput(_ entity: String, depth: Int) -> QueryExpression {
        output(entity, chance(40) ? .whole : pick(ProgramExpressionKind.allCases), depth: depth)
    }

    /// Returns a path to an attribute of a type, or a constant if there is none.
    private mutating func leaf(_ entity: String, _ types: [ValueType]) -> QueryExpression {
        if let path = path(entity, where: { types.contains($0.type) })?.path { return .path(path) }
        return .value(pick(ProgramValues(types[0]).ordinary))
    }

    private mutating func real(_ entity: String, depth: Int) -> QueryExpression {
        let a = leaf(entity, [.double, .float])
        if depth < 0 { return a }
        let constant = QueryExpression.value(.double(pick([0.5, 2, -3, 1000, 0.1])))
        switch below(7) {
        case 0: return .function(pick([.negate, .absolute, .floor, .ceiling, .round]), [real(entity, depth: depth - 1)])
        case 1, 2: return .function(pick([.add, .subtract, .multiply]), [real(entity, depth: depth - 1), constant])
        case 3: return .function(pick([.divide, .modulo]), [a, constant])
        case 4: return .function(pick([.add, .subtract, .multiply]), [a, number(entity, depth: 0)])
        case 5: return .function(.coalesce, [a, constant])
        default: return depth > 0 ? .conditional(predicate(entity, depth: depth - 1), a, constant) : a
        }
    }

    private mutating func decimal(_ entity: String, depth: Int) -> QueryExpression {
        let a = leaf(entity, [.decimal])
        if depth < 0 { return a }
        let constant = QueryExpression.value(pick(ProgramValues(.decimal).ordinary))
        switch below(7) {
        case 0, 1: return .function(pick([.negate, .absolute, .floor, .ceiling, .round]), [a])
        case 2, 3: return .function(pick([.add, .subtract, .multiply]), [decimal(entity, depth: depth - 1), constant])
        case 4: return .function(.divide, [a, .value(.decimal(pick([4, -8, 5])))])
        case 5: return .function(.coalesce, [a, constant])
        default: return depth > 0 ? .conditional(predicate(entity, depth: depth - 1), a, constant) : a
        }
    }

    mutating func text(_ entity: String, depth: Int) -> QueryExpression {
        let a = leaf(entity, [.string])
        if depth < 0 { return a }
        switch below(6) {
        case 0, 1: return .function(pick([.uppercase, .lowercase, .trim]), [text(entity, depth: depth - 1)])
        case 2, 3: return .function(.concatenate, [a, .value(.string(pick(["", " ", "b", "\u{e9}"]))), text(entity, depth: depth - 1)])
        case 4: return .function(.coalesce, [a, .value(.string(pick(["", "ab"])))])
        default: return depth > 0 ? .conditional(predicate(entity, depth: depth - 1), a, .value(.string("zz"))) : a
        }
    }

    mutating func date(_ entity: String, depth: Int) -> QueryExpression {
        let a = leaf(entity, [.date])
        if depth < 0 || chance(60) { return a }
        let constant = QueryExpression.value(value(.date))
        return depth > 0 && chance(50)
            ? .conditional(predicate(entity, depth: depth - 1), a, constant) : .function(.coalesce, [a, constant])
    }
}

extension QueryExpression {
    /// Whether the expression is a constant.
    var isLiteral: Bool { if case .value = node { true } else { false } }
}
