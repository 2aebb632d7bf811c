internal import Foundation
public import PolystoreStorage

/// The identity of an object, to be sent, kept and written down: store, hierarchy and key.
public struct ObjectID<Object: ManagedObject>: Sendable, Hashable {
    /// The identity without the class.
    public let key: ObjectKey

    /// A typed identity of an untyped one; whether the object is of that class is seen when it is fetched.
    public init(_ key: ObjectKey) { self.key = key }
}

extension ObjectID: CustomStringConvertible, LosslessStringConvertible {
    /// A URI, `polystore://store/Root/key`.
    public var description: String { key.description }

    /// An identity from its URI; nil if the text is none.
    public init?(_ description: String) {
        guard let key = ObjectKey(description) else { return nil }
        self.init(key)
    }
}

/// Coded as the URI.
extension ObjectID: Codable {
    /// An identity from its URI; a text that is none is an error.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let id = ObjectID(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "the text is no URI of an object")
        }
        self = id
    }

    /// Encodes the URI.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

/// An attribute of this type is a reference to an object that may be in another store; it is kept as the URI.
extension ObjectID: AttributeValue {
    /// String.
    public static var valueType: ValueType { .string }
    /// The id of nothing.
    public static var placeholder: ObjectID { ObjectID(ObjectKey(store: .placeholder, root: "", key: 0)) }
    /// The URI.
    public var attributeValue: Value { .string(description) }
    /// An identity from its URI.
    public init?(attributeValue: Value) {
        guard case .string(let text) = attributeValue else { return nil }
        self.init(text)
    }
    /// The identity of a cell; nil if its text is no URI of one.
    public static func _decode(_ cell: Cell) -> ObjectID? {
        if cell.isNull { return placeholder }
        return String._decode(cell).flatMap(ObjectID.init)
    }
    /// The cell of the URI.
    public func _encode(_ batch: RowBatch) -> Cell { description._encode(batch) }
}

extension ManagedObject {
    /// The first error with which a relationship or an attribute of the objects that were fetched together could not be loaded; nil where all
    /// could.
    ///
    /// Properties cannot throw: a to-one relationship is nil then, a to-many empty, an attribute that the fetch left out a placeholder, and
    /// the ``StoreLogger`` is told. In `perform` and `read` the error is thrown at the end of the closure. `load(_:)` throws at once.
    public final var loadError: StorageError? { _context.loadError }
}

/// What every object has in common, with the class of the receiver.
public protocol ManagedObjectIdentity: ManagedObject {}

extension ManagedObject: ManagedObjectIdentity {}

extension ManagedObjectIdentity {
    /// The identity of the object.
    public var objectID: ObjectID<Self> { ObjectID(_context.objectKey(of: self)) }
}
