internal import PolystoreStorage

extension ManagedObject {
    /// What records the reading, of an object that stands for no row.
    private final var _probe: KeyPathProbe? { _flags & Flags.probe == 0 ? nil : _context.probe }

    /// The object that a to-one relationship leads to; generated getters call it.
    public final func _one<T: ManagedObject>(_ slot: Int, _ key: Int64?, _ type: T.Type = T.self) -> T? {
        if let probe = _probe { return probe.recordReference(self, slot, _context) }
        guard let key else { return nil }
        return _context.target(self, slot, key) as? T
    }

    /// Makes a to-one relationship lead to another object, the inverse included; generated setters call it.
    public final func _setOne(_ slot: Int, _ target: ManagedObject?) {
        _context.relate(self, slot, to: target)
    }

    /// The objects that an unordered to-many relationship leads to; generated getters call it.
    public final func _set<T: ManagedObject>(_ name: String, _ type: T.Type = T.self) -> Set<T> {
        if let probe = _probe { return probe.recordMembers(self, name, _context) { (members: [T]) in Set(members) } }
        return Set(_context.typedMembers(self, name, type))
    }

    /// The objects that an ordered to-many relationship leads to, in order; generated getters call it.
    public final func _list<T: ManagedObject>(_ name: String, _ type: T.Type = T.self) -> [T] {
        if let probe = _probe { return probe.recordMembers(self, name, _context) { (members: [T]) in members } }
        return _context.typedMembers(self, name, type)
    }

    /// Makes a to-many relationship lead to exactly these objects, the inverse included; generated setters call it.
    public final func _setMany(_ name: String, _ members: some Sequence<ManagedObject>) {
        _context.setMembers(self, name, Array(members))
    }
}
