public import Polystore

extension FieldContainer {
    /// A relationship to other objects: `D?` to at most one, `Set<D>` to a set, `[D]` to an ordered list.
    @propertyWrapper
    public final class Relationship<R: FieldRelationshipType>: RelationshipField {
        /// The class of the destinations.
        public typealias Destination = R.Destination

        /// Creates a field. If there is an inverse, the other side names it. The modifier of the version's hash has no effect.
        public init(
            _ keyPath: String, minCount: Int? = nil, maxCount: Int? = nil, deleteRule: DeleteRule = .nullify,
            versionHashModifier: String? = nil, previousVersionKeyPath: String? = nil
        ) {
            super.init(
                keyPath, R.Destination.self, R.cardinality, deleteRule, counts: (minCount, maxCount), originalName: previousVersionKeyPath,
                inverse: nil)
        }

        /// Creates a field with its inverse. The modifier of the version's hash has no effect.
        public init<F: RelationshipField>(
            _ keyPath: String, minCount: Int? = nil, maxCount: Int? = nil, inverse: KeyPath<R.Destination, F>,
            deleteRule: DeleteRule = .nullify, versionHashModifier: String? = nil, previousVersionKeyPath: String? = nil
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

        /// The destination objects. They can be assigned only in a transaction.
        public var value: R {
            get { wrappedValue }
            set { wrappedValue = newValue }
        }
    }
}
