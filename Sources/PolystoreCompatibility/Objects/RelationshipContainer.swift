public import Polystore

/// The fields of relationships in CoreStore 4's form. One of the two sides names the inverse.
public enum RelationshipContainer<Object: CoreStoreObject> {
    /// Leads to at most one object.
    public final class ToOne<D: CoreStoreObject>: RelationshipField {
        /// A field whose inverse is named at the other end.
        public init(_ keyPath: String, deleteRule: DeleteRule = .nullify) { super.init(keyPath, D.self, .toOne, deleteRule, inverse: nil) }

        /// A field and its inverse.
        public init<F: RelationshipField>(_ keyPath: String, inverse: @escaping (D) -> F, deleteRule: DeleteRule = .nullify) {
            super.init(keyPath, D.self, .toOne, deleteRule, inverse: { ($0 as? D).map(inverse) })
        }

        /// The object; assigned only in a transaction.
        public var value: D? {
            get { one(D.self) }
            set { setOne(newValue) }
        }
    }

    /// Leads to a list of objects, whose order is part of the data.
    public final class ToManyOrdered<D: CoreStoreObject>: RelationshipField {
        /// A field whose inverse is named at the other end.
        public init(_ keyPath: String, minCount: Int? = nil, maxCount: Int? = nil, deleteRule: DeleteRule = .nullify) {
            super.init(keyPath, D.self, .toManyOrdered, deleteRule, counts: (minCount, maxCount), inverse: nil)
        }

        /// A field and its inverse.
        public init<F: RelationshipField>(
            _ keyPath: String, inverse: @escaping (D) -> F, minCount: Int? = nil, maxCount: Int? = nil, deleteRule: DeleteRule = .nullify
        ) {
            super.init(
                keyPath, D.self, .toManyOrdered, deleteRule, counts: (minCount, maxCount), inverse: { ($0 as? D).map(inverse) })
        }

        /// The objects, in order; assigned only in a transaction.
        public var value: [D] {
            get { list(D.self) }
            set { setMany(newValue) }
        }
    }

    /// Leads to a set of objects.
    public final class ToManyUnordered<D: CoreStoreObject>: RelationshipField {
        /// A field whose inverse is named at the other end.
        public init(_ keyPath: String, minCount: Int? = nil, maxCount: Int? = nil, deleteRule: DeleteRule = .nullify) {
            super.init(keyPath, D.self, .toMany, deleteRule, counts: (minCount, maxCount), inverse: nil)
        }

        /// A field and its inverse.
        public init<F: RelationshipField>(
            _ keyPath: String, inverse: @escaping (D) -> F, minCount: Int? = nil, maxCount: Int? = nil, deleteRule: DeleteRule = .nullify
        ) {
            super.init(keyPath, D.self, .toMany, deleteRule, counts: (minCount, maxCount), inverse: { ($0 as? D).map(inverse) })
        }

        /// The objects; assigned only in a transaction.
        public var value: Set<D> {
            get { set(D.self) }
            set { setMany(newValue) }
        }
    }
}
