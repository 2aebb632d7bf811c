/// One rule of the model that one object does not keep.
public struct ValidationFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The entity of the object; empty until the layer that collects failures fills it in.
    public var entity: String
    /// The stored name of the attribute or relationship; nil for a rule of the object as a whole.
    public var property: String?
    /// The key of the object within its hierarchy.
    public var key: Int64
    /// What must hold, without the value that does not.
    public var message: String

    /// A failure; custom validation names the property, if it is one, and says what must hold.
    public init(_ property: String? = nil, _ message: String) {
        self.init(entity: "", property: property, key: 0, message)
    }

    /// A failure of an object that is known.
    public init(entity: String, property: String?, key: Int64, _ message: String) {
        self.entity = entity
        self.property = property
        self.key = key
        self.message = message
    }

    /// Entity, property and message.
    public var description: String {
        let place = [entity, property ?? ""].filter { !$0.isEmpty }.joined(separator: ".")
        return place.isEmpty ? message : "\(place) \(message)"
    }
}
