/// A class whose objects have an identity in the source. An import updates the existing object with this identity, or creates it.
public protocol ImportableUniqueObject: ImportableObject {
    /// The type of the identity.
    associatedtype UniqueIDType: AttributeValue & Hashable

    /// The stored name of the attribute that contains the identity.
    static var uniqueIDKeyPath: String { get }

    /// The identity of the object. By default the attribute with the stored name `uniqueIDKeyPath`.
    var uniqueIDValue: UniqueIDType { get set }

    /// Returns the identity that a source contains; nil skips the source.
    static func uniqueID(from source: ImportSource, in transaction: BaseTransaction) throws -> UniqueIDType?

    /// Returns whether a source updates the existing object.
    static func shouldUpdate(from source: ImportSource, in transaction: BaseTransaction) -> Bool

    /// Assigns the values of the source. An error ends the import.
    func update(from source: ImportSource, in transaction: BaseTransaction) throws
}

extension ImportableUniqueObject {
    /// The value of the attribute with the stored name `uniqueIDKeyPath`.
    public var uniqueIDValue: UniqueIDType {
        get { attributeValue(Self.uniqueIDKeyPath).flatMap { UniqueIDType(attributeValue: $0) } ?? UniqueIDType.placeholder }
        set { setAttributeValue(newValue.attributeValue, Self.uniqueIDKeyPath) }
    }

    /// True.
    public static func shouldUpdate(from source: ImportSource, in transaction: BaseTransaction) -> Bool { true }

    /// Calls `update`.
    public func didInsert(from source: ImportSource, in transaction: BaseTransaction) throws { try update(from: source, in: transaction) }
}
