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
    public var description: String { "polystore://\(key.store.uuidString.lowercased())/\(key.root)/\(key.key)" }

    /// An identity from its URI; nil if the text is none.
    public init?(_ description: String) {
        guard description.hasPrefix("polystore://") else { return nil }
        let parts = description.dropFirst("polystore://".count).split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 3, let store = UUID(uuidString: String(parts[0])), let number = Int64(parts[2]), !parts[1].isEmpty else {
            return nil
        }
        key = ObjectKey(store: store, root: String(parts[1]), key: number)
    }
}

/// What every object has in common, with the class of the receiver.
public protocol ManagedObjectIdentity: ManagedObject {}

extension ManagedObject: ManagedObjectIdentity {}

extension ManagedObjectIdentity {
    /// The identity of the object.
    public var objectID: ObjectID<Self> { ObjectID(_context.objectKey(of: self)) }
}
