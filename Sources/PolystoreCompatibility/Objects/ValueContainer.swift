internal import Foundation
public import Polystore

/// The members that depend on the class of the receiver. Only subclasses of `CoreStoreObject` conform, so that other classes do not have
/// these names.
public protocol FieldDeclaring: CoreStoreObject {}

extension CoreStoreObject: FieldDeclaring {}

extension FieldDeclaring {
    /// The fields of values in the form of CoreStore 4: `let name = Value.Required<String>("name")`.
    public typealias Value = ValueContainer<Self>
    /// The fields of relationships in the form of CoreStore 4: `let master = Relationship.ToOne<Person>("master")`.
    public typealias Relationship = RelationshipContainer<Self>
    /// The fields of values of any type in the form of CoreStore 4.
    public typealias Transformable = TransformableContainer<Self>
    /// The fields in the form of CoreStore 7 and later: `@Field.Stored("name") var name: String = ""`.
    public typealias Field = FieldContainer<Self>
}

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

/// The fields of values of any type in the form of CoreStore 4, stored as property lists.
public enum TransformableContainer<Object: CoreStoreObject> {
    /// A value that is stored in every object.
    public final class Required<V: Codable & Sendable>: ValueField<CodedBox<V>> {
        /// Creates a field with the value of a new object.
        public init(_ keyPath: String, initial: V) {
            super.init(
                keyPath, initial: { CodedBox(value: initial, bytes: Data()) }, isConstant: false, originalName: nil)
        }

        /// The value, or nil if the stored bytes cannot be decoded. It can be assigned only in a transaction.
        public var value: V? {
            get { stored.value }
            set { stored = CodedBox(value: newValue, bytes: Data()) }
        }
    }

    /// A value that may be nil.
    public final class Optional<V: Codable & Sendable>: ValueField<CodedBox<V>?> {
        /// Creates a field.
        public init(_ keyPath: String) { super.init(keyPath, initial: { nil }, isConstant: true, originalName: nil) }

        /// The value. It can be assigned only in a transaction.
        public var value: V? {
            get { stored?.value }
            set { stored = newValue.map { CodedBox(value: $0, bytes: Data()) } }
        }
    }
}
