#if PostgreSQL
internal import PolystoreSQL
public import PolystoreStorage
internal import Synchronization

extension PostgreSQLStore {
    /// Reports commits of other programs: those that use Polystore, and those that write to its tables directly.
    ///
    /// While a store is watched, write transactions commit one after the other, because the server sends notifications in commit order. A
    /// connection pooler that gives each transaction another connection prevents notifications: `unsupported`. A store of another program's
    /// tables cannot be watched: nil.
    public func watchChanges(_ handler: @escaping @Sendable (ChangeSignal) -> Void) throws(StorageError) -> (any ChangeWatch)? {
        _ = try opened()
        if !owner.isPolystore { return nil }
        let watches = ears.withLock { ears in
            let watches = ears.watches ?? ChangeWatches { [weak self] in self?.unwatch() }
            ears.watches = watches
            return watches
        }
        // The watch is added first, so that a thread that stops for lack of watches finds it.
        let watch = watches.add(handler)
        do throws(StorageError) {
            try listening().watch()
        } catch {
            watch.cancel()
            throw error
        }
        return watch
    }

    /// Begins to listen for notifications of other programs.
    func listen() {
        guard owner.isPolystore, (try? opened()) != nil else { return }
        ears.withLock { $0.isObserved = true }
        listening()
    }

    @discardableResult
    private func listening() -> PostgreSQLListener {
        let connect = connector
        return ears.withLock { ears in
            if let listener = ears.listener { return listener }
            let listener = PostgreSQLListener(schema: schema, own: peerName, connect: connect) { [weak self] in self?.tell($0) }
            ears.listener = listener
            return listener
        }
    }

    private func unwatch() {
        let idle = ears.withLock { ears -> PostgreSQLListener? in
            guard ears.watches?.isEmpty ?? true else { return nil }
            if ears.isObserved {
                ears.listener?.rest()
                return nil
            }
            defer { ears.listener = nil }
            return ears.listener
        }
        idle?.stop()
    }

    /// Ends all watches and the listener.
    func stopListening() {
        ears.withLock({ $0.watches })?.cancelAll()
        let listener = ears.withLock { ears in
            defer { ears.listener = nil }
            return ears.listener
        }
        listener?.stop()
    }

    /// Notifies observers and watches of an event.
    func tell(_ event: PostgreSQLEvent) {
        let watches = ears.withLock { $0.watches }
        observers.tell { observer in
            switch event {
            case .joining(let peer): observer.storage(self, willAddPeer: peer)
            case .joined(let peer): observer.storage(self, didAddPeer: peer)
            case .leaving(let peer): observer.storage(self, willRemovePeer: peer)
            case .left(let peer): observer.storage(self, didRemovePeer: peer)
            case .erasing: observer.storageWillRemoveContent(self)
            case .erased: observer.storageDidRemoveContent(self)
            case .history, .unknown: break
            }
        }
        switch event {
        case .history: watches?.signal(.history)
        case .unknown, .erased: watches?.signal(.unknown)
        case .joining, .joined, .leaving, .left, .erasing: break
        }
    }
}
#endif
