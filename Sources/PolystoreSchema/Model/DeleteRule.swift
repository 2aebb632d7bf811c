/// The effect of the deletion of an object on the destinations of a relationship.
public enum DeleteRule: String, Sendable, Hashable, Codable {
    /// References to the deleted object become nil.
    case nullify
    /// The objects that the deleted object references are deleted as well.
    case cascade
    /// The object cannot be deleted while it references another object.
    case deny
}
