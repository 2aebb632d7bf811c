public import Foundation
public import Polystore

/// The fields in the form of CoreStore 7 and later: property wrappers whose `$name` is the field itself.
public enum FieldContainer<Object: CoreStoreObject> {
    /// A value in the row. Nil is allowed if the type is optional.
    @propertyWrapper
    public final class Stored<V: AttributeValue>: ValueField<V> {
        private let customGetter: ((ObjectProxy<Object>, FieldProxy<V>) -> V)?
        private let customSetter: ((ObjectProxy<Object>, FieldProxy<V>, V) -> Void)?

        /// Creates a field with the same initial value for all objects.
        ///
        /// - Parameters:
        ///   - wrappedValue: The value of a new object.
        ///   - keyPath: The stored name.
        ///   - previousVersionKeyPath: The stored name in the previous version of the model.
        ///   - customGetter: The getter of the property. It reads the stored value from the `primitiveValue` of the field.
        ///   - customSetter: The setter of the property.
        public init(
            wrappedValue: @autoclosure @escaping () -> V, _ keyPath: String, previousVersionKeyPath: String? = nil,
            customGetter: ((_ object: ObjectProxy<Object>, _ field: FieldProxy<V>) -> V)? = nil,
            customSetter: ((_ object: ObjectProxy<Object>, _ field: FieldProxy<V>, _ newValue: V) -> Void)? = nil
        ) {
            self.customGetter = customGetter
            self.customSetter = customSetter
            super.init(keyPath, initial: wrappedValue, isConstant: true, originalName: previousVersionKeyPath)
        }

        /// Creates a field whose initial value is computed for each object.
        ///
        /// - Parameters:
        ///   - keyPath: The stored name.
        ///   - dynamicInitialValue: Called for each new object.
        ///   - previousVersionKeyPath: The stored name in the previous version of the model.
        public init(_ keyPath: String, dynamicInitialValue: @escaping () -> V, previousVersionKeyPath: String? = nil) {
            customGetter = nil
            customSetter = nil
            super.init(keyPath, initial: dynamicInitialValue, isConstant: false, originalName: previousVersionKeyPath)
        }

        /// Creates a field whose initial value is nil.
        public convenience init(_ keyPath: String, previousVersionKeyPath: String? = nil) where V: ExpressibleByNilLiteral {
            self.init(wrappedValue: nil, keyPath, previousVersionKeyPath: previousVersionKeyPath)
        }

        /// The value. It can be assigned only in a transaction.
        public var wrappedValue: V {
            get { value }
            set { value = newValue }
        }

        /// The field.
        public var projectedValue: Stored { self }

        /// The value, accessed through the custom getter and setter of the field.
        public var value: V {
            get {
                guard let customGetter, let object = object as? Object, !object._isPrototype else { return stored }
                return customGetter(ObjectProxy(object), FieldProxy(self))
            }
            set {
                guard let customSetter, let object = object as? Object else { return stored = newValue }
                customSetter(ObjectProxy(object), FieldProxy(self), newValue)
            }
        }
    }

    /// A value that is computed and not stored.
    @propertyWrapper
    public final class Virtual<V>: FieldBase {
        private let customGetter: (ObjectProxy<Object>, Virtual<V>) -> V
        private let customSetter: ((ObjectProxy<Object>, Virtual<V>, V) -> Void)?

        /// Creates a computed property.
        ///
        /// - Parameters:
        ///   - keyPath: The name of the property.
        ///   - customGetter: The getter of the property.
        ///   - customSetter: The setter of the property. By default assignments have no effect.
        public init(
            _ keyPath: String, customGetter: @escaping (_ object: ObjectProxy<Object>, _ field: Virtual<V>) -> V,
            customSetter: ((_ object: ObjectProxy<Object>, _ field: Virtual<V>, _ newValue: V) -> Void)? = nil
        ) {
            self.customGetter = customGetter
            self.customSetter = customSetter
            super.init(keyPath)
        }

        /// The result of the getter.
        public var wrappedValue: V {
            // The field itself is accessible only through the property of its object, which is therefore alive.
            get { customGetter(ObjectProxy(unsafeDowncast(owner.unsafelyUnwrapped.takeUnretainedValue(), to: Object.self)), self) }
            set { if let object = object as? Object { customSetter?(ObjectProxy(object), self, newValue) } }
        }
    }

    /// A value of any type, stored as the bytes that a coder creates from it.
    @propertyWrapper
    public final class Coded<V>: ValueField<Data?> {
        private let encode: (V) -> Data?
        private let decode: (Data?) -> V?
        private let first: () -> V

