internal import Foundation
internal import Polystore

/// An object in the custom accessors of its fields: `object.$name.value`.
@dynamicMemberLookup
public struct ObjectProxy<Object: CoreStoreObject> {
    private let object: Object

    init(_ object: Object) { self.object = object }

    /// Returns a stored field of the object.
    public subscript<Owner: CoreStoreObject, V>(dynamicMember path: KeyPath<Object, FieldContainer<Owner>.Stored<V>>) -> FieldProxy<V> {
        FieldProxy(object[keyPath: path])
    }

    /// Returns a coded field of the object.
    public subscript<Owner: CoreStoreObject, V>(dynamicMember path: KeyPath<Object, FieldContainer<Owner>.Coded<V>>) -> FieldProxy<V> {
        FieldProxy(object[keyPath: path])
    }

    /// Returns a virtual field of the object.
    public subscript<Owner: CoreStoreObject, V>(dynamicMember path: KeyPath<Object, FieldContainer<Owner>.Virtual<V>>) -> FieldProxy<V> {
        FieldProxy(object[keyPath: path])
    }

    /// Returns the value of a property of the object.
    public subscript<V>(dynamicMember path: KeyPath<Object, V>) -> V { object[keyPath: path] }
}
