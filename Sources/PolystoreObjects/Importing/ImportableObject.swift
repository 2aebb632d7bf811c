/// A class whose objects are created from a source of any type. Each import creates a new object.
public protocol ImportableObject: ManagedObject {
    /// The source of an object: a dictionary, data, a decoded value.
    associatedtype ImportSource

    /// Returns whether an object is created from a source; false skips this source.
    static func shouldInsert(from source: ImportSource, in transaction: BaseTransaction) -> Bool

    /// Assigns the values of the source to the new object. An error ends the import.
    func didInsert(from source: ImportSource, in transaction: BaseTransaction) throws
}

extension ImportableObject {
    /// True.
    public static func shouldInsert(from source: ImportSource, in transaction: BaseTransaction) -> Bool { true }
}
