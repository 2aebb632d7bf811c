internal import Foundation
public import Polystore

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
