internal import PolystoreStorage

/// The result of a load.
package struct LoadReport: Sendable {
    /// The number of rows by entity, in the order of the files.
    package var loaded: [(entity: String, count: Int)] = []
    /// The unresolved references, by relationship.
    package var dangling: [Dangling] = []

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
