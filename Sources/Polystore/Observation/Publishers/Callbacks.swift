internal import Synchronization

/// The closures that observers of a publisher have asked to be called.
final class Callbacks: Sendable {
    private struct State: Sendable {
        var tasks: [ObjectIdentifier: (number: Int, task: Task<Void, Never>)] = [:]
        var next = 0
    }

    private let state = Mutex(State())

    deinit { for item in state.withLock({ Array($0.tasks.values) }) { item.task.cancel() } }

    /// Calls `body` after each piece of news, in an isolation, until the observer is gone or removed. An observer has one closure; another
    /// one takes its place.
    ///
    /// - Parameters:
    ///   - observer: Whose interest it is.
    ///   - news: What is waited for; it begins with a piece for what is there.
    ///   - notifyInitial: Whether that is told, too.
    ///   - isolation: Where `body` is called.
    ///   - body: What is called.
    func add<Observer: AnyObject>(
        _ observer: Observer, _ news: AsyncStream<Void>, notifyInitial: Bool, isolation: isolated any Actor, _ body: @escaping () -> Void
    ) {
        remove(observer)
        let id = ObjectIdentifier(observer)
        let number = state.withLock { state in
            state.next += 1
            return state.next
        }
        let call = Call(observer: observer, body: body), home = WeakActor(isolation)
        let task = Self.tellNews(news, notifyInitial, call, home) { [weak self] in self?.forget(id, number) }
        state.withLock { $0.tasks[id] = (number, task) }
    }

    /// A closure on its way to its isolation.
    ///
    /// Unchecked: it is called by `tell` alone, which runs in the isolation that gave it.
    private struct Call: @unchecked Sendable {
        weak var observer: AnyObject?
        let body: () -> Void
    }

    /// Calls a closure after each piece of news. The task does not hold the actor, which may hold the publisher.
    private static func tellNews(
        _ news: AsyncStream<Void>, _ notifyInitial: Bool, _ call: Call, _ home: WeakActor, _ end: @escaping @Sendable () -> Void
    ) -> Task<Void, Never> {
        Task {
            var isTold = notifyInitial
            for await _ in news {
                guard let actor = home.actor, await tell(call, isTold, actor) else { break }
                isTold = true
            }
            end()
        }
    }

    /// Calls a closure unless its observer is gone or removed, which ends it.
    private static func tell(_ call: Call, _ isTold: Bool, _ isolation: isolated any Actor) -> Bool {
        if Task.isCancelled || call.observer == nil { return false }
        if isTold { call.body() }
        return true
    }

    /// Calls nothing more for an observer.
    func remove(_ observer: AnyObject) {
        state.withLock { $0.tasks.removeValue(forKey: ObjectIdentifier(observer)) }?.task.cancel()
    }

    private func forget(_ id: ObjectIdentifier, _ number: Int) {
        state.withLock { state in if state.tasks[id]?.number == number { state.tasks[id] = nil } }
    }

    /// The number of observers; for tests.
    var count: Int { state.withLock { $0.tasks.count } }
}
