internal import Foundation
internal import Synchronization

/// A store that lives elsewhere and that others use too.
public protocol RemoteStorage: StorageInterface {
    /// Asks the server whether it answers and lets this program in; nothing is made or changed there.
    ///
    /// - Throws: `connectionLost`, `authenticationFailed` or `permissionDenied`.
    func probe() throws(StorageError)

    /// Who is told what happens to the store.
    var observers: RemoteStorageObservers { get }
}

extension RemoteStorage {
    /// Lets an observer know what happens to the store, from now on or from its opening. It is held weakly.
    public func addObserver(_ observer: any RemoteStorageObserver) { observers.add(observer) }

    /// Forgets an observer.
    public func removeObserver(_ observer: any RemoteStorageObserver) { observers.remove(observer) }
}

/// Is told what happens to a store that lives elsewhere: in pairs, before and after. Every function is optional.
///
/// They are called on a thread of the store. A peer is another program that has the store open; its name is chosen by the server and
/// never shared by two that are there at the same time.
public protocol RemoteStorageObserver: AnyObject, Sendable {
    /// The store is about to look at what lies on the server, or to make it.
    func storageWillFinishInitialImport(_ storage: any RemoteStorage)
    /// The store has what it needs and can be used.
    func storageDidFinishInitialImport(_ storage: any RemoteStorage)
    /// Another program is opening the store, or this one has come back after the connection was lost.
    func storage(_ storage: any RemoteStorage, willAddPeer peer: String)
    /// Another program has opened the store, or this one has come back.
    func storage(_ storage: any RemoteStorage, didAddPeer peer: String)
    /// Another program is closing the store, or the connection of this one was lost.
    func storage(_ storage: any RemoteStorage, willRemovePeer peer: String)
    /// Another program has closed the store, or the connection of this one was lost.
    func storage(_ storage: any RemoteStorage, didRemovePeer peer: String)
    /// Somebody is about to erase everything that the store keeps.
    func storageWillRemoveContent(_ storage: any RemoteStorage)
    /// Everything that the store kept is gone.
    func storageDidRemoveContent(_ storage: any RemoteStorage)
}

extension RemoteStorageObserver {
    /// Nothing.
    public func storageWillFinishInitialImport(_ storage: any RemoteStorage) {}
    /// Nothing.
    public func storageDidFinishInitialImport(_ storage: any RemoteStorage) {}
    /// Nothing.
    public func storage(_ storage: any RemoteStorage, willAddPeer peer: String) {}
    /// Nothing.
    public func storage(_ storage: any RemoteStorage, didAddPeer peer: String) {}
    /// Nothing.
    public func storage(_ storage: any RemoteStorage, willRemovePeer peer: String) {}
    /// Nothing.
    public func storage(_ storage: any RemoteStorage, didRemovePeer peer: String) {}
    /// Nothing.
    public func storageWillRemoveContent(_ storage: any RemoteStorage) {}
    /// Nothing.
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

    /// Nobody.
    public init() {}

    /// Whether anybody is there.
    public var isEmpty: Bool { state.withLock { $0.entries.allSatisfy { $0.observer == nil } } }

    /// Calls a closure at once if anybody is there, else when the first one comes.
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

    /// Tells everybody, in the order in which they came.
    public func tell(_ body: (any RemoteStorageObserver) -> Void) {
        for entry in state.withLock({ $0.entries }) { if let observer = entry.observer { body(observer) } }
    }
}
