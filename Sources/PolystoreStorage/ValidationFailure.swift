/// A violation of one rule of the model by one object.
public struct ValidationFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The entity of the object. Empty until the layer that collects failures fills it in.
    public var entity: String
    /// The stored name of the attribute or relationship, or nil for a rule of the object as a whole.
    public var property: String?
    /// The primary key of the object within its hierarchy.
    public var key: Int64
    /// The rule that must hold, without the value that violates it.
    public var message: String

    /// Creates a failure. Custom validation passes the property, if there is one, and a message that states what must hold.
    public init(_ property: String? = nil, _ message: String) {
        self.init(entity: "", property: property, key: 0, message)
    }

    /// Creates a failure of a known object.
    public init(entity: String, property: String?, key: Int64, _ message: String) {
        self.entity = entity
        self.property = property
        self.key = key
        self.message = message
    }

    /// The entity, the property, and the message.
    public var description: String {
        let place = [entity, property ?? ""].filter { !$0.isEmpty }.joined(separator: ".")
        return place.isEmpty ? message : "\(place) \(message)"
    }
}