        /// Creates a field with the same initial value for all objects.
        ///
        /// - Parameters:
        ///   - wrappedValue: The value of a new object.
        ///   - keyPath: The stored name.
        ///   - coder: The coder of the values, such as `FieldCoders.Json.self`.
        public convenience init<Coder: FieldCoderType>(
            wrappedValue: @autoclosure @escaping () -> V, _ keyPath: String, coder: Coder.Type
        ) where Coder.FieldStoredValue == V {
            self.init(
                wrappedValue: wrappedValue(), keyPath,
                coder: (encode: { Coder.encodeToStoredData($0) }, decode: { Coder.decodeFromStoredData($0) }))
        }

        /// Creates a field whose values are encoded and decoded by closures.
        ///
        /// - Parameters:
        ///   - wrappedValue: The value of a new object.
        ///   - keyPath: The stored name.
        ///   - coder: The closures.
        public init(
            wrappedValue: @autoclosure @escaping () -> V, _ keyPath: String, coder: (encode: (V) -> Data?, decode: (Data?) -> V?)
        ) {
            encode = coder.encode
            decode = coder.decode
            first = wrappedValue
            let encode = coder.encode
            super.init(keyPath, initial: { encode(wrappedValue()) }, isConstant: false, originalName: nil)
        }

        /// The value. It can be assigned only in a transaction.
        public var wrappedValue: V {
            get { decode(stored) ?? first() }
            set { stored = encode(newValue) }
        }

        /// The field.
        public var projectedValue: Coded { self }
    }

    /// A relationship to other objects: `D?` to at most one, `Set<D>` to a set, `[D]` to an ordered list.
    @propertyWrapper
    public final class Relationship<R: FieldRelationshipType>: RelationshipField {
        /// Creates a field. If there is an inverse, the other side names it.
        public init(
            _ keyPath: String, minCount: Int? = nil, maxCount: Int? = nil, deleteRule: DeleteRule = .nullify,
            previousVersionKeyPath: String? = nil
        ) {
            super.init(
                keyPath, R.Destination.self, R.cardinality, deleteRule, counts: (minCount, maxCount), originalName: previousVersionKeyPath,
                inverse: nil)
        }

        /// Creates a field with its inverse.
        public init<F: RelationshipField>(
            _ keyPath: String, minCount: Int? = nil, maxCount: Int? = nil, inverse: KeyPath<R.Destination, F>,
            deleteRule: DeleteRule = .nullify, previousVersionKeyPath: String? = nil
        ) {
            super.init(
                keyPath, R.Destination.self, R.cardinality, deleteRule, counts: (minCount, maxCount), originalName: previousVersionKeyPath,
                inverse: { ($0 as? R.Destination)?[keyPath: inverse] })
        }

        /// The destination objects. They can be assigned only in a transaction.
        public var wrappedValue: R {
            get { R.read(self) }
            set { newValue.write(self) }
        }

        /// The field.
        public var projectedValue: Relationship { self }
    }
}

extension Optional: FieldRelationshipType where Wrapped: CoreStoreObject {
    /// The class of the destination.
    public typealias Destination = Wrapped
    /// The cardinality of a to-one relationship.
    public static var cardinality: Cardinality { .toOne }
    /// Returns the destination of a field.
    public static func read(_ field: RelationshipField) -> Wrapped? { field.one(Wrapped.self) }
    /// Sets the destination of a field.
    public func write(_ field: RelationshipField) { field.setOne(self) }
}

extension Set: FieldRelationshipType where Element: CoreStoreObject {
    /// The class of the destinations.
    public typealias Destination = Element
    /// The cardinality of an unordered to-many relationship.
    public static var cardinality: Cardinality { .toMany }
    /// Returns the destinations of a field.
    public static func read(_ field: RelationshipField) -> Set<Element> { field.set(Element.self) }
    /// Sets the destinations of a field.
    public func write(_ field: RelationshipField) { field.setMany(self) }
}

extension Array: FieldRelationshipType where Element: CoreStoreObject {
    /// The class of the destinations.
    public typealias Destination = Element
    /// The cardinality of an ordered to-many relationship.
    public static var cardinality: Cardinality { .toManyOrdered }
    /// Returns the destinations of a field, in order.
    public static func read(_ field: RelationshipField) -> [Element] { field.list(Element.self) }
    /// Sets the destinations of a field, in order.
    public func write(_ field: RelationshipField) { field.setMany(self) }
}
