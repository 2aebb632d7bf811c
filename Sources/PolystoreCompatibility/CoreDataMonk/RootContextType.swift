/// Whether a stack of CoreDataMonk has a root context between its main contexts and the store, through which commit notifications pass.
///
/// Polystore needs no such context. The value only declares whether a main context may merge automatically.
public enum RootContextType: Sendable {
    /// Contexts are merged manually.
    case none
    /// Contexts can merge every commit automatically.
    case shared
}
