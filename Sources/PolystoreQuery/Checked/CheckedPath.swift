public import PolystoreSchema

/// A property of a request, resolved in the schema.
public struct CheckedPath: Sendable, Hashable {
    /// The last element of a path.
    public enum Leaf: Sendable, Hashable {
        /// The key of the object.
        case key
        /// A slot of the object's row.
        case slot(Int)
    }

    /// One to-one relationship of a path.
    public struct Step: Sendable, Hashable {
        /// The source entity of the step.
        public let entity: EntityIndex
        /// The slot that holds the key of the next object.
        public let slot: Int
        /// The destination entity of the relationship.
        public let destination: EntityIndex

        /// Creates a step from its parts.
        public init(entity: EntityIndex, slot: Int, destination: EntityIndex) {
            self.entity = entity
            self.slot = slot
            self.destination = destination
        }
    }

    /// The to-one relationships of the path, outermost first.
    public let steps: [Step]
    /// The entity that the leaf belongs to.
    public let entity: EntityIndex
    /// The last element.
    public let leaf: Leaf
    /// The type of the value; `.int64` for keys.
    public let type: ValueType
    /// The path as the request wrote it, for messages.
    public let text: String

    /// Creates a checked path from its parts.
    public init(steps: [Step], entity: EntityIndex, leaf: Leaf, type: ValueType, text: String) {
        self.steps = steps
        self.entity = entity
        self.leaf = leaf
        self.type = type
        self.text = text
    }
}
