/// A driver that updates a target from one snapshot of a list to the next, and holds the shown snapshot.
///
/// It belongs to the isolation of its target, for example the main actor, and is not sendable.
package final class ListTargetDriver<Target: ListTarget> {
    /// The class of the objects in the list.
    package typealias Object = Target.Object

    /// The target.
    package let target: Target
    /// The snapshot that the target shows. During a step it is the list before or after the step, never an intermediate one.
    package private(set) var snapshot = ListSnapshot<Object>()
    /// The number of changes from which on the target is reloaded; nil for no limit.
    package var changeLimit: Int?

    private var isShown = false
    private var isApplying = false
    /// The number of the current step.
    private var step = 0
    private var waiting: (snapshot: ListSnapshot<Object>, animated: Bool)?

    /// Creates a driver of a target that shows nothing yet.
    package init(_ target: Target, changeLimit: Int? = nil) {
        self.target = target
        self.changeLimit = changeLimit
    }

    /// Shows a snapshot in the target: the first one as a whole, each other by the steps from the shown one.
    ///
    /// A snapshot applied during a step waits until the target shows the previous one. Of several, only the last is shown.
    package func apply(_ snapshot: ListSnapshot<Object>, animated: Bool = true) {
        // Updates of a skipped snapshot must still be shown.
        waiting = (waiting.map { snapshot.updating($0.snapshot) } ?? snapshot, animated)
        if isApplying { return }
        isApplying = true
        defer { isApplying = false }
        while let next = waiting {
            waiting = nil
            lead(to: next.snapshot, animated: next.animated)
        }
    }

    private func reload(_ snapshot: ListSnapshot<Object>) {
        self.snapshot = snapshot
        step += 1
        isShown = true
        target.reloadData(snapshot)
    }

    private func lead(to goal: ListSnapshot<Object>, animated: Bool) {
        if !isShown || target.shouldSuspendBatchUpdates { return reload(goal) }
        let stages = goal.stages(from: snapshot)
        if let changeLimit, stages.reduce(0, { $0 + $1.count }) > changeLimit { return reload(goal) }
        for stage in stages {
            // A target may leave the screen between the steps.
            if target.shouldSuspendBatchUpdates { return reload(goal) }
            step += 1
            target.performBatchUpdates(stage, animated: animated) { [self, step] in
                // A late call must not restore an outdated list.
                if step == self.step { snapshot = stage.snapshot }
            }
            snapshot = stage.snapshot
        }
        step += 1
        snapshot = goal
    }
}
