public import Foundation
public import Polystore

extension FieldContainer {
    /// A value of any type, stored as the bytes that a coder creates from it.
    @propertyWrapper
    public final class Coded<V>: ValueField<Data?> {
        /// The closures that encode and decode the values of a field. A nil result of `encode` is stored as nil.
        public typealias Coder = (encode: (V) -> Data?, decode: (Data?) -> V?)

        private let coder: Coder
        private let first: () -> V
        let customGetter: Getter<V>?
        private let customSetter: Setter<V>?

        private init(
            _ keyPath: String, _ first: @escaping () -> V, _ coder: Coder, _ originalName: String?, _ customGetter: Getter<V>?,
            _ customSetter: Setter<V>?
        ) {
            self.coder = coder
            self.first = first
            self.customGetter = customGetter
            self.customSetter = customSetter
            super.init(keyPath, initial: { coder.encode(first()) }, isConstant: false, originalName: originalName)
        }

        /// Creates a field with the same initial value for all objects.
        ///
        /// - Parameters:
        ///   - wrappedValue: The value of a new object.
        ///   - keyPath: The stored name.
        ///   - versionHashModifier: Has no effect, as that of an `Entity`.
        ///   - previousVersionKeyPath: The stored name in the previous version of the model.
        ///   - coder: The coder of the values, such as `FieldCoders.Json.self`.
        ///   - customGetter: The getter of the property. It reads the stored value from the `primitiveValue` of the field.
        ///   - customSetter: The setter of the property.
        ///   - affectedByKeyPaths: Has no effect: an observer compares the value of its property after each commit.
        public convenience init<C: FieldCoderType>(
            wrappedValue: @autoclosure @escaping () -> V, _ keyPath: String, versionHashModifier: String? = nil,
            previousVersionKeyPath: String? = nil, coder: C.Type,
            customGetter: Getter<V>? = nil, customSetter: Setter<V>? = nil, affectedByKeyPaths: Set<String> = []
        ) where C.FieldStoredValue == V {
            self.init(keyPath, wrappedValue, Self.closures(of: coder), previousVersionKeyPath, customGetter, customSetter)
        }

        /// Creates a field whose initial value is computed for each object.
        public convenience init<C: FieldCoderType>(
            _ keyPath: String, versionHashModifier: String? = nil, previousVersionKeyPath: String? = nil, coder: C.Type,
            customGetter: Getter<V>? = nil,
            customSetter: Setter<V>? = nil, affectedByKeyPaths: Set<String> = [], dynamicInitialValue: @escaping () -> V
        ) where C.FieldStoredValue == V {
            self.init(keyPath, dynamicInitialValue, Self.closures(of: coder), previousVersionKeyPath, customGetter, customSetter)
        }

        /// Creates a field whose initial value is nil. Nil is stored as nil and does not concern the coder.
        public convenience init<C: FieldCoderType>(
            _ keyPath: String, versionHashModifier: String? = nil, previousVersionKeyPath: String? = nil, coder: C.Type,
            customGetter: Getter<V>? = nil,
            customSetter: Setter<V>? = nil, affectedByKeyPaths: Set<String> = []
        ) where V == C.FieldStoredValue? {
            self.init(
                keyPath, { nil },
                (encode: { $0.flatMap { C.encodeToStoredData($0) } }, decode: { $0.map { C.decodeFromStoredData($0) } }),
                previousVersionKeyPath, customGetter, customSetter)
        }

        /// Creates a field whose values are encoded and decoded by closures.
        public convenience init(
            wrappedValue: @autoclosure @escaping () -> V, _ keyPath: String, versionHashModifier: String? = nil,
            previousVersionKeyPath: String? = nil, coder: Coder,
            customGetter: Getter<V>? = nil, customSetter: Setter<V>? = nil, affectedByKeyPaths: Set<String> = []
        ) {
            self.init(keyPath, wrappedValue, coder, previousVersionKeyPath, customGetter, customSetter)
        }

        /// Creates a field whose values are encoded and decoded by closures, and whose initial value is computed for each object.
        public convenience init(
            _ keyPath: String, versionHashModifier: String? = nil, previousVersionKeyPath: String? = nil, coder: Coder,
            customGetter: Getter<V>? = nil,
            customSetter: Setter<V>? = nil, affectedByKeyPaths: Set<String> = [], dynamicInitialValue: @escaping () -> V
        ) {
            self.init(keyPath, dynamicInitialValue, coder, previousVersionKeyPath, customGetter, customSetter)
        }

        private static func closures<C: FieldCoderType>(of coder: C.Type) -> Coder where C.FieldStoredValue == V {
            (encode: { C.encodeToStoredData($0) }, decode: { C.decodeFromStoredData($0) })
        }

        /// The value. It can be assigned only in a transaction.
        public var wrappedValue: V {
            get { value }
            set { value = newValue }
        }

        /// The field.
        public var projectedValue: Coded { self }

        /// The value, accessed through the custom getter and setter of the field.
        public var value: V {
            get {
                guard let customGetter, let object = object as? Object, isInSnapshot || !object._isPrototype else { return decoded(stored) }
                return customGetter(ObjectProxy(object), ObjectProxy.FieldProxy(self))
            }
            set {
                guard let customSetter, let object = object as? Object else { return stored = coder.encode(newValue) }
                customSetter(ObjectProxy(object), ObjectProxy.FieldProxy(self), newValue)
            }
        }

        /// Returns the value of stored bytes, or the initial value if the coder cannot decode them.
        func decoded(_ bytes: Data?) -> V { coder.decode(bytes) ?? first() }

        /// Returns the stored bytes of a value.
        func encoded(_ value: V) -> Data? { coder.encode(value) }
    }
}

extension FieldContainer.Coded: AccessedField {
    /// The decoded value in the row; nil if the coder cannot decode it. Nil is stored as nil.
    var primitiveValue: V? {
        get { coder.decode(stored) }
        set { stored = newValue.flatMap(coder.encode) }
    }
}
