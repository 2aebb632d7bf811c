public import Polystore

extension Where {
    /// Creates a condition that is true for every object.
    public init() { self.init(true) }

    /// Creates a condition from another one.
    public init(_ clause: Where) { self = clause }

    /// Creates the condition of a text in the grammar of `NSPredicate`, with a list of arguments for its placeholders.
    public init(_ format: String, argumentArray: [Any]?) { self.init(format: format, arguments: argumentArray ?? []) }

    /// Creates a condition for whether a property, given by its stored name, is nil: `Where("nickname", isEqualTo: nil)`.
    public init(_ keyPath: String, isEqualTo null: Void?) {
        self.init(.compare(.path(PropertyPath(keyPath)), .equal, .value(.null)))
    }

    /// Creates a condition for the equality of an attribute, given by its stored name. Two nil values are equal.
    public init<V: AttributeValue>(_ keyPath: String, isEqualTo value: V) {
        self.init(.compare(.path(PropertyPath(keyPath)), .equal, .value(value.attributeValue)))
    }

    /// Creates a condition for whether a to-one relationship, given by its stored name, references an object, or is nil.
    public init<Other: ManagedObject>(_ keyPath: String, isEqualTo object: Other?) {
        self.init(format: "%K == %@", keyPath, object)
    }

    /// Creates a condition for whether the value of an attribute, given by its stored name, is in a list.
    public init<V: AttributeValue>(_ keyPath: String, isMemberOf list: some Sequence<V>) {
        self.init(format: "%K IN %@", keyPath, list.map { $0 as Any })
    }

    /// Creates a condition for whether a to-one relationship, given by its stored name, references an object of a list.
    public init<Other: ManagedObject>(_ keyPath: String, isMemberOf list: some Sequence<Other>) {
        self.init(format: "%K IN %@", keyPath, list.map { $0 as Any })
    }
}

extension Where {
    /// Creates a condition for the equality of an attribute: `Where(\.name, isEqualTo: "Ann")`. Two nil values are equal.
    public init<V: AttributeValue>(_ keyPath: KeyPath<Object, V>, isEqualTo value: V) { self = keyPath == value }

    /// Creates a condition for whether a to-one relationship references an object, or is nil.
    public init<Other: ManagedObject>(_ keyPath: KeyPath<Object, Other?>, isEqualTo object: Other?) { self = keyPath == object }

    /// Creates a condition for whether a to-one relationship references the object with an id.
    public init<Other: ManagedObject>(_ keyPath: KeyPath<Object, Other?>, isEqualTo id: ObjectID<Other>) { self = keyPath.isObject(id) }

    /// Creates a condition for whether the value of an attribute is in a list.
    public init<V: AttributeValue>(_ keyPath: KeyPath<Object, V>, isMemberOf list: some Sequence<V>) { self = keyPath.isIn(list) }

    /// Creates a condition for whether the value of an optional attribute is in a list.
    public init<V: AttributeValue>(_ keyPath: KeyPath<Object, V?>, isMemberOf list: some Sequence<V>) {
        self = keyPath.isIn(list.map(Optional.some))
    }

    /// Creates a condition for whether a to-one relationship references an object of a list.
    public init<Other: ManagedObject>(_ keyPath: KeyPath<Object, Other?>, isMemberOf list: some Sequence<Other>) {
        self = list.map { keyPath == $0 }.combinedByOr()
    }

    /// Creates a condition for whether a to-one relationship references the object of an id of a list.
    public init<Other: ManagedObject>(_ keyPath: KeyPath<Object, Other?>, isMemberOf list: some Sequence<ObjectID<Other>>) {
        self = list.map { keyPath.isObject($0) }.combinedByOr()
    }
}
