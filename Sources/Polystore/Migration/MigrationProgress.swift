public import Dispatch
internal import Synchronization

/// How far the migration of a store has come.
///
/// It is told about on a queue of the caller's choice (`setProgressHandler`) or as a sequence (`updates`), and it can be cancelled.
public final class MigrationProgress: Sendable {
    /// One moment of a migration.
    public struct Update: Sendable, Hashable {
        /// The part that is done, from 0 to 1.
        public var fractionCompleted: Double
        /// The number of steps that are done.
        public var completedSteps: Int
        /// The number of steps between versions.
        public var totalSteps: Int
        /// The number of objects that were written anew, of all steps.
        public var completedObjects: Int

        /// The part in words: `50% completed`.
        public var localizedDescription: String { "\(Int((fractionCompleted * 100).rounded(.down)))% completed" }
        /// The steps in words: `0 of 2`.
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

    /// Progress of so many steps, at its beginning.
    public init(steps: Int = 0) {
        state = Mutex(
            State(update: Update(fractionCompleted: 0, completedSteps: 0, totalSteps: steps, completedObjects: 0)))
    }

    /// Where it is now.
    public var current: Update { state.withLock { $0.update } }

    /// The part that is done, from 0 to 1.
    public var fractionCompleted: Double { current.fractionCompleted }

    /// The part in words: `50% completed`.
    public var localizedDescription: String { current.localizedDescription }

    /// The steps in words: `0 of 2`.
    public var localizedAdditionalDescription: String { current.localizedAdditionalDescription }

    /// Whether it has ended, well or not.
    public var isFinished: Bool { state.withLock { $0.isFinished } }

    /// Whether it was asked to end early.
    public var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Asks the migration to end. The step at work is undone; steps that are done stay.
    public func cancel() { state.withLock { $0.isCancelled = true } }

    /// Calls a closure with this progress at every change from now on, and once at once.
    ///
    /// - Parameters:
    ///   - queue: Where the closure is called; the main queue by default, which a program has to run.
    ///   - handler: The closure. On a serial queue the calls come in order.
    public func setProgressHandler(on queue: DispatchQueue = .main, _ handler: @escaping @Sendable (MigrationProgress) -> Void) {
        let call: @Sendable (Update) -> Void = { _ in queue.async { handler(self) } }
        let update = state.withLock { state in
            // A handler holds the progress until it ends.
            if !state.isFinished { state.handlers.append(call) }
            return state.update
        }
        call(update)
    }

    /// The changes from now on, beginning with where it is; it ends with the migration. A slow reader sees the newest ones.
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

    /// Tells how many steps there are.
    func begin(steps: Int) { publish { $0.totalSteps = steps } }

    /// Tells that a part of the step at work is done.
    func advance(fraction: Double, objects: Int) {
        publish { update in
            update.completedObjects = objects
            update.fractionCompleted = min(
                (Double(update.completedSteps) + min(max(fraction, 0), 1)) / Double(max(update.totalSteps, 1)), 1)
        }
    }

    /// Tells that the step at work is done.
    func stepDone() {
        publish { update in
            update.completedSteps += 1
            update.fractionCompleted = min(Double(update.completedSteps) / Double(max(update.totalSteps, 1)), 1)
        }
    }

    /// Ends the sequences; what was not done stays so.
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
