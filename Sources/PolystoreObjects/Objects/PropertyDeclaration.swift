internal import PolystoreStorage

/// The declaration of a property as an object of its own, which a key path such as `\.$name` reads in place of the value.
package protocol PropertyDeclaration {
    /// The stored name; nil for a property that is not stored.
    var storedName: String? { get }
    /// The object to which the declaration belongs.
    var declaringObject: ManagedObject? { get }
}
