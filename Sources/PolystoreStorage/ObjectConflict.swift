/// An object that a transaction changed and that another transaction changed as well after the first one had read it.
public struct ObjectConflict: Sendable, Hashable {
    /// The name of the entity.
    public let entity: String
    /// The primary key of the object.
    public let key: Int64
    /// The values that both transactions started from, by stored name.
    public let base: [String: Value]
    /// The values that this transaction assigned, or nil if it deleted the object.
    public let mine: [String: Value]?
    /// The current values in the store, or nil if the other transaction deleted the object.
    public let theirs: [String: Value]?

    /// Creates a conflict.
    public init(entity: String, key: Int64, base: [String: Value], mine: [String: Value]?, theirs: [String: Value]?) {
        self.entity = entity
        self.key = key
        self.base = base
        self.mine = mine
        self.theirs = theirs
    }
}
