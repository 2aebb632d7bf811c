internal import PolystoreFoundation
internal import Synchronization

/// The observers of one store, held weakly.
public final class RemoteStorageObservers: Sendable {
    private struct Entry: Sendable {
        weak var observer: (any RemoteStorageObserver)?
    }

    private struct State: Sendable {
        var entries: [Entry] = []
        var onFirst: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    /// Creates an empty list of observers.
    public init() {}

    /// Whether the list contains no observer.
    public var isEmpty: Bool { state.withLock { $0.entries.allSatisfy { $0.observer == nil } } }

    /// Calls a closure immediately if there is an observer, otherwise when the first one is added.
    public func whenObserved(_ body: @escaping @Sendable () -> Void) {
        let isObserved = state.withLock { state in
            let isObserved = state.entries.contains { $0.observer != nil }
            if !isObserved { state.onFirst = body }
            return isObserved
        }
        if isObserved { body() }
    }

    func add(_ observer: any RemoteStorageObserver) {
        let first = state.withLock { state in
            state.entries.removeAll { $0.observer == nil || $0.observer === observer }
            state.entries.append(Entry(observer: observer))
            defer { state.onFirst = nil }
            return state.onFirst
        }
        first?()
    }

    func remove(_ observer: any RemoteStorageObserver) {
        state.withLock { $0.entries.removeAll { $0.observer == nil || $0.observer === observer } }
    }

    /// Notifies all observers, in the order in which they were added.
    public func tell(_ body: (any RemoteStorageObserver) -> Void) {
        for entry in state.withLock({ $0.entries }) { if let observer = entry.observer { body(observer) } }
    }
}
