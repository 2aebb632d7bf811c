public import Polystore

/// The fields of relationships in the form of CoreStore 4. One of the two sides names the inverse.
public enum RelationshipContainer<Object: CoreStoreObject> {
    /// A relationship to at most one object.
    public final class ToOne<D: CoreStoreObject>: RelationshipField {
        /// Creates a field. If there is an inverse, the other side names it.
        public init(_ keyPath: String, deleteRule: DeleteRule = .nullify) { super.init(keyPath, D.self, .toOne, deleteRule, inverse: nil) }

        /// Creates a field with its inverse.
        public init<F: RelationshipField>(_ keyPath: String, inverse: @escaping (D) -> F, deleteRule: DeleteRule = .nullify) {
            super.init(keyPath, D.self, .toOne, deleteRule, inverse: { ($0 as? D).map(inverse) })
        }

        /// The destination. It can be assigned only in a transaction.
        public var value: D? {
            get { one(D.self) }
            set { setOne(newValue) }
        }
    }

    /// A relationship to a list of objects whose order is part of the data.
    public final class ToManyOrdered<D: CoreStoreObject>: RelationshipField {
        /// Creates a field. If there is an inverse, the other side names it.
        public init(_ keyPath: String, minCount: Int? = nil, maxCount: Int? = nil, deleteRule: DeleteRule = .nullify) {
            super.init(keyPath, D.self, .toManyOrdered, deleteRule, counts: (minCount, maxCount), inverse: nil)
        }

        /// Creates a field with its inverse.
        public init<F: RelationshipField>(
            _ keyPath: String, inverse: @escaping (D) -> F, minCount: Int? = nil, maxCount: Int? = nil, deleteRule: DeleteRule = .nullify
        ) {
            super.init(
                keyPath, D.self, .toManyOrdered, deleteRule, counts: (minCount, maxCount), inverse: { ($0 as? D).map(inverse) })
        }

        /// The destinations, in order. They can be assigned only in a transaction.
        public var value: [D] {
            get { list(D.self) }
            set { setMany(newValue) }
        }
    }

    /// A relationship to a set of objects.
    public final class ToManyUnordered<D: CoreStoreObject>: RelationshipField {
        /// Creates a field. If there is an inverse, the other side names it.
        public init(_ keyPath: String, minCount: Int? = nil, maxCount: Int? = nil, deleteRule: DeleteRule = .nullify) {
            super.init(keyPath, D.self, .toMany, deleteRule, counts: (minCount, maxCount), inverse: nil)
        }

        /// Creates a field with its inverse.
        public init<F: RelationshipField>(
            _ keyPath: String, inverse: @escaping (D) -> F, minCount: Int? = nil, maxCount: Int? = nil, deleteRule: DeleteRule = .nullify
        ) {
            super.init(keyPath, D.self, .toMany, deleteRule, counts: (minCount, maxCount), inverse: { ($0 as? D).map(inverse) })
        }

        /// The destinations. They can be assigned only in a transaction.
        public var value: Set<D> {
            get { set(D.self) }
            set { setMany(newValue) }
        }
    }
}
