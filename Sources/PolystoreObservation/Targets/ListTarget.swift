public import PolystoreObjects

/// A front end that follows a list, such as a table on a screen or a page of a browser.
///
/// A `ListTargetDriver` calls it, in the isolation in which the driver is used, for example the main actor. A target that is confined to an
/// actor conforms there: `extension Table: @MainActor ListTarget`.
public protocol ListTarget {
    /// The class of the objects in the list.
    associatedtype Object: ManagedObject

    /// Whether the target should be reloaded instead of changed step by step, for example while it is not on the screen.
    var shouldSuspendBatchUpdates: Bool { get }

    /// Shows a list as a whole. The driver already holds it.
    func reloadData(_ snapshot: ListSnapshot<Object>)

    /// Applies one step. Its changes are of one kind and can be applied in any order.
    ///
    /// `show` makes the snapshot of the step the current one of the driver. A front end that reads the contents from the driver calls it at
    /// the moment from which on it needs the new contents. Otherwise the driver does so when the method returns.
    func performBatchUpdates(_ stage: ListStage<Object>, animated: Bool, show: @escaping () -> Void)
}

extension ListTarget {
    /// False: every change is applied step by step.
    public var shouldSuspendBatchUpdates: Bool { false }
}
