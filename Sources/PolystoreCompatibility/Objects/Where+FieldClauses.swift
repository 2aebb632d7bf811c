public import Polystore

extension Where where Object: CoreStoreObject {
    /// Creates a condition for the equality of a field: `Where(\.$name, isEqualTo: "Ann")`. Two nils are equal.
    public init<F: ComparableField>(_ keyPath: KeyPath<Object, F>, isEqualTo value: F.ComparedValue) { self = keyPath == value }

    /// Creates a condition for whether a field is nil: `Where(\.$nickname, isEqualTo: nil)`.
    @_disfavoredOverload
    public init<F: ComparableField>(_ keyPath: KeyPath<Object, F>, isEqualTo null: Void?) {
        self.init(keyPath) { .compare(.path($0), .equal, .value(.null)) }
    }

    /// Creates a condition for whether a to-one relationship references the object that an id, a snapshot, a publisher or a monitor
    /// represents.
    public init<F: ToOneField>(_ keyPath: KeyPath<Object, F>, isEqualTo representation: some ObjectRepresentation<F.Destination>) {
        self = keyPath == representation
    }

    /// Creates a condition for whether the value of a field is in a list.
    public init<F: ComparableField>(_ keyPath: KeyPath<Object, F>, isMemberOf list: some Sequence<F.ComparedValue>) {
        self = list ~= keyPath
    }

    /// Creates a condition for whether the value of a field that can be nil is in a list.
    public init<F: ComparableField, V>(_ keyPath: KeyPath<Object, F>, isMemberOf list: some Sequence<V>) where F.ComparedValue == V? {
        self = list ~= keyPath
    }

    /// Creates a condition for whether a to-one relationship references the object of an id of a list.
    public init<F: ToOneField>(_ keyPath: KeyPath<Object, F>, isMemberOf ids: some Sequence<ObjectID<F.Destination>>) {
        self.init(keyPath) { .isIn(.path($0), ObjectKey.constants(ids.map(\.key))) }
    }
}
