/// The amount of work that a request caused above its store.
package struct ResidualWork: Sendable {
    /// The entity of the request.
    package let entity: String
    /// The number of its rows that the store returned.
    package let read: Int
    /// The number of rows that relationships of these rows reference and that were read, each as often as it was read.
    package let related: Int
    /// The number of the rows of the entity that were part of the result, or were grouped for it.
    package let found: Int
}
