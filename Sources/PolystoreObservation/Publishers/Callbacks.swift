internal import PolystoreObjects
internal import Synchronization

/// The closures that observers have added to a publisher.
final class Callbacks: Sendable {
    private struct State: Sendable {
        var tasks: [ObjectIdentifier: (number: Int, task: Task<Void, Never>)] = [:]
        var next = 0
    }

    private let state = Mutex(State())

    deinit { for item in state.withLock({ Array($0.tasks.values) }) { item.task.cancel() } }

    /// Calls `body` after each new value, in an isolation, until the observer is released or removed. An observer has one closure; another
    /// one replaces it.
    ///
    /// - Parameters:
    ///   - observer: The observer.
    ///   - published: The observed value.
    ///   - notifyInitial: Whether `body` is also called for the initial value.
    ///   - isolation: The isolation in which `body` is called.
    ///   - body: A closure called with the newest value and the notes since the last call.
    func add<Observer: AnyObject, Value, Note>(
        _ observer: Observer, _ published: PublishedValue<Value, Note>, notifyInitial: Bool, isolation: isolated any Actor,
        _ body: @escaping (Value, [Note]) -> Void
    ) {
        remove(observer)
        let id = ObjectIdentifier(observer)
        let steps = published.steps(skipsFirst: !notifyInitial)
        let call = Call(observer: observer, body: body), home = WeakActor(isolation)
        // Started while the lock is held, so that a task that ends immediately finds its own entry to remove.
        state.withLock { state in
            state.next += 1
            let number = state.next
            state.tasks[id] = (number, Self.tellSteps(steps, call, home) { [weak self] in self?.forget(id, number) })
        }
    }

    /// A closure transferred to its isolation.
    ///
    /// Unchecked: only `tell` calls it, which runs in the isolation that provided it.
    private struct Call<Value, Note>: @unchecked Sendable {
        weak var observer: AnyObject?
        let body: (Value, [Note]) -> Void
    }

    /// Calls a closure after each step. The task does not retain the actor, which may retain the publisher.
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

    /// Calls a closure with the newest value when its isolation is available, so that changes during the wait are reported once.
    ///
    /// - Returns: The number of the value that the observer has now; nil if the observer was released or removed, which ends the task.
    private static func tell<Value, Note>(
        _ call: Call<Value, Note>, _ published: PublishedValue<Value, Note>, since number: Int, _ isolation: isolated any Actor
    ) -> Int? {
        if Task.isCancelled || call.observer == nil { return nil }
        let current = published.current(since: number)
        if current.number != number { call.body(current.value, current.notes) }
        return current.number
    }

    /// Removes an observer.
    func remove(_ observer: AnyObject) {
        state.withLock { $0.tasks.removeValue(forKey: ObjectIdentifier(observer)) }?.task.cancel()
    }

    /// Removes an entry. Not inlined into the task that calls it: decision 0038, "No lock is inlined where a task waits".
    @inline(never) private func forget(_ id: ObjectIdentifier, _ number: Int) {
        state.withLock { state in if state.tasks[id]?.number == number { state.tasks[id] = nil } }
    }

    /// The number of observers; for tests.
    var count: Int { state.withLock { $0.tasks.count } }
}
