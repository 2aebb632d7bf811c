internal import PolystoreStorage

/// The result of a load.
package struct LoadReport: Sendable {
    /// The loaded records of each file, in their order.
    package var loaded: [Loaded] = []
    /// The unresolved references, by relationship.
    package var dangling: [Dangling] = []

    /// The loaded records of one file.
    package struct Loaded: Sendable, Hashable {
        /// The entity of its records.
        package let entity: String
        /// The number of new objects.
        package var count = 0
        /// The number of records that changed an object of the store or of an earlier record.
        package var updated = 0
        /// The number of records whose object had the same values.
        package var unchanged = 0
    }

    /// The unresolved references of one relationship.
    package struct Dangling: Sendable, Hashable {
        /// The relationship, as `Entity.name`.
        package let relationship: String
        /// The number of rows whose columns reference an object that does not exist.
        package var unresolved: Int
        /// The number of different objects that are referenced and do not exist.
        package var distinct: Int
        /// The number of rows whose columns contain no reference.
        package var unnamed: Int
    }
}
