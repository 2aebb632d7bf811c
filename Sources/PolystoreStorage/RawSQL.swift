internal import PolystoreSchema

/// A statement in the language of the SQL stores, for what the portable requests cannot say.
///
/// ```swift
/// let sql: RawSQL = "SELECT \(column: \Person.name) FROM \(table: Person.self) WHERE \(column: \Person.age) > \(age)"
/// ```
/// The literal parts are SQL. What is interpolated never is: values are bindings, names are those that the store gave to the parts of the
/// model, quoted. So no value can change what a statement means.
public struct RawSQL: Sendable, ExpressibleByStringInterpolation {
    /// A part of a statement.
    public enum Segment: Sendable {
        /// SQL.
        case text(String)
        /// A value of a type.
        case binding(Value, ValueType)
        /// The table of an entity's hierarchy.
        case table(entity: String)
        /// The column of an attribute or a to-one relationship.
        case column(entity: String, property: String)
        /// The column of the key, which every table of a hierarchy has.
        case key
        /// The table of the pairs of a to-many relationship: `owner`, `rank`, `member`.
        case links(entity: String, relationship: String)
        /// What could not be written down; whoever runs the statement throws it.
        case refused(StorageError)
    }

    /// The parts, in order.
    public private(set) var segments: [Segment]

    /// A statement without values.
    public init(stringLiteral value: String) { segments = [.text(value)] }

    /// A statement with values and names.
    public init(stringInterpolation: StringInterpolation) { segments = stringInterpolation.segments }

    /// Collects the parts of a statement.
    public struct StringInterpolation: StringInterpolationProtocol {
        var segments: [Segment] = []

        /// No parts.
        public init(literalCapacity: Int, interpolationCount: Int) {}

        /// SQL.
        public mutating func appendLiteral(_ literal: String) { if !literal.isEmpty { segments.append(.text(literal)) } }

        /// A part.
        public mutating func append(_ segment: Segment) { segments.append(segment) }

        /// Another statement, or a part of one.
        public mutating func appendInterpolation(_ other: RawSQL) { segments += other.segments }

        /// A value.
        public mutating func appendInterpolation(bind value: Value, _ type: ValueType) { segments.append(.binding(value, type)) }

        /// The table of an entity's hierarchy, by the stored name of the entity.
        public mutating func appendInterpolation(table entity: String) { segments.append(.table(entity: entity)) }

        /// The column of an attribute or a to-one relationship, by stored names.
        public mutating func appendInterpolation(column property: String, of entity: String) {
            segments.append(.column(entity: entity, property: property))
        }
    }

    /// The stored names of the entities whose tables or columns are named.
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

/// The answer to a statement.
public struct RawRows: Sendable, Hashable {
    /// The names of the columns, in order; the engine's own where the statement gives none.
    public let names: [String]
    /// The values of each row, in the order of the names.
    public let rows: [[Value]]

    /// An answer.
    public init(names: [String], rows: [[Value]]) {
        self.names = names
        self.rows = rows
    }
}
