internal import PolystoreSchema

/// An SQL statement for operations that portable requests cannot express.
///
/// ```swift
/// let sql: RawSQL = "SELECT \(column: \Person.name) FROM \(table: Person.self) WHERE \(column: \Person.age) > \(age)"
/// ```
/// The literal parts are SQL. Interpolations never are: a value becomes a binding, and a name of the model becomes the quoted name that the
/// store gave to that part of the model. A value therefore cannot change the meaning of a statement.
public struct RawSQL: Sendable, ExpressibleByStringInterpolation {
    /// A part of a statement.
    public enum Segment: Sendable {
        /// SQL text.
        case text(String)
        /// A value and its type.
        case binding(Value, ValueType)
        /// The table of an entity's hierarchy.
        case table(entity: String)
        /// The column of an attribute or a to-one relationship.
        case column(entity: String, property: String)
        /// The primary key column, which every table of a hierarchy has.
        case key
        /// The table of the pairs of a to-many relationship, with the columns `owner`, `rank`, and `member`.
        case links(entity: String, relationship: String)
        /// The error of an interpolation that could not be represented. Executing the statement throws it.
        case refused(StorageError)
    }

    /// The segments, in order.
    public private(set) var segments: [Segment]

    /// Creates a statement without values.
    public init(stringLiteral value: String) { segments = [.text(value)] }

    /// Creates a statement with values and names.
    public init(stringInterpolation: StringInterpolation) { segments = stringInterpolation.segments }

    /// Collects the segments of a statement.
    public struct StringInterpolation: StringInterpolationProtocol {
        var segments: [Segment] = []

        /// Creates an empty list of segments.
        public init(literalCapacity: Int, interpolationCount: Int) {}

        /// Appends SQL text.
        public mutating func appendLiteral(_ literal: String) { if !literal.isEmpty { segments.append(.text(literal)) } }

        /// Appends a segment.
        public mutating func append(_ segment: Segment) { segments.append(segment) }

        /// Appends the segments of another statement or of a part of one.
        public mutating func appendInterpolation(_ other: RawSQL) { segments += other.segments }

        /// Appends a value as a binding.
        public mutating func appendInterpolation(bind value: Value, _ type: ValueType) { segments.append(.binding(value, type)) }

        /// Appends the table of an entity's hierarchy, given the stored name of the entity.
        public mutating func appendInterpolation(table entity: String) { segments.append(.table(entity: entity)) }

        /// Appends the column of an attribute or a to-one relationship, given stored names.
        public mutating func appendInterpolation(column property: String, of entity: String) {
            segments.append(.column(entity: entity, property: property))
        }
    }

    /// The stored names of the entities whose tables, columns, or link tables the statement references.
    public var entities: Set<String> {
        Set(
            segments.compactMap { segment in
                switch segment {
                case .table(let entity), .column(let entity, _), .links(let entity, _): entity
                case .text, .binding, .key, .refused: nil
                }
            })
    }
}
