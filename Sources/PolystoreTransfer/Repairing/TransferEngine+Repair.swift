public import PolystoreStorage

extension TransferEngine {
    /// Checks a store as a whole as `check` does, passes each violation to `body`, and returns the changes that mend it. Changes nothing.
    ///
    /// - Parameters:
    ///   - store: An open store.
    ///   - options: What the repair may remove. By default it removes no objects.
    ///   - report: A closure that receives the progress. With options that remove objects the store is checked several times.
    ///   - body: Receives each violation, also those that follow from the removal of objects.
    /// - Throws: `corrupted` if the store cannot be read at all; `cancelled`; errors of `body`.
    public func planRepair(
        of store: OpenStore, _ options: RepairOptions = RepairOptions(), report: Report? = nil,
        _ body: (CheckFinding) throws(StorageError) -> Void
    ) throws(StorageError) -> StoreRepair {
        let session = try store.beginRead(ReadOptions(limit: limit))
        defer { session.end() }
        let removed = try removedObjects(session, options, report)
        var repair = try StoreRepair(options, removed, session)
        var check = StoreCheck(session, limit, report, without: removed)
        try check.findings { finding throws(StorageError) in
            repair.add(finding)
            try body(finding)
        }
        return repair
    }

    /// Returns the objects that a repair removes: those that a check finds, and those that cannot exist without them.
    private func removedObjects(
        _ session: ReadSession, _ options: RepairOptions, _ report: Report?
    ) throws(StorageError) -> RemovedObjects {
        var removed = RemovedObjects()
        while options.deletesBroken || options.removesUnreadable {
            var next = removed
            var check = StoreCheck(session, limit, report, without: removed)
            try check.findings { finding in
                guard let step = finding.step, options.allows(step), let (entity, key) = step.removed else { return }
                next.insert(key, root: session.schema[entity].root)
            }
            if next.count == removed.count { break }
            removed = next
            if !options.deletesBroken { break }
            // Referring objects are found by indexes. Where these are damaged, another check shows whether some were not found.
            let isComplete = try RemovalClosure(session, limit).extend(&removed)
            if isComplete, check.damagedTables.isEmpty, !check.dependsOnReferences { break }
        }
        return removed
    }

    /// Passes the stored form of everything that a repair removes because it cannot be decoded to `output`, as lines of JSON.
    ///
    /// - Throws: `staleObject` if the store has changed since it was checked.
    public func unreadable(
        of store: OpenStore, in repair: StoreRepair, _ output: ([UInt8]) throws(StorageError) -> Void
    ) throws(StorageError) {
        let session = try store.beginRead(ReadOptions(limit: limit))
        defer { session.end() }
        try UnreadableLines(session).write(repair, output)
    }

    /// Mends a store: rebuilds indexes, raises key counters, and changes objects, each in a transaction of its own. The history records
    /// the changes of objects. Checks the store again afterwards.
    ///
    /// A repair that was interrupted is continued by checking and repairing the store again.
    /// - Parameters:
    ///   - store: An open store.
    ///   - repair: The result of `planRepair` for this store.
    ///   - report: Receives a description of each part that was committed.
    ///   - body: Receives each violation that is left.
    /// - Throws: `staleObject` if the store has changed since it was checked; `unsupported` for a store that cannot be repaired, such as the
    ///   database of another program; `corrupted` if its file is damaged; `peerUnavailable` if the store commits together with other stores;
    ///   `readOnly`; `cancelled`. Parts that were reported before are committed.
    public func repair(
        _ store: OpenStore, _ repair: StoreRepair, report: (String) -> Void = { _ in },
        _ body: (CheckFinding) throws(StorageError) -> Void = { _ in }
    ) throws(StorageError) -> RepairReport {
        try repair.checkIsPossible(in: store)
        var result = RepairReport(), run = RepairRun(store, repair, limit)
        result.changes = try run.run(report)
        // What damaged indexes have hidden from the check is found now.
        if repair.steps[.indexes] != nil { result.changes += try mendHidden(store, report) }
        try check(store) { finding throws(StorageError) in
            result.remaining += 1
            try body(finding)
        }
        return result
    }
}

extension TransferEngine {
    /// Makes the changes that remove no data and that the check of a store with damaged indexes could not find. Returns their number.
    private func mendHidden(_ store: OpenStore, _ report: (String) -> Void) throws(StorageError) -> Int {
        let hidden = try planRepair(of: store) { _ in }
        if hidden.changes == 0 { return 0 }
        var run = RepairRun(store, hidden, limit)
        return try run.run(report)
    }
}

extension StoreRepair {
    /// Checks that a store can be repaired.
    ///
    /// - Throws: `unsupported` or `corrupted`.
    package func checkIsPossible(in store: OpenStore) throws(StorageError) {
        if store.ability((any ForeignStorage).self)?.foreignAccess != nil {
            throw StorageError(
                .unsupported,
                "the tables belong to another program, whose rules Polystore does not know, so they are not repaired; use the tools of that "
                    + "program or of the database")
        }
        if token == nil, !store.capabilities.contains(.history) {
            throw StorageError(
                .unsupported,
                "without the history nothing shows whether other programs change the store meanwhile; open the store with its history")
        }
        if isFileDamaged {
            throw StorageError(
                .corrupted, "the file of the store is damaged, so nothing in it can be changed safely; restore the store from a backup")
        }
    }
}
