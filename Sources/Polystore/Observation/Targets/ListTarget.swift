/// A front end that follows a list: a table on a screen, a page of a browser.
///
/// A `ListTargetDriver` tells it what to do. A target is called where the driver is used, say on the main actor; one that is confined to
/// an actor conforms there: `extension Table: @MainActor ListTarget`.
public protocol ListTarget {
    /// The class of the objects in the list.
    associatedtype Object: ManagedObject

    /// Whether the target is better shown anew than changed step by step, for example while it is not on the screen.
    var shouldSuspendBatchUpdates: Bool { get }

    /// Shows a list as a whole. The driver holds it already.
    func reloadData(_ snapshot: ListSnapshot<Object>)

    /// Makes one step; what changes is of one kind and can be made in any order.
    ///
    /// `show` makes the snapshot of the step the one that the driver holds. A front end that asks the driver what to show calls it at the
    /// moment from which it is to get the new answers; if it does not, the driver does so when the method returns.
    func performBatchUpdates(_ stage: ListStage<Object>, animated: Bool, show: @escaping () -> Void)
}

extension ListTarget {
    /// False: every change is made step by step.
    public var shouldSuspendBatchUpdates: Bool { false }
}
