public import Polystore

extension FieldContainer {
    /// A value in the row. Nil is allowed if the type is optional.
    @propertyWrapper
    public final class Stored<V: AttributeValue>: ValueField<V> {
        let customGetter: Getter<V>?
        private let customSetter: Setter<V>?

        private init(
            _ keyPath: String, _ initial: @escaping () -> V, isConstant: Bool, _ originalName: String?, _ customGetter: Getter<V>?,
            _ customSetter: Setter<V>?
        ) {
            self.customGetter = customGetter
            self.customSetter = customSetter
            super.init(keyPath, initial: initial, isConstant: isConstant, originalName: originalName)
        }

        /// Creates a field with the same initial value for all objects.
        ///
        /// - Parameters:
        ///   - wrappedValue: The value of a new object.
        ///   - keyPath: The stored name.
        ///   - versionHashModifier: Has no effect, as that of an `Entity`.
        ///   - previousVersionKeyPath: The stored name in the previous version of the model.
        ///   - customGetter: The getter of the property. It reads the stored value from the `primitiveValue` of the field.
        ///   - customSetter: The setter of the property.
        ///   - affectedByKeyPaths: Has no effect: an observer compares the value of its property after each commit.
        public convenience init(
            wrappedValue: @autoclosure @escaping () -> V, _ keyPath: String, versionHashModifier: String? = nil,
            previousVersionKeyPath: String? = nil,
            customGetter: Getter<V>? = nil, customSetter: Setter<V>? = nil, affectedByKeyPaths: Set<String> = []
        ) {
            self.init(keyPath, wrappedValue, isConstant: true, previousVersionKeyPath, customGetter, customSetter)
        }

        /// Creates a field whose initial value is computed for each object.
        ///
        /// - Parameters:
        ///   - keyPath: The stored name.
        ///   - versionHashModifier: Has no effect, as that of an `Entity`.
        ///   - previousVersionKeyPath: The stored name in the previous version of the model.
        ///   - customGetter: The getter of the property. It reads the stored value from the `primitiveValue` of the field.
        ///   - customSetter: The setter of the property.
        ///   - affectedByKeyPaths: Has no effect: an observer compares the value of its property after each commit.
        ///   - dynamicInitialValue: Called for each new object.
        public convenience init(
            _ keyPath: String, versionHashModifier: String? = nil, previousVersionKeyPath: String? = nil, customGetter: Getter<V>? = nil,
            customSetter: Setter<V>? = nil,
            affectedByKeyPaths: Set<String> = [], dynamicInitialValue: @escaping () -> V
        ) {
            self.init(keyPath, dynamicInitialValue, isConstant: false, previousVersionKeyPath, customGetter, customSetter)
        }

        /// Creates a field whose initial value is nil.
        public convenience init(
            _ keyPath: String, versionHashModifier: String? = nil, previousVersionKeyPath: String? = nil, customGetter: Getter<V>? = nil,
            customSetter: Setter<V>? = nil,
            affectedByKeyPaths: Set<String> = []
        ) where V: ExpressibleByNilLiteral {
            self.init(keyPath, { nil }, isConstant: true, previousVersionKeyPath, customGetter, customSetter)
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
                guard let customGetter, let object = object as? Object, isInSnapshot || !object._isPrototype else { return stored }
                return customGetter(ObjectProxy(object), ObjectProxy.FieldProxy(self))
            }
            set {
                guard let customSetter, let object = object as? Object else { return stored = newValue }
                customSetter(ObjectProxy(object), ObjectProxy.FieldProxy(self), newValue)
            }
        }
    }
}

extension FieldContainer.Stored: AccessedField {
    /// The value in the row. Nil is stored as the placeholder of a type that is not optional.
    var primitiveValue: V? {
        get { stored }
        set { stored = newValue ?? V.placeholder }
    }
}
