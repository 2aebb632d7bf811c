internal import PolystoreStorage

/// Finds out which stored property a key path leads to, by reading it on an object that records what is read.
///
/// Swift's key paths have no names on Linux, and reflection would cost more than one allocation and a few calls.
final class KeyPathProbe {
    private var names: [String] = []
    private var current: ObjectIdentifier?
    private var isAmbiguous = false
    /// Children live until the key path is resolved: they are known by their addresses.
    private var children: [ManagedObject] = []

    func record(_ object: ManagedObject, _ name: String, child: ManagedObject?) {
        if current != ObjectIdentifier(object) { isAmbiguous = true }
        names.append(name)
        current = child.map(ObjectIdentifier.init)
        if let child { children.append(child) }
    }

    /// Records that the identity of an object was read, which no other property follows.
    func recordIdentity(_ object: ManagedObject) -> ObjectKey {
        record(object, PropertyPath.object.description, child: nil)
        return ObjectKey(store: .placeholder, root: "", key: 0)
    }

    /// The stored names on the way of a key path.
    static func resolve<Object: ManagedObject, Property>(_ keyPath: KeyPath<Object, Property>) throws(StorageError) -> PropertyPath {
        let probe = KeyPathProbe()
        let context = ObjectContext(stack: .none, model: .none, probe: probe)
        let object = Object(_new: 0, 0, context)
        if keyPath == \Object.self { return .object }
        // The children hold the context, and the context holds the probe.
        defer { probe.children.removeAll() }
        probe.current = ObjectIdentifier(object)
        _ = object[keyPath: keyPath]
        guard !probe.isAmbiguous, !probe.names.isEmpty else {
            throw StorageError(
                .invalidPredicate,
                "a key path of \(Object.self) reads \(probe.names.isEmpty ? "no stored property" : "several properties"); "
                    + "name one stored property, through to-one relationships")
        }
        return PropertyPath(probe.names)
    }
}
