/// A difference between a version of a model and an older version, and its effect on stored data.
public struct SchemaChange: Sendable, Hashable, CustomStringConvertible {
    /// The effect of a change on objects that are already stored. The associated texts are messages for people.
    public enum Effect: Sendable, Hashable {
        /// The new form can be derived from the old one, and nothing is lost.
        case inferred
        /// The new form can be derived from the old one if all objects satisfy a rule, which the text states.
        case conditional(String)
        /// The new form can be derived from the old one, except for the data that the text names.
        case lossy(String)
        /// The new form cannot be derived from the old one. The text names the decision that is required.
        case undecided(String)
    }

    /// The path of the declaration, such as `Dog.age`, with its new name, or with its old name if it was removed.
    public let path: String
    /// The change in one sentence.
    public let description: String
    /// The effect on stored data.
    public let effect: Effect

    /// The entity of the older version that the change concerns, or nil for a new entity.
    package let formerEntity: String?
    /// The property of that entity of which data is lost, or nil for the objects themselves.
    package let formerProperty: String?

    /// Whether the change adds a property.
    package let isAddition: Bool

    init(
        _ path: String, _ description: String, _ effect: Effect = .inferred, formerEntity: String? = nil, formerProperty: String? = nil,
        isAddition: Bool = false
    ) {
        self.isAddition = isAddition
        self.path = path
        self.description = description
        self.effect = effect
        self.formerEntity = formerEntity
        self.formerProperty = formerProperty
    }

    /// Whether the new form can be derived from the old one, with or without loss.
    public var isInferable: Bool {
        switch effect {
        case .inferred, .conditional, .lossy: true
        case .undecided: false
        }
    }

    /// The data that would be lost, or nil if no data is lost.
    public var loss: String? {
        switch effect {
        case .lossy(let text): text
        case .inferred, .conditional, .undecided: nil
        }
    }
}

extension Schema {
    /// Returns all differences between the stored form of this schema and that of an older one, entity by entity in the order of the older
    /// schema.
    ///
    /// A declaration corresponds to the one with its `originalName`, otherwise to the one with its name. Default values, rules of values,
    /// and limits of relationships are not part of the stored form: schemas that differ only in these have equal hashes, and no change is
    /// returned.
    public func changes(since old: Schema) -> [SchemaChange] { SchemaComparison.changes(from: old, to: self, .forward) }
}
