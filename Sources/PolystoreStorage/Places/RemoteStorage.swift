internal import Foundation
internal import Synchronization

/// A store on a server, which other programs can use as well.
public protocol RemoteStorage: StorageInterface {
    /// Checks whether the server responds and accepts this program. Nothing is created or changed on the server.
    ///
    /// - Throws: `connectionLost`, `authenticationFailed` or `permissionDenied`.
    func probe() throws(StorageError)

    /// The observers of the store.
    var observers: RemoteStorageObservers { get }
}

extension RemoteStorage {
    /// Adds an observer of the store, which is notified from now on, or from the opening of the store. The observer is held weakly.
    public func addObserver(_ observer: any RemoteStorageObserver) { observers.add(observer) }

    /// Removes an observer.
    public func removeObserver(_ observer: any RemoteStorageObserver) { observers.remove(observer) }
}

/// An observer of a store on a server. Events are delivered in pairs, before and after. Every method is optional.
///
/// The methods are called on a thread of the store. A peer is another program that has the store open. The server chooses its name, which
/// is unique among the peers present at the same time.
public protocol RemoteStorageObserver: AnyObject, Sendable {
    /// Called before the store examines its data on the server or creates it.
    func storageWillFinishInitialImport(_ storage: any RemoteStorage)
    /// Called when the store has completed its preparations and can be used.
    func storageDidFinishInitialImport(_ storage: any RemoteStorage)
    /// Called before another program opens the store, or before this program reconnects after the connection was lost.
    func storage(_ storage: any RemoteStorage, willAddPeer peer: String)
    /// Called after another program has opened the store, or after this program has reconnected.
    func storage(_ storage: any RemoteStorage, didAddPeer peer: String)
    /// Called before another program closes the store, or when the connection of this program was lost.
    func storage(_ storage: any RemoteStorage, willRemovePeer peer: String)
    /// Called after another program has closed the store, or when the connection of this program was lost.
    func storage(_ storage: any RemoteStorage, didRemovePeer peer: String)
    /// Called before all data of the store is erased.
    func storageWillRemoveContent(_ storage: any RemoteStorage)
    /// Called after all data of the store was erased.
    func storageDidRemoveContent(_ storage: any RemoteStorage)
}

extension RemoteStorageObserver {
    /// Does nothing.
    public func storageWillFinishInitialImport(_ storage: any RemoteStorage) {}
    /// Does nothing.
    public func storageDidFinishInitialImport(_ storage: any RemoteStorage) {}
    /// Does nothing.
    public func storage(_ storage: any RemoteStorage, willAddPeer peer: String) {}
    /// Does nothing.
    public func storage(_ storage: any RemoteStorage, didAddPeer peer: String) {}
    /// Does nothing.
    public func storage(_ storage: any RemoteStorage, willRemovePeer peer: String) {}
    /// Does nothing.
    public func storage(_ storage: any RemoteStorage, didRemovePeer peer: String) {}
    /// Does nothing.
    public func storageWillRemoveContent(_ storage: any RemoteStorage) {}
    /// Does nothing.
    public func storageDidRemoveContent(_ storage: any RemoteStorage) {}
}

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
