public import PolystoreStorage

/// The resolution of conflicts between a detached transaction and other transactions that changed the same objects in the meantime.
///
/// Inverse relationships remain consistent: both ends get the destination that the policy chooses, and an object that gets a new partner
/// loses its former one. With every policy a reference to an object that another transaction deleted becomes nil, or in a one-to-one
/// relationship the partner that the other transaction assigned. A new order does not restore a member that another transaction removed from
/// an ordered to-many relationship. Added and removed members of a many-to-many relationship are not a conflict: the changes of both
/// transactions are kept.
public enum MergePolicy: Sendable {
    /// Neither side: the commit throws `staleObject` with the base, mine and theirs values of each object, and writes nothing.
    case error
    /// The values assigned in this transaction. Attributes that it did not assign keep the values of the other transaction. The result is
    /// as if this transaction had followed the other one, first with its assignments and then with its deletions: if a deletion is in
    /// conflict, all of them are repeated, so that their delete rules apply to objects that have referenced a deleted object since, and no
    /// longer to those that have left it. A reference that is nil here only because its destination was deleted, or because its other end
    /// was assigned, is no assigned value: if the other transaction assigned another destination, that one remains.
    case mine
    /// The values of the other transaction. This transaction's changes of the object are discarded. So is its deletion, even if the other
    /// transaction only made objects reference it. Other objects that its delete rules deleted too are restored only if they are in
    /// conflict themselves.
    case theirs
    /// The result of a closure for each attribute that both transactions changed, called with entity, attribute, base, mine and theirs. If
    /// only one of the two changed an attribute, that change is kept. The closure is called while the commit reads one state of each store:
    /// it must not wait for another transaction, which a SQLite file without write-ahead log refuses meanwhile.
    case byAttribute(@Sendable (_ entity: String, _ attribute: String, _ base: Value, _ mine: Value, _ theirs: Value) -> Value)

    var isError: Bool { if case .error = self { true } else { false } }
}
