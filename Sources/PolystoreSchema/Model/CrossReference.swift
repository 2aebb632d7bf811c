/// A declaration that an attribute of type `.string` contains the id of an object that may be in another store.
///
/// A transaction refuses an id whose object does not exist, if the object's store belongs to the stack. An object that the transaction has
/// not read is looked up, which locks its store like any other access.
public struct CrossReference: Sendable, Hashable {
    /// The name of the destination entity.
    public var destination: String
    /// The effect on the destination when the object with the attribute is deleted. `nullify` leaves the destination unchanged.
    public var deleteRule: DeleteRule
    /// The effect on the object with the attribute when the destination is deleted: the attribute becomes nil, the object is deleted as
    /// well, or the deletion is refused.
    public var inverseDeleteRule: DeleteRule

    /// Creates a reference, by default with the rule `nullify` in both directions.
    public init(to destination: String, deleteRule: DeleteRule = .nullify, inverseDeleteRule: DeleteRule = .nullify) {
        self.destination = destination
        self.deleteRule = deleteRule
        self.inverseDeleteRule = inverseDeleteRule
    }
}
