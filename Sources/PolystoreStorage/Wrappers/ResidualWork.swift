/// The amount of work that a request caused above its store.
package struct ResidualWork: Sendable {
    /// The entity of the request.
    package let entity: String
    /// The number of rows that the store returned.
    package let read: Int
    /// The number of these rows that were part of the result, or were grouped for it.
    package let found: Int
}
