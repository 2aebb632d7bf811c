public import PolystoreStorage

/// The identity of an object: store, hierarchy and primary key. It can be sent, stored and printed.
public struct ObjectID<Object: ManagedObject>: Sendable, Hashable {
    /// The identity without the class.
    public let key: ObjectKey

    /// Creates a typed identity from an untyped one. The class is checked when the object is fetched.
    public init(_ key: ObjectKey) { self.key = key }
}

extension ObjectID: CustomStringConvertible, LosslessStringConvertible {
    /// A URI of the form `polystore://store/Root/key`.
    public var description: String { key.description }

    /// Parses an identity from its URI; nil if the text is not such a URI.
    public init?(_ description: String) {
        guard let key = ObjectKey(description) else { return nil }
        self.init(key)
    }
}

/// Encoded as the URI.
extension ObjectID: Codable {
    /// Decodes an identity from its URI. Any other text is an error.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let id = ObjectID(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "the text is not a URI of an object")
        }
        self = id
    }

    /// Encodes the URI.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

/// An attribute of this type is a reference to an object that may be in another store. It is stored as the URI.
extension ObjectID: AttributeValue {
    /// `.string`.
    public static var valueType: ValueType { .string }
    /// An identity of no object.
    public static var placeholder: ObjectID { ObjectID(ObjectKey(store: .placeholder, root: "", key: 0)) }
    /// The URI.
    public var attributeValue: Value { .string(description) }
    /// Creates an identity from its URI.
    public init?(attributeValue: Value) {
        guard case .string(let text) = attributeValue else { return nil }
        self.init(text)
    }
    /// Decodes the identity of a cell; nil if its text is not such a URI.
    public static func _decode(_ cell: Cell) -> ObjectID? {
        if cell.isNull { return placeholder }
        return String._decode(cell).flatMap(ObjectID.init)
    }
    /// Encodes the URI as a cell.
    public func _encode(_ batch: RowBatch) -> Cell { description._encode(batch) }
}

extension ManagedObject {
    /// The first error of loading a relationship or an attribute of objects that were fetched together; nil if there was none.
    /// It remains when the property is loaded later.
    ///
    /// Properties cannot throw: after an error a to-one relationship is nil, a to-many relationship is empty, an unfetched attribute is a
    /// placeholder, and the error is reported to the ``StoreLogger``. In `perform` and `read` the error is thrown at the end of the
    /// closure. `load(_:)` throws it immediately.
    public final var loadError: StorageError? { _context.loadError }
}

extension ManagedObject: ManagedObjectIdentity {}
