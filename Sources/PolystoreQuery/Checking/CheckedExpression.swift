public import PolystoreSchema

/// An expression that was checked against a schema: names are slots, types are known, what is constant was computed.
public indirect enum CheckedExpression: Sendable, Hashable {
    /// The value of a property.
    case path(CheckedPath)
    /// The value of a property of an object outside of a condition on related objects: of the one whose they are for 1.
    case outer(Int, CheckedPath)
    /// A constant; nil has the type that it is used as.
    case value(Value, ValueType)
    /// A function of other expressions.
    case function(Function, [CheckedExpression], ValueType)
    /// The first expression where the condition holds, else the second.
    case conditional(CheckedPredicate, CheckedExpression, CheckedExpression, ValueType)
    /// An aggregate over related objects, and over a property of theirs; nil for a count of objects.
    case related(AggregateFunction, CheckedMembers, CheckedPath?, ValueType)

    /// The type of the value.
    public var type: ValueType {
        switch self {
        case .path(let path), .outer(_, let path): path.type
        case .value(_, let type), .function(_, _, let type), .conditional(_, _, _, let type), .related(_, _, _, let type): type
        }
    }

    /// The property, of whichever object, where it is one.
    var property: CheckedPath? {
        switch self {
        case .path(let path), .outer(_, let path): path
        case .value, .function, .conditional, .related: nil
        }
    }

    /// Whether computing it can be an error, so that it must not be computed for rows that another condition leaves out.
    public var canFail: Bool {
        switch self {
        case .path, .outer, .value: false
        case .conditional(_, let a, let b, _): a.canFail || b.canFail
        case .related(let function, _, _, _): function.descriptor.canFail
        case .function(let function, let arguments, _): function.descriptor.canFail || arguments.contains(where: \.canFail)
        }
    }
}

/// The objects that relationships lead to from a row, those of them that satisfy a condition.
public struct CheckedMembers: Sendable, Hashable {
    /// One relationship on the way.
    public enum Hop: Sendable, Hashable {
        /// A to-one relationship.
        case toOne(CheckedPath.Step)
        /// The to-many relationship at a position of an entity's relationships, and the entity that it leads to.
        case toMany(EntityIndex, Int, destination: EntityIndex)
    }

    /// The relationships, outermost first; at least one is to-many.
    public let hops: [Hop]
    /// The entity at the end.
    public let destination: EntityIndex
    /// The condition on the objects at the end.
    public let predicate: CheckedPredicate
    /// The relationships as the request wrote them, for messages.
    public let text: String

    /// Members from their parts.
    public init(hops: [Hop], destination: EntityIndex, predicate: CheckedPredicate, text: String) {
        self.hops = hops
        self.destination = destination
        self.predicate = predicate
        self.text = text
    }
}
