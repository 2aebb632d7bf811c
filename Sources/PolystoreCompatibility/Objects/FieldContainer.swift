public import Foundation
public import Polystore

/// The fields in the form of CoreStore 7 and later: property wrappers whose `$name` is the field itself.
public enum FieldContainer<Object: CoreStoreObject> {
    /// A value in the row; nil is allowed where the type is optional.
    @propertyWrapper
    public final class Stored<V: AttributeValue>: ValueField<V> {
        private let customGetter: ((ObjectProxy<Object>, FieldProxy<V>) -> V)?
        private let customSetter: ((ObjectProxy<Object>, FieldProxy<V>, V) -> Void)?

        /// A field with one initial value for all objects.
        ///
        /// - Parameters:
        ///   - wrappedValue: The value of a new object.
        ///   - keyPath: The stored name.
        ///   - previousVersionKeyPath: The stored name in the previous version of the model.
        ///   - customGetter: What reading the property gives; it finds the stored value in the field's `primitiveValue`.
        ///   - customSetter: What assigning the property does.
        public init(
            wrappedValue: @autoclosure @escaping () -> V, _ keyPath: String, previousVersionKeyPath: String? = nil,
            customGetter: ((_ object: ObjectProxy<Object>, _ field: FieldProxy<V>) -> V)? = nil,
            customSetter: ((_ object: ObjectProxy<Object>, _ field: FieldProxy<V>, _ newValue: V) -> Void)? = nil
        ) {
            self.customGetter = customGetter
            self.customSetter = customSetter
            super.init(keyPath, initial: wrappedValue, isConstant: true, originalName: previousVersionKeyPath)
        }

        /// A field whose initial value is computed for each object.
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

        /// A field that begins with nil.
        public convenience init(_ keyPath: String, previousVersionKeyPath: String? = nil) where V: ExpressibleByNilLiteral {
            self.init(wrappedValue: nil, keyPath, previousVersionKeyPath: previousVersionKeyPath)
        }

        /// The value; assigned only in a transaction.
        public var wrappedValue: V {
            get { value }
            set { value = newValue }
        }

        /// The field.
        public var projectedValue: Stored { self }

        /// The value, through the accessors of the field.
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

        /// A computed property.
        ///
        /// - Parameters:
        ///   - keyPath: Its name.
        ///   - customGetter: What reading it gives.
        ///   - customSetter: What assigning it does; nothing unless said otherwise.
        public init(
            _ keyPath: String, customGetter: @escaping (_ object: ObjectProxy<Object>, _ field: Virtual<V>) -> V,
            customSetter: ((_ object: ObjectProxy<Object>, _ field: Virtual<V>, _ newValue: V) -> Void)? = nil
        ) {
            self.customGetter = customGetter
            self.customSetter = customSetter
            super.init(keyPath)
        }

        /// What the getter gives.
        public var wrappedValue: V {
            // The field itself is reached only through the property of its object, which is alive then.
            get { customGetter(ObjectProxy(unsafeDowncast(owner.unsafelyUnwrapped.takeUnretainedValue(), to: Object.self)), self) }
            set { if let object = object as? Object { customSetter?(ObjectProxy(object), self, newValue) } }
        }
    }

    /// A value of any shape, kept as the bytes that a coder makes of it.
    @propertyWrapper
    public final class Coded<V>: ValueField<Data?> {
        private let encode: (V) -> Data?
        private let decode: (Data?) -> V?
        private let first: () -> V

        /// A field with one initial value for all objects.
        ///
        /// - Parameters:
        ///   - wrappedValue: The value of a new object.
        ///   - keyPath: The stored name.
        ///   - coder: Makes bytes of values, such as `FieldCoders.Json.self`.
        public convenience init<Coder: FieldCoderType>(
            wrappedValue: @autoclosure @escaping () -> V, _ keyPath: String, coder: Coder.Type
        ) where Coder.FieldStoredValue == V {
            self.init(
                wrappedValue: wrappedValue(), keyPath,
                coder: (encode: { Coder.encodeToStoredData($0) }, decode: { Coder.decodeFromStoredData($0) }))
        }

        /// A field that is encoded and decoded by closures.
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

        /// The value; assigned only in a transaction.
        public var wrappedValue: V {
            get { decode(stored) ?? first() }
            set { stored = encode(newValue) }
        }

        /// The field.
        public var projectedValue: Coded { self }
    }

    /// Leads to other objects: `D?` to at most one, `Set<D>` to a set, `[D]` to a list.
    @propertyWrapper
    public final class Relationship<R: FieldRelationshipType>: RelationshipField {
        /// A field whose inverse is named at the other end.
        public init(
            _ keyPath: String, minCount: Int? = nil, maxCount: Int? = nil, deleteRule: DeleteRule = .nullify,
            previousVersionKeyPath: String? = nil
        ) {
            super.init(
                keyPath, R.Destination.self, R.cardinality, deleteRule, counts: (minCount, maxCount), originalName: previousVersionKeyPath,
                inverse: nil)
        }

        /// A field and its inverse.
        public init<F: RelationshipField>(
            _ keyPath: String, minCount: Int? = nil, maxCount: Int? = nil, inverse: KeyPath<R.Destination, F>,
            deleteRule: DeleteRule = .nullify, previousVersionKeyPath: String? = nil
        ) {
            super.init(
                keyPath, R.Destination.self, R.cardinality, deleteRule, counts: (minCount, maxCount), originalName: previousVersionKeyPath,
                inverse: { ($0 as? R.Destination)?[keyPath: inverse] })
        }

        /// The objects; assigned only in a transaction.
        public var wrappedValue: R {
            get { R.read(self) }
            set { newValue.write(self) }
        }

        /// The field.
        public var projectedValue: Relationship { self }
    }
}

/// The types that a `@Field.Relationship` can have.
public protocol FieldRelationshipType {
    /// The class at the other end.
    associatedtype Destination: CoreStoreObject
    /// How many objects it leads to.
    static var cardinality: Cardinality { get }
    /// What a field leads to.
    static func read(_ field: RelationshipField) -> Self
    /// Makes a field lead here.
    func write(_ field: RelationshipField)
}

extension Optional: FieldRelationshipType where Wrapped: CoreStoreObject {
    /// The class of the object.
    public typealias Destination = Wrapped
    /// At most one.
    public static var cardinality: Cardinality { .toOne }
    /// The object.
    public static func read(_ field: RelationshipField) -> Wrapped? { field.one(Wrapped.self) }
    /// Makes a field lead to the object.
    public func write(_ field: RelationshipField) { field.setOne(self) }
}

extension Set: FieldRelationshipType where Element: CoreStoreObject {
    /// The class of the objects.
    public typealias Destination = Element
    /// A set.
    public static var cardinality: Cardinality { .toMany }
    /// The objects.
    public static func read(_ field: RelationshipField) -> Set<Element> { field.set(Element.self) }
    /// Makes a field lead to the objects.
    public func write(_ field: RelationshipField) { field.setMany(self) }
}

extension Array: FieldRelationshipType where Element: CoreStoreObject {
    /// The class of the objects.
    public typealias Destination = Element
    /// A list.
    public static var cardinality: Cardinality { .toManyOrdered }
    /// The objects, in order.
    public static func read(_ field: RelationshipField) -> [Element] { field.list(Element.self) }
    /// Makes a field lead to the objects, in order.
    public func write(_ field: RelationshipField) { field.setMany(self) }
}
