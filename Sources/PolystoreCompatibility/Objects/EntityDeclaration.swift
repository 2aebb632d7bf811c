public import Polystore

/// An entity declaration without its generic class.
public protocol EntityDeclaration {
    /// The stored name.
    var entityName: String { get }
    /// Whether only subclasses can have objects.
    var isAbstract: Bool { get }
    /// The class of the entity.
    var type: CoreStoreObject.Type { get }
    /// Adds indexes and constraints to a declaration.
    func _complete(_ entity: inout Polystore.Entity, _ prototype: CoreStoreObject) throws(StorageError)
}
