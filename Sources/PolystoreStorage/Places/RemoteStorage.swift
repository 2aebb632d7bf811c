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
