/// A rule that no two objects of an entity have the same values in all the named properties. Objects with a nil among these values are
/// exempt.
public struct UniqueConstraint: Sendable, Hashable {
    /// The attributes and to-one relationships.
    public var properties: [String]

    /// Creates a constraint over the named properties.
    public init(_ properties: [String]) { self.properties = properties }
}
