/// An object that a transaction changed and another one too, since the first had read it.
public struct ObjectConflict: Sendable, Hashable {
    /// The entity.
    public let entity: String
    /// The key.
    public let key: Int64
    /// The values that both began with, by stored name.
    public let base: [String: Value]
    /// The values that were assigned here; nil when it was deleted here.
    public let mine: [String: Value]?
    /// The values that the store has now; nil when the other deleted it.
    public let theirs: [String: Value]?

    /// A conflict.
    public init(entity: String, key: Int64, base: [String: Value], mine: [String: Value]?, theirs: [String: Value]?) {
        self.entity = entity
        self.key = key
        self.base = base
        self.mine = mine
        self.theirs = theirs
    }
}
