internal import Polystore

extension FieldContainer {
    /// A value that is computed and not stored.
    @propertyWrapper
    public final class Virtual<V>: FieldBase {
        private let customGetter: Getter<V>
        private let customSetter: Setter<V>?
        /// The value that the accessors keep in the instance of the object.
        var primitiveValue: V?

        /// Creates a computed property.
        ///
        /// - Parameters:
        ///   - keyPath: The name of the property.
        ///   - customGetter: The getter of the property. It can keep a value in the `primitiveValue` of the field, as long as the instance
        ///     of the object is alive.
        ///   - customSetter: The setter of the property. By default assignments have no effect.
        ///   - affectedByKeyPaths: Has no effect: an observer compares the value of its property after each commit.
        public init(
            _ keyPath: String, customGetter: @escaping Getter<V>, customSetter: Setter<V>? = nil, affectedByKeyPaths: Set<String> = []
        ) {
            self.customGetter = customGetter
            self.customSetter = customSetter
            super.init(keyPath)
        }

        package override var storedName: String? { nil }

        /// The result of the getter.
        public var wrappedValue: V {
            get { value }
            set { value = newValue }
        }

        /// The field.
        public var projectedValue: Virtual { self }

        /// The result of the getter.
        ///
        /// The object must be alive.
        public var value: V {
            get {
                guard let object else { preconditionFailure("the object of the field \(keyPath) no longer exists") }
                return customGetter(ObjectProxy(unsafeDowncast(object, to: Object.self)), ObjectProxy.FieldProxy(self))
            }
            set {
                if let customSetter, let object = object as? Object {
                    customSetter(ObjectProxy(object), ObjectProxy.FieldProxy(self), newValue)
                }
            }
        }
    }
}

extension FieldContainer.Virtual: AccessedField {}
