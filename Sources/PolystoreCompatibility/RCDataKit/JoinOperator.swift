internal import Polystore

/// The operator with which conditions are combined.
public enum JoinOperator: Sendable {
    /// All conditions must be satisfied.
    case and
    /// At least one condition must be satisfied.
    case or
}
