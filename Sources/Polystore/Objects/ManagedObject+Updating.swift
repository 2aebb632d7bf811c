public import PolystoreStorage

extension ManagedObjectIdentity {
    /// Returns the value of a property, loaded if it is not yet; a getter cannot throw, this can: `let posts = try user.load(\.posts)`.
    ///
    /// - Throws: Why it could not be loaded: `unplannedLoad`, a lost connection, a value that its type does not allow.
    public func load<Property>(_ keyPath: KeyPath<Self, Property>) throws(StorageError) -> Property {
        try _context.throwingFailures { self[keyPath: keyPath] }
    }

    /// Assigns a value if it is another one, so that an object that has it already does not count as changed.
    ///
    /// - Returns: Whether the value was assigned.
    @discardableResult
    public func update<V: Equatable>(_ keyPath: ReferenceWritableKeyPath<Self, V>, value: V) -> Bool {
        if self[keyPath: keyPath] == value { return false }
        self[keyPath: keyPath] = value
        return true
    }

    /// Assigns a value if there is one and it is another; nil leaves the property as it is.
    @discardableResult
    public func updateIfAvailable<V: Equatable>(_ keyPath: ReferenceWritableKeyPath<Self, V>, value: V?) -> Bool {
        value.map { update(keyPath, value: $0) } ?? false
    }

    /// Assigns a value to an optional property if there is one and it is another; nil leaves the property as it is.
    @discardableResult
    public func updateIfAvailable<V: Equatable>(_ keyPath: ReferenceWritableKeyPath<Self, V?>, value: V?) -> Bool {
        value.map { update(keyPath, value: .some($0)) } ?? false
    }

    /// Assigns a number if it differs from the present one by at least `minimumChange`.
    @discardableResult
    public func update<V: Comparable & SignedNumeric>(
        _ keyPath: ReferenceWritableKeyPath<Self, V>, value: V, minimumChange: V
    ) -> Bool {
        if abs(self[keyPath: keyPath] - value) < minimumChange { return false }
        return update(keyPath, value: value)
    }

    /// Adds an object to a relationship if it is not there yet; nil does nothing.
    ///
    /// The set is neither read nor copied. To insert into the property itself (`owner.dogs.insert(dog)`) is to assign another set, which takes
    /// as many steps as there are members.
    @discardableResult
    public func add<Target: ManagedObject>(_ keyPath: ReferenceWritableKeyPath<Self, Set<Target>>, relation: Target?) -> Bool {
        guard let relation else { return false }
        if let isAdded = setMember(relation, of: keyPath, to: true) { return isAdded }
        var members = self[keyPath: keyPath]
        guard members.insert(relation).inserted else { return false }
        self[keyPath: keyPath] = members
        return true
    }

    /// Removes an object from a relationship if it is there; nil does nothing. The set is neither read nor copied.
    @discardableResult
    public func remove<Target: ManagedObject>(_ keyPath: ReferenceWritableKeyPath<Self, Set<Target>>, relation: Target?) -> Bool {
        guard let relation else { return false }
        if let isRemoved = setMember(relation, of: keyPath, to: false) { return isRemoved }
        var members = self[keyPath: keyPath]
        guard members.remove(relation) != nil else { return false }
        self[keyPath: keyPath] = members
        return true
    }

    /// Nil where the key path is none of a stored relationship.
    private func setMember<Target: ManagedObject>(
        _ member: Target, of keyPath: ReferenceWritableKeyPath<Self, Set<Target>>, to isMember: Bool
    ) -> Bool? {
        guard let names = try? KeyPathProbe.resolve(keyPath).names, names.count == 1 else { return nil }
        return _context.setMember(member, of: self, names[0], to: isMember)
    }
}
