internal import Polystore

extension ObjectProxy {
    /// A field in custom accessors.
    public struct FieldProxy<V> {
        private let field: any AccessedField<V>

        init(_ field: some AccessedField<V>) { self.field = field }

        /// The value, accessed through the custom getter and setter of the field. The accessors of the field itself must use
        /// `primitiveValue` instead, because they would call themselves.
        public var value: V {
            get { field.value }
            nonmutating set { field.value = newValue }
        }

        /// The value without the custom getter and setter: the stored one, or what the accessors of a virtual field have assigned. Nil if
        /// there is none.
        public var primitiveValue: V? {
            get { field.primitiveValue }
            nonmutating set { field.primitiveValue = newValue }
        }
    }
}
