public import Polystore

extension CoreStoreObject: FieldDeclaring {}

/// The fields of values in the form of CoreStore 4.
public enum ValueContainer<Object: CoreStoreObject> {
    /// A value that is never nil.
    public final class Required<V: AttributeValue>: ValueField<V> {
        /// Creates a field.
        ///
        /// - Parameters:
        ///   - keyPath: The stored name.
        ///   - initial: The value of a new object. The default is the placeholder of its type.
        ///   - previousVersionKeyPath: The stored name in the previous version of the model.
        public init(_ keyPath: String, initial: @autoclosure @escaping () -> V = V.placeholder, previousVersionKeyPath: String? = nil) {
            super.init(keyPath, initial: initial, isConstant: true, originalName: previousVersionKeyPath)
        }

        /// The value. It can be assigned only in a transaction.
        public var value: V {
            get { stored }
            set { stored = newValue }
        }
    }

    /// A value that may be nil.
    public final class Optional<V: AttributeValue>: ValueField<V?> {
        /// Creates a field.
        ///
        /// - Parameters:
        ///   - keyPath: The stored name.
        ///   - initial: The value of a new object.
        ///   - previousVersionKeyPath: The stored name in the previous version of the model.
        public init(_ keyPath: String, initial: @autoclosure @escaping () -> V? = nil, previousVersionKeyPath: String? = nil) {
            super.init(keyPath, initial: initial, isConstant: true, originalName: previousVersionKeyPath)
        }

        /// The value. It can be assigned only in a transaction.
        public var value: V? {
            get { stored }
            set { stored = newValue }
        }
    }
}
