internal import Foundation
public import PolystoreObjects
public import PolystoreStorage

extension DataStack {
    /// Moves the objects of a store of the stack to another store while both are used, and then uses the other store in its place.
    ///
    /// ```swift
    /// let server = PostgreSQLStore(conninfo: "postgresql:///shop")
    /// let report = try stack.moveStorage(file, to: server, named: "postgresql:///shop")
    /// print("write transactions waited for \(report.pause)")
    /// ```
    /// All objects are copied, and the changes that are committed meanwhile, also by other programs, are followed. Write transactions that
    /// begin during the cut-over wait for its end; a closure that had begun is run again, as after a conflict. Monitors, publishers and the
    /// feed of commits continue with the objects of the other store. The objects in it have the same primary keys, but other ids, because an
    /// id names the store: objects and ids from before, and the changes of detached transactions, belong to the former store and are no
    /// longer found. Reads that are running when the former store is closed fail with `storeClosed`. Programs that open it for writing get
    /// `storeMoved` with the name of the other store.
    /// Consumers of the history are expired in the other store, whose history is another one.
    ///
    /// The call returns after the move and waits for other writers, so it is made on a thread of its own. If it is interrupted, the same
    /// call with the same stores goes on with the copy.
    /// - Parameters:
    ///   - source: A store of the stack with a history.
    ///   - target: An empty store, or the target of an interrupted move, of the same configuration. It is opened by this call.
    ///   - name: The name of the target for programs that use the source, such as its URL without a password.
    ///   - verifies: Whether the objects of both stores are compared before and during the cut-over. Without that only the numbers of
    ///     objects are, and transactions wait for a shorter time.
    ///   - limit: A limit that ends the move before the target is complete. The stack then uses the source as before.
    ///   - report: A closure that receives the progress of the copy.
    /// - Returns: The report of the cut-over.
    /// - Throws: `notFound` if the source is not in the stack; `reentrantCall` in a transaction of the stack; `invalidConfiguration` for
    ///   another configuration; `unsupported` if attributes refer to objects of the source by ids; `peerUnavailable` if the source has
    ///   committed together with other stores; `busy` if another store of the stack is being moved; the errors of `LiveTransfer`. The stack
    ///   then uses the source, or the target if only the note in the source is missing that it was moved.
    @discardableResult
    public func moveStorage(
        _ source: any StorageInterface, to target: any StorageInterface, named name: String, verifies: Bool = true, limit: WorkLimit? = nil,
        report: @escaping TransferEngine.Report = { _ in }
    ) throws -> CutOverReport {
        let opened = try movableStore(source)
        if source.configuration != target.configuration {
            throw StorageError(
                .invalidConfiguration,
                "the store has \(source.configuration.map { "the configuration \"\($0)\"" } ?? "no configuration"), and the target "
                    + "\(target.configuration.map { "\"\($0)\"" } ?? "none")")
        }
        var request = OpenRequest(schema: schema)
        request.acceptsIncompleteCopy = true
        var options = TransferOptions()
        options.source = opened.storeID.uuidString.lowercased()
        options.verifies = verifies
        options.isLive = true
        request.notes = try options.notes(for: schema)
        let store = try OpenStore(opening: target, request)
        do {
            let transfer = try LiveTransfer(from: opened, to: store, options, limit: limit)
            try transfer.releaseInterrupted()
            try transfer.copy(report: report)
            return try replaceStorage(source, by: store) { exchange in try transfer.cutOver(to: name, switching: exchange) }
        } catch {
            if !contains(store) {
                if store.state.wasCreated { try? options.removeNoteOfUnusedCopy(in: store) }
                try? store.close()
            }
            throw error
        }
    }

    /// Returns whether an open store is in the stack.
    private func contains(_ store: OpenStore) -> Bool { storages.contains { store.isSame(as: $0) } }
}
