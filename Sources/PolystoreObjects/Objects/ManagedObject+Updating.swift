public import PolystoreStorage

extension ManagedObjectIdentity {
    /// Returns the value of a property and loads it if necessary. Unlike a getter, this method can throw: `let posts = try
    /// user.load(\.posts)`.
    ///
    /// - Throws: The error of the load: `unplannedLoad`, a lost connection, `notFound` for an object whose row was deleted, or a value that
    ///   the property's type does not allow.
    public func load<Property>(_ keyPath: KeyPath<Self, Property>) throws(StorageError) -> Property {
        try _context.throwingFailures { self[keyPath: keyPath] }
    }

    /// Returns whether a property has a value of its own: false for a required attribute of a new object that has no initial value and was not
    /// assigned since the creation, which the commit would refuse.
    ///
    /// Such an attribute reads as the placeholder of its type, such as an empty text. `willSave` asks before it normalizes a value:
    /// `if hasBeenAssigned(\.email) { email = email.lowercased() }`.
    public func hasBeenAssigned<Property>(_ keyPath: KeyPath<Self, Property>) -> Bool {
        guard let names = try? KeyPathProbe.resolve(keyPath).names, names.count == 1 else { return true }
        return _context.hasBeenAssigned(self, names[0])
    }

    /// Assigns a value if it differs from the present one, so that an object with an equal value does not count as changed.
    ///
    /// - Returns: Whether the value was assigned.
    @discardableResult
    public func update<V: Equatable>(_ keyPath: ReferenceWritableKeyPath<Self, V>, value: V) -> Bool {
        if self[keyPath: keyPath] == value { return false }
        self[keyPath: keyPath] = value
        return true
    }

    /// Assigns a value if it is not nil and differs from the present one.
    @discardableResult
    public func updateIfAvailable<V: Equatable>(_ keyPath: ReferenceWritableKeyPath<Self, V>, value: V?) -> Bool {
        value.map { update(keyPath, value: $0) } ?? false
    }

    /// Assigns a value to an optional property if it is not nil and differs from the present one.
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

    /// Adds an object to a relationship if it is not a member yet. Does nothing for nil.
    ///
    /// The set is neither read nor copied. Inserting into the property itself (`owner.dogs.insert(dog)`) assigns a new set, which takes a
    /// number of steps proportional to the number of members.
    @discardableResult
    public func add<Target: ManagedObject>(_ keyPath: ReferenceWritableKeyPath<Self, Set<Target>>, relation: Target?) -> Bool {
        guard let relation else { return false }
        if let isAdded = setMember(relation, of: keyPath, to: true) { return isAdded }
        var members = self[keyPath: keyPath]
        guard members.insert(relation).inserted else { return false }
        self[keyPath: keyPath] = members
        return true
    }

    /// Removes an object from a relationship if it is a member. Does nothing for nil. The set is neither read nor copied.
    @discardableResult
    public func remove<Target: ManagedObject>(_ keyPath: ReferenceWritableKeyPath<Self, Set<Target>>, relation: Target?) -> Bool {
        guard let relation else { return false }
        if let isRemoved = setMember(relation, of: keyPath, to: false) { return isRemoved }
        var members = self[keyPath: keyPath]
        guard members.remove(relation) != nil else { return false }
        self[keyPath: keyPath] = members
        return true
    }

    /// Returns nil if the key path is not a stored relationship.
    private func setMember<Target: ManagedObject>(
        _ member: Target, of keyPath: ReferenceWritableKeyPath<Self, Set<Target>>, to isMember: Bool
    ) -> Bool? {
        guard let names = try? KeyPathProbe.resolve(keyPath).names, names.count == 1 else { return nil }
        return _context.setMember(member, of: self, names[0], to: isMember)
    }
}
