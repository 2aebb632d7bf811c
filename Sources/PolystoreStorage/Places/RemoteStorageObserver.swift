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
