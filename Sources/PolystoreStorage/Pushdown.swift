/// The way in which a store evaluates a node of a plan.
public enum Pushdown: Sendable, Hashable {
    /// The store evaluates the node exactly.
    case exact
    /// The store evaluates the node but returns additional rows, which a residual filter in the layer above must remove. Rows for which
    /// the node fails are among them; the store itself does not fail.
    case inexact
    /// The store does not evaluate the node. The layer above filters and sorts.
    case unsupported
}
