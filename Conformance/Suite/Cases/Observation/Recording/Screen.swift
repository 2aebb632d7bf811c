internal import Polystore
internal import Synchronization

/// An observer of a list in its own isolation, like a screen. It is notified soon after each commit, without polling.
actor Screen {
    /// A recorded event.
    struct Event: Sendable {
        let source: String?
        let isRefetch: Bool
        let count: Int
    }

    private final class Tape: Sendable {
        let events = Mutex<[Event]>([])
        let problems = Mutex<[String]>([])
        let shown = Mutex(ShadowList([]))
    }

    private let executor = QueueExecutor()
    private let view: ViewContext
    private let tape = Tape()
    private var monitor: ListMonitor<Person>?
    private var recorder: ListRecorder<Person>?

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    /// The events so far.
    nonisolated var seen: [Event] { tape.events.withLock { $0 } }
    /// The list that results from the events.
    nonisolated var shown: ShadowList { tape.shown.withLock { $0 } }
    nonisolated var problems: [String] { tape.problems.withLock { $0 } }

    init(_ view: sending ViewContext) { self.view = view }

    /// Begins to observe a list, and calls `body` at the end of each event.
    func start(_ from: From<Person>, _ body: @escaping @Sendable (ListMonitor<Person>) -> Void = { _ in }) throws {
        let monitor = try view.monitorList(from), recorder = ListRecorder(monitor), tape = tape
        tape.shown.withLock { $0 = recorder.shown }
        recorder.whenTold = { [weak recorder] monitor in
            guard let recorder else { return }
            let isRefetch = recorder.calls.last == "didRefetch"
            tape.problems.withLock { $0 = recorder.problems }
            tape.events.withLock {
                $0.append(Event(source: recorder.sources.last ?? nil, isRefetch: isRefetch, count: monitor.numberOfObjects))
            }
            // Last, so that a caller that waits for the list already has the events.
            tape.shown.withLock { $0 = recorder.shown }
            body(monitor)
        }
        (self.monitor, self.recorder) = (monitor, recorder)
    }

    /// Stops observing.
    func end() { (monitor, recorder) = (nil, nil) }
}
