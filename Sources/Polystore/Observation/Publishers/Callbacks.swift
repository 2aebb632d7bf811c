internal import Synchronization

/// The closures that observers of a publisher have asked to be called.
final class Callbacks: Sendable {
    private struct State: Sendable {
        var tasks: [ObjectIdentifier: (number: Int, task: Task<Void, Never>)] = [:]
        var next = 0
    }

    private let state = Mutex(State())

    deinit { for item in state.withLock({ Array($0.tasks.values) }) { item.task.cancel() } }

    /// Calls `body` after each new value, in an isolation, until the observer is gone or removed. An observer has one closure; another one
    /// takes its place.
    ///
    /// - Parameters:
    ///   - observer: Whose interest it is.
    ///   - published: What is followed.
    ///   - notifyInitial: Whether `body` is also called for the value that is there.
    ///   - isolation: Where `body` is called.
    ///   - body: What is called, with the newest value and the notes since the last time.
    func add<Observer: AnyObject, Value, Note>(
        _ observer: Observer, _ published: PublishedValue<Value, Note>, notifyInitial: Bool, isolation: isolated any Actor,
        _ body: @escaping (Value, [Note]) -> Void
    ) {
        remove(observer)
        let id = ObjectIdentifier(observer)
        let steps = published.steps(skipsFirst: !notifyInitial)
        let call = Call(observer: observer, body: body), home = WeakActor(isolation)
        // Begun behind the lock, so that a task that ends at once finds itself to be forgotten.
        state.withLock { state in
            state.next += 1
            let number = state.next
            state.tasks[id] = (number, Self.tellSteps(steps, call, home) { [weak self] in self?.forget(id, number) })
        }
    }

    /// A closure on its way to its isolation.
    ///
    /// Unchecked: it is called by `tell` alone, which runs in the isolation that gave it.
    private struct Call<Value, Note>: @unchecked Sendable {
        weak var observer: AnyObject?
        let body: (Value, [Note]) -> Void
    }

    /// Calls a closure after each step. The task does not hold the actor, which may hold the publisher.
    private static func tellSteps<Value, Note>(
        _ steps: PublishedValue<Value, Note>.Steps, _ call: Call<Value, Note>, _ home: WeakActor, _ end: @escaping @Sendable () -> Void
    ) -> Task<Void, Never> {
        Task {
            var steps = steps.makeAsyncIterator()
            while await steps.wait(), let actor = home.actor, let number = await tell(call, steps.published, since: steps.number, actor) {
                steps.number = number
            }
            end()
        }
    }

    /// Calls a closure with what is new once its isolation is free, so that nothing that came while it was not is told twice.
    ///
    /// - Returns: The number of the value that the observer has now; nil ends it, when the observer is gone or removed.
    private static func tell<Value, Note>(
        _ call: Call<Value, Note>, _ published: PublishedValue<Value, Note>, since number: Int, _ isolation: isolated any Actor
    ) -> Int? {
        if Task.isCancelled || call.observer == nil { return nil }
        let current = published.current(since: number)
        if current.number != number { call.body(current.value, current.notes) }
        return current.number
    }

    /// Calls nothing more for an observer.
    func remove(_ observer: AnyObject) {
        state.withLock { $0.tasks.removeValue(forKey: ObjectIdentifier(observer)) }?.task.cancel()
    }

    /// Not inlined into the task that calls it: decision 0038, "No lock is inlined where a task waits".
    @inline(never) private func forget(_ id: ObjectIdentifier, _ number: Int) {
        state.withLock { state in if state.tasks[id]?.number == number { state.tasks[id] = nil } }
    }

    /// The number of observers; for tests.
    var count: Int { state.withLock { $0.tasks.count } }
}
