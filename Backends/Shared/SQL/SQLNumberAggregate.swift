internal import PolystoreStorage

/// An engine's computation of an aggregate over numbers.
package struct SQLNumberAggregate: Sendable {
    /// The values of the aggregate: a total, a deviation, or the two values in the middle.
    package let values: [SQLText]
    /// The number of values for which the engine would fail or compute a different result; nil where there can be none.
    package let beyond: SQLText?

    /// Creates an aggregate.
    package init(_ values: SQLText..., beyond: SQLText? = nil) {
        self.values = values
        self.beyond = beyond
    }
}
