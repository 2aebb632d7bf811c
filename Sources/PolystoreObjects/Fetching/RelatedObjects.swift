internal import PolystoreStorage

/// The type of a to-many relationship: a set, or an array for an ordered relationship.
public protocol RelatedObjects {
    /// The class of the objects.
    associatedtype Member: ManagedObject
}
