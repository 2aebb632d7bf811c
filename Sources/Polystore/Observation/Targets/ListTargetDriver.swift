/// Leads a target from one snapshot of a list to the next, and holds the one that it shows.
///
/// It belongs to where its target belongs, say the main actor, and cannot be sent elsewhere.
public final class ListTargetDriver<Target: ListTarget> {
    /// The class of the objects in the list.
    public typealias Object = Target.Object

    /// What follows the list.
    public let target: Target
    /// What the target shows. During a step it is the list before or after the step, never one between.
    public private(set) var snapshot = ListSnapshot<Object>()
    /// The number of changes from which on the target shows the list anew; nil for no limit.
    public var changeLimit: Int?

    private var isShown = false
    private var isApplying = false
    /// Which step the target makes.
    private var step = 0
    private var waiting: (snapshot: ListSnapshot<Object>, animated: Bool)?

    /// A driver of a target that shows nothing yet.
    public init(_ target: Target, changeLimit: Int? = nil) {
        self.target = target
        self.changeLimit = changeLimit
    }

    /// Has the target show a snapshot: the first one as a whole, each other by the steps that lead to it from the one shown.
    ///
    /// Given while the target makes a step, a snapshot waits until the target shows the one before; of several the last counts.
    public func apply(_ snapshot: ListSnapshot<Object>, animated: Bool = true) {
        // What was updated in a snapshot that is passed over is still to be shown.
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
            // In the middle of the steps a target may leave the screen.
            if target.shouldSuspendBatchUpdates { return reload(goal) }
            step += 1
            target.performBatchUpdates(stage, animated: animated) { [self, step] in
                // Called late it must not bring back a list that is over.
                if step == self.step { snapshot = stage.snapshot }
            }
            snapshot = stage.snapshot
        }
        step += 1
        snapshot = goal
    }
}
