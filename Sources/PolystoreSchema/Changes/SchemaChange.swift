/// One thing in which a version of a model differs from an older one, and what it means for what is stored.
public struct SchemaChange: Sendable, Hashable, CustomStringConvertible {
    /// What a change means for objects that are already stored. Texts say it for people.
    public enum Effect: Sendable, Hashable {
        /// The new form follows from the old one, and nothing is lost.
        case inferred
        /// The new form follows from the old one if all objects keep a rule, which the text names.
        case conditional(String)
        /// The new form follows from the old one, without what the text names.
        case lossy(String)
        /// The new form does not follow from the old one; the text names what has to be decided.
        case undecided(String)
    }

    /// The place, such as `Dog.age`, by its new name; by the old one when it is gone.
    public let path: String
    /// The change in one sentence.
    public let description: String
    /// What it means for what is stored.
    public let effect: Effect

    /// The entity of the older version that it concerns; nil for one that is new.
    package let formerEntity: String?
    /// The property of that entity that something is lost of; nil for the objects themselves.
    package let formerProperty: String?

    init(_ path: String, _ description: String, _ effect: Effect = .inferred, formerEntity: String? = nil, formerProperty: String? = nil) {
        self.path = path
        self.description = description
        self.effect = effect
        self.formerEntity = formerEntity
        self.formerProperty = formerProperty
    }

    /// Whether the new form follows from the old one, with or without loss.
    public var isInferable: Bool {
        switch effect {
        case .inferred, .conditional, .lossy: true
        case .undecided: false
        }
    }

    /// What would be lost; nil when nothing is.
    public var loss: String? {
        switch effect {
        case .lossy(let text): text
        case .inferred, .conditional, .undecided: nil
        }
    }
}

extension Schema {
    /// Everything in which what this schema stores differs from an older one, entity by entity in the older one's order.
    ///
    /// A declaration is followed from its `originalName`, otherwise from its name. Defaults, rules of values and limits of relationships
    /// are not part of what is stored: a change of them alone is none here, and the hashes are the same.
    public func changes(since old: Schema) -> [SchemaChange] { SchemaComparison.changes(from: old, to: self, .forward) }
}
