package import PolystoreStorage

/// An observer of the stores that are added to a stack.
package protocol StoreAdditionObserver: AnyObject, Sendable {
    /// Is called before a store becomes part of the stack, on the thread that adds it. No lock is held.
    ///
    /// - Parameter isReplacement: Whether it replaces another store, whose objects it contains.
    func willAdd(_ store: OpenStore, isReplacement: Bool)
}
