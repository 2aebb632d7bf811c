public import PolystoreSchema

/// An expression that was checked against a schema: names are slots, types are known, and constant parts are computed.
public indirect enum CheckedExpression: Sendable, Hashable {
    /// The value of a property.
    case path(CheckedPath)
    /// The value of a property of an object outside a condition on related objects. Level 1 is the object that the related objects belong
    /// to.
    case outer(Int, CheckedPath)
    /// A constant; nil has the type that it is used as.
    case value(Value, ValueType)
    /// A function of other expressions.
    case function(Function, [CheckedExpression], ValueType)
    /// The first expression if the condition holds, otherwise the second.
    case conditional(CheckedPredicate, CheckedExpression, CheckedExpression, ValueType)
    /// An aggregate over related objects, of one of their properties; nil for a count of objects.
    case related(AggregateFunction, CheckedMembers, CheckedPath?, ValueType)

    /// The type of the value.
    public var type: ValueType {
        switch self {
        case .path(let path), .outer(_, let path): path.type
        case .value(_, let type), .function(_, _, let type), .conditional(_, _, _, let type), .related(_, _, _, let type): type
        }
    }

    /// The property, of an object at any level, if the expression is one.
    var property: CheckedPath? {
        switch self {
        case .path(let path), .outer(_, let path): path
        case .value, .function, .conditional, .related: nil
        }
    }

    /// Whether the computation can fail, so that it must not run for rows that another condition excludes.
    public var canFail: Bool { contains { node, _ in node.failsItself } }
}

extension CheckedPredicate {
    /// Whether the evaluation can fail, so that it must not run for rows that another condition excludes.
    package var canFail: Bool { contains { node, _ in node.failsItself } }
}

extension CheckedNode {
    /// Whether the node itself, apart from its parts, can fail for valid values.
    fileprivate var failsItself: Bool {
        guard case .expression(let expression) = self else { return false }
        switch expression {
        case .path, .outer, .value, .conditional: return false
        case .related(let function, _, let path, _): return function.canFail(path?.type)
        case .function(let function, let arguments, let type):
            guard function.descriptor.canFail else { return false }
            return type != .int64 || !function.staysInRange(arguments.map(\.range))
        }
    }
}
