internal import PolystoreStorage

/// The severity of a message.
public enum StoreLogLevel: Sendable, Hashable, CaseIterable {
    /// Details for the analysis of a problem.
    case trace
    /// An occasional event in the life of a stack.
    case notice
    /// A condition that works, but not as intended.
    case warning
}
