/// A class whose objects are made from a source of any type, always a new one.
public protocol ImportableObject: ManagedObject {
    /// What an object is made from: a dictionary, data, a decoded value.
    associatedtype ImportSource

    /// Whether a source becomes an object; false leaves it out and goes on with the others.
    static func shouldInsert(from source: ImportSource, in transaction: BaseTransaction) -> Bool

    /// Assigns what the source says to the new object. What it throws ends the import.
    func didInsert(from source: ImportSource, in transaction: BaseTransaction) throws
}

extension ImportableObject {
    /// True.
    public static func shouldInsert(from source: ImportSource, in transaction: BaseTransaction) -> Bool { true }
}

/// A class whose objects have an identity in the source: an import changes the one that is there, and makes it where it is missing.
public protocol ImportableUniqueObject: ImportableObject {
    /// The type of the identity.
    associatedtype UniqueIDType: AttributeValue & Hashable

    /// The stored name of the attribute that holds the identity.
    static var uniqueIDKeyPath: String { get }

    /// The identity of the object.
    var uniqueIDValue: UniqueIDType { get set }

    /// The identity that a source names; nil leaves the source out.
    static func uniqueID(from source: ImportSource, in transaction: BaseTransaction) throws -> UniqueIDType?

    /// Whether a source changes the object that is there.
    static func shouldUpdate(from source: ImportSource, in transaction: BaseTransaction) -> Bool

    /// Assigns what the source says. What it throws ends the import.
    func update(from source: ImportSource, in transaction: BaseTransaction) throws
}

extension ImportableUniqueObject {
    /// True.
    public static func shouldUpdate(from source: ImportSource, in transaction: BaseTransaction) -> Bool { true }

    /// Does what an update does.
    public func didInsert(from source: ImportSource, in transaction: BaseTransaction) throws { try update(from: source, in: transaction) }
}
