public import Foundation
public import Polystore

/// An object as the accessors of its fields see it: `object.$name.value`.
@dynamicMemberLookup
public struct ObjectProxy<Object: CoreStoreObject> {
    private let object: Object

    init(_ object: Object) { self.object = object }

    /// A field of the object.
    public subscript<Owner: CoreStoreObject, V>(dynamicMember path: KeyPath<Object, FieldContainer<Owner>.Stored<V>>) -> FieldProxy<V> {
        FieldProxy(object[keyPath: path])
    }

    /// The value of a property of the object.
    public subscript<V>(dynamicMember path: KeyPath<Object, V>) -> V { object[keyPath: path] }
}

/// A field as accessors see it: with its accessors and without.
public struct FieldProxy<V: AttributeValue> {
    private let field: ValueField<V>

    init(_ field: ValueField<V>) { self.field = field }

    /// The value that is stored, past the accessors.
    public var value: V {
        get { field.stored }
        nonmutating set { field.stored = newValue }
    }

    /// The value that is stored, past the accessors.
    public var primitiveValue: V {
        get { field.stored }
        nonmutating set { field.stored = newValue }
    }
}

/// Makes bytes of the values of a coded field.
public protocol FieldCoderType {
    /// The type of the values.
    associatedtype FieldStoredValue
    /// The bytes of a value; nil is stored as nil.
    static func encodeToStoredData(_ fieldValue: FieldStoredValue?) -> Data?
    /// The value of bytes; nil for bytes that it cannot read.
    static func decodeFromStoredData(_ data: Data?) -> FieldStoredValue?
}

/// The coders that come with the library.
public enum FieldCoders {
    /// JSON with sorted keys.
    public enum Json<V: Codable>: FieldCoderType {
        /// The bytes of a value, in a list of one.
        public static func encodeToStoredData(_ fieldValue: V?) -> Data? { fieldValue.flatMap { try? JSONAttributeCoder.encode([$0]) } }
        /// The value of bytes.
        public static func decodeFromStoredData(_ data: Data?) -> V? {
            data.flatMap { try? JSONAttributeCoder.decode([V].self, from: $0) }?.first
        }
    }

    /// Binary property lists.
    public enum Plist<V: Codable>: FieldCoderType {
        /// The bytes of a value, in a list of one.
        public static func encodeToStoredData(_ fieldValue: V?) -> Data? {
            fieldValue.flatMap { try? PropertyListAttributeCoder.encode([$0]) }
        }
        /// The value of bytes.
        public static func decodeFromStoredData(_ data: Data?) -> V? {
            data.flatMap { try? PropertyListAttributeCoder.decode([V].self, from: $0) }?.first
        }
    }
}
