internal import PolystoreStorage
internal import Synchronization

/// The observers of the stores that are added to a stack, as long as they exist.
final class StoreAdditions: Sendable {
    private struct Observer: Sendable {
        weak var observer: (any StoreAdditionObserver)?
    }

    private let observers = Mutex<[Observer]>([])

    /// Adds an observer, unless it is one.
    @inline(never) func subscribe(_ observer: any StoreAdditionObserver) {
        observers.withLock { observers in
            observers.removeAll { $0.observer == nil || $0.observer === observer }
            observers.append(Observer(observer: observer))
        }
    }

    private var current: [any StoreAdditionObserver] { observers.withLock { $0.compactMap(\.observer) } }

    /// Notifies the observers of a store and adds it to the stack.
    func adding<R>(_ store: OpenStore, isReplacement: Bool = false, _ add: () -> R) -> R {
        let known = current
        for observer in known { observer.willAdd(store, isReplacement: isReplacement) }
        let result = add()
        // One that has subscribed meanwhile may not have found the store in the stack.
        for observer in current where !known.contains(where: { $0 === observer }) {
            observer.willAdd(store, isReplacement: isReplacement)
        }
        return result
    }
}

extension StackCore {
    /// Notifies an observer of all stores that are not in the stack when the method returns and are added later.
    package func observeAdditions(_ observer: any StoreAdditionObserver) { additions.subscribe(observer) }
}
