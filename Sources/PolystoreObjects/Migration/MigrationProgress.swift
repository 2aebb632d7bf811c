public import Dispatch
internal import Synchronization

/// The progress of a store's migration.
///
/// It is reported on a queue of the caller's choice (`setProgressHandler`) or as a sequence (`updates`), and it can be cancelled.
public final class MigrationProgress: Sendable {
    /// The state of a migration at one point.
    public struct Update: Sendable, Hashable {
        /// The completed fraction, from 0 to 1.
        public var fractionCompleted: Double
        /// The number of completed steps.
        public var completedSteps: Int
        /// The number of steps between versions.
        public var totalSteps: Int
        /// The number of rewritten objects, over all steps.
        public var completedObjects: Int

        /// A description of the fraction: `50% completed`.
        public var localizedDescription: String { "\(Int((fractionCompleted * 100).rounded(.down)))% completed" }
        /// A description of the steps: `0 of 2`.
        public var localizedAdditionalDescription: String { "\(completedSteps) of \(totalSteps)" }
    }

    private struct State: Sendable {
        var update: Update
        var isFinished = false
        var isCancelled = false
        var handlers: [@Sendable (Update) -> Void] = []
        var streams: [AsyncStream<Update>.Continuation] = []
    }

    private let state: Mutex<State>

    /// Creates the progress of a number of steps, before the first one.
    public init(steps: Int = 0) {
        state = Mutex(
            State(update: Update(fractionCompleted: 0, completedSteps: 0, totalSteps: steps, completedObjects: 0)))
    }

    /// The current state.
    public var current: Update { state.withLock { $0.update } }

    /// The completed fraction, from 0 to 1.
    public var fractionCompleted: Double { current.fractionCompleted }

    /// A description of the fraction: `50% completed`.
    public var localizedDescription: String { current.localizedDescription }

    /// A description of the steps: `0 of 2`.
    public var localizedAdditionalDescription: String { current.localizedAdditionalDescription }

    /// Whether the migration has ended, successfully or not.
    public var isFinished: Bool { state.withLock { $0.isFinished } }

    /// Whether cancellation was requested.
    public var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Requests cancellation. The current step is undone, and completed steps are kept.
    public func cancel() { state.withLock { $0.isCancelled = true } }

    /// Calls a closure with this progress on the main actor, immediately and at every later change. The closure may use views.
    ///
    /// - Parameter handler: The closure. The program must run the main queue.
    public func setProgressHandler(_ handler: @escaping @MainActor (MigrationProgress) -> Void) {
        setProgressHandler(on: .main) { progress in MainActor.assumeIsolated { handler(progress) } }
    }

    /// Calls a closure with this progress immediately and at every later change.
    ///
    /// - Parameters:
    ///   - queue: The queue on which the closure is called.
    ///   - handler: The closure. On a serial queue the calls are in order.
    public func setProgressHandler(on queue: DispatchQueue, _ handler: @escaping @Sendable (MigrationProgress) -> Void) {
        let call: @Sendable (Update) -> Void = { _ in queue.async { handler(self) } }
        let update = state.withLock { state in
            // A handler retains the progress until the migration ends.
            if !state.isFinished { state.handlers.append(call) }
            return state.update
        }
        call(update)
    }

    /// The present state and all later changes. The sequence ends with the migration. A slow consumer receives the newest states.
    public var updates: AsyncStream<Update> {
        AsyncStream(bufferingPolicy: .bufferingNewest(16)) { continuation in
            let (update, isFinished) = state.withLock { state in
                if !state.isFinished { state.streams.append(continuation) }
                return (state.update, state.isFinished)
            }
            continuation.yield(update)
            if isFinished { continuation.finish() }
        }
    }

    /// Sets and reports the number of steps.
    func begin(steps: Int) { publish { $0.totalSteps = steps } }

    /// Reports the completed part of the current step.
    func advance(fraction: Double, objects: Int) {
        publish { update in
            update.completedObjects = objects
            update.fractionCompleted = min(
                (Double(update.completedSteps) + min(max(fraction, 0), 1)) / Double(max(update.totalSteps, 1)), 1)
        }
    }

    /// Reports the completion of the current step.
    func stepDone() {
        publish { update in
            update.completedSteps += 1
            update.fractionCompleted = min(Double(update.completedSteps) / Double(max(update.totalSteps, 1)), 1)
        }
    }

    /// Ends the sequences. Steps that were not completed remain so.
    func finish() {
        let streams = state.withLock { state in
            state.isFinished = true
            defer {
                state.streams = []
                state.handlers = []
            }
            return state.streams
        }
        for stream in streams { stream.finish() }
    }

    private func publish(_ change: @Sendable (inout Update) -> Void) {
        let (update, handlers, streams) = state.withLock { state in
            change(&state.update)
            return (state.update, state.handlers, state.streams)
        }
        for handler in handlers { handler(update) }
        for stream in streams { stream.yield(update) }
    }
}
