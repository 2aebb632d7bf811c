internal import PolystoreStorage

extension ManagedObject {
    /// The probe that records accesses to a prototype object.
    private final var _probe: KeyPathProbe? { _flags & Flags.probe == 0 ? nil : _context.probe }

    /// Returns the destination of a to-one relationship. Called by generated getters.
    public final func _one<T: ManagedObject>(_ slot: Int, _ key: Int64?, _ type: T.Type = T.self) -> T? {
        if let probe = _probe { return probe.recordReference(self, slot, _context) }
        guard let key else { return nil }
        return _context.target(self, slot, key) as? T
    }

    /// Sets the destination of a to-one relationship and updates the inverse. Called by generated setters.
    public final func _setOne(_ slot: Int, _ target: ManagedObject?) {
        _context.relate(self, slot, to: target)
    }

    /// Returns the destinations of an unordered to-many relationship. Called by generated getters.
    public final func _set<T: ManagedObject>(_ name: String, _ type: T.Type = T.self) -> Set<T> {
        if let probe = _probe { return probe.recordMembers(self, name, _context) { (members: [T]) in Set(members) } }
        return Set(_context.typedMembers(self, name, type))
    }

    /// Returns the destinations of an ordered to-many relationship, in order. Called by generated getters.
    public final func _list<T: ManagedObject>(_ name: String, _ type: T.Type = T.self) -> [T] {
        if let probe = _probe { return probe.recordMembers(self, name, _context) { (members: [T]) in members } }
        return _context.typedMembers(self, name, type)
    }

    /// Sets the destinations of a to-many relationship to exactly these objects and updates the inverse. Called by generated setters.
    public final func _setMany(_ name: String, _ members: some Sequence<ManagedObject>) {
        _context.setMembers(self, name, Array(members))
    }
}
