public import Foundation
public import Polystore

/// An object in the custom accessors of its fields: `object.$name.value`.
@dynamicMemberLookup
public struct ObjectProxy<Object: CoreStoreObject> {
    private let object: Object

    init(_ object: Object) { self.object = object }

    /// Returns a field of the object.
    public subscript<Owner: CoreStoreObject, V>(dynamicMember path: KeyPath<Object, FieldContainer<Owner>.Stored<V>>) -> FieldProxy<V> {
        FieldProxy(object[keyPath: path])
    }

    /// Returns the value of a property of the object.
    public subscript<V>(dynamicMember path: KeyPath<Object, V>) -> V { object[keyPath: path] }
}

/// A field in custom accessors.
public struct FieldProxy<V: AttributeValue> {
    private let field: ValueField<V>

    init(_ field: ValueField<V>) { self.field = field }

    /// The stored value, accessed without the custom getter and setter.
    public var value: V {
        get { field.stored }
        nonmutating set { field.stored = newValue }
    }

    /// The stored value, accessed without the custom getter and setter.
    public var primitiveValue: V {
        get { field.stored }
        nonmutating set { field.stored = newValue }
    }
}

/// A coder of the values of a coded field.
public protocol FieldCoderType {
    /// The type of the values.
    associatedtype FieldStoredValue
    /// Encodes a value. A nil result is stored as nil.
    static func encodeToStoredData(_ fieldValue: FieldStoredValue?) -> Data?
    /// Decodes a value. Returns nil for bytes that the coder cannot decode.
    static func decodeFromStoredData(_ data: Data?) -> FieldStoredValue?
}

/// The coders of the library.
public enum FieldCoders {
    /// A coder that uses JSON with sorted keys.
    public enum Json<V: Codable>: FieldCoderType {
        /// Encodes a value as an array with one element.
        public static func encodeToStoredData(_ fieldValue: V?) -> Data? { fieldValue.flatMap { try? JSONAttributeCoder.encode([$0]) } }
        /// Decodes a value.
        public static func decodeFromStoredData(_ data: Data?) -> V? {
            data.flatMap { try? JSONAttributeCoder.decode([V].self, from: $0) }?.first
        }
    }

    /// A coder that uses binary property lists.
    public enum Plist<V: Codable>: FieldCoderType {
        /// Encodes a value as an array with one element.
        public static func encodeToStoredData(_ fieldValue: V?) -> Data? {
            fieldValue.flatMap { try? PropertyListAttributeCoder.encode([$0]) }
        }
        /// Decodes a value.
        public static func decodeFromStoredData(_ data: Data?) -> V? {
            data.flatMap { try? PropertyListAttributeCoder.decode([V].self, from: $0) }?.first
        }
    }
}
