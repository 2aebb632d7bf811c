internal import PolystoreStorage

/// A reference into another store whose destination does not exist.
public struct DanglingReference: Sendable, Hashable, CustomStringConvertible {
    /// The object with the reference.
    public let object: ObjectKey
    /// The entity of the object.
    public let entity: String
    /// The attribute that contains the reference.
    public let attribute: String
    /// The identity of the destination.
    public let destination: ObjectKey
    /// Whether the destination's store is part of the stack, so that the destination is known not to exist. Otherwise it may exist.
    public let isCertain: Bool

    /// A sentence that describes the reference.
    public var description: String {
        "\(entity).\(attribute) of \(object) refers to \(destination), which \(isCertain ? "does not exist" : "is in a store that is not part of the stack")"
    }
}
