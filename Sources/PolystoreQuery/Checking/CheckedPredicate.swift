public import PolystoreSchema

/// A property that a request speaks of, found in the schema.
public struct CheckedPath: Sendable, Hashable {
    /// What stands at the end of a path.
    public enum Leaf: Sendable, Hashable {
        /// The key of the object.
        case key
        /// A slot of the object's row.
        case slot(Int)
    }

    /// One to-one relationship on the way.
    public struct Step: Sendable, Hashable {
        /// The entity that the step starts from.
        public let entity: EntityIndex
        /// The slot that holds the key of the next object.
        public let slot: Int
        /// The entity that the relationship leads to.
        public let destination: EntityIndex

        /// A step.
        public init(entity: EntityIndex, slot: Int, destination: EntityIndex) {
            self.entity = entity
            self.slot = slot
            self.destination = destination
        }
    }

    /// The to-one relationships on the way, outermost first.
    public let steps: [Step]
    /// The entity that the leaf belongs to.
    public let entity: EntityIndex
    /// What stands at the end.
    public let leaf: Leaf
    /// The type of the value; `.int64` for keys.
    public let type: ValueType
    /// The path as the request wrote it, for messages.
    public let text: String

    /// A checked path from its parts.
    public init(steps: [Step], entity: EntityIndex, leaf: Leaf, type: ValueType, text: String) {
        self.steps = steps
        self.entity = entity
        self.leaf = leaf
        self.type = type
        self.text = text
    }
}

/// A predicate that was checked against a schema and normalised: what stores receive.
///
/// - Names are slots; constants have the exact type of the property that they are compared with (a comparison with a constant of
///   another numeric type has been turned into bounds of the property's type, or into `constant`).
/// - An object is compared with the text of its URI until `FetchPlan.bound` replaces it by the key that it has in the store which is asked.
/// - `compare` never has a nil constant: `== nil` is `isNil`, `!= nil` is `not(isNil)`.
/// - `isIn` and `isInExpression` have at least one value of the property's or expression's type, none of them nil, each once, in ascending
///   order.
/// - `and` and `or` have at least two parts, none of them constant or of the same kind; `not` never stands before `not` or `constant`.
/// - `text` and `textOf` never have an empty needle, nor a pattern for `like` that another kind of match could answer.
/// - A property alone, with a constant or another property, is never in `compareExpressions`, `isInExpression` or `textOf`.
/// - `related` stands for "one or more"; all and none are said by `not`.
///
/// Each case is true or false, never unknown; what it says of nil is part of its meaning.
public indirect enum CheckedPredicate: Sendable, Hashable {
    /// True or false of every row.
    case constant(Bool)
    /// Whether the value is nil; also where a relationship on the way is nil or dangling.
    case isNil(CheckedPath)
    /// Comparison with a constant that is not nil: of nil, `notEqual` is true and all others are false.
    case compare(CheckedPath, Comparison, Value)
    /// Comparison of two properties: two nils are equal; one nil is not equal; the orders are false of nil. Two different numeric
    /// types are compared exactly.
    case comparePaths(CheckedPath, Comparison, CheckedPath)
    /// Whether the value is in the list; false of nil.
    case isIn(CheckedPath, [Value])
    /// Whether the text has the needle in a place, by bytes; false of nil.
    case text(CheckedPath, TextMatch, ExactText)
    /// Comparison of two expressions of comparable types: two nils are equal; one nil is not equal; the orders are false of nil.
    case compareExpressions(CheckedExpression, Comparison, CheckedExpression)
    /// Whether the value of an expression is in the list; false of nil.
    case isInExpression(CheckedExpression, [Value])
    /// Whether the text of an expression has the needle in a place, or matches it; false of nil.
    case textOf(CheckedExpression, TextMatch, ExactText)
    /// Whether there is one object or more among related ones that satisfy a condition.
    case related(CheckedMembers)
    /// Whether the row's own entity is one of these.
    case isEntity([EntityIndex])
    /// True if all parts are.
    case and([CheckedPredicate])
    /// True if a part is.
    case or([CheckedPredicate])
    /// The opposite.
    case not(CheckedPredicate)
}

/// One key of an order, checked.
public struct CheckedSort: Sendable, Hashable {
    /// What is sorted by.
    public let expression: CheckedExpression
    /// Whether small values come first; nil is the smallest.
    public let ascending: Bool

    /// A checked sort key.
    public init(_ expression: CheckedExpression, ascending: Bool) {
        self.expression = expression
        self.ascending = ascending
    }

    /// A property as a sort key.
    public init(_ path: CheckedPath, ascending: Bool) { self.init(.path(path), ascending: ascending) }
}
