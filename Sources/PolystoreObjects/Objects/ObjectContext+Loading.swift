internal import PolystoreStorage

extension ObjectContext {
    /// Runs `body` with a session of a store: the transaction's own, or a short one of the newest snapshot.
    ///
    /// - Parameter isHarmless: Whether an error leaves the session of a transaction unchanged.
    package func withReader<R>(
        _ store: Int, unless isHarmless: (StorageError.Code) -> Bool = \.precedesWork, _ body: (ReadSession) throws(StorageError) -> R
    ) throws(StorageError) -> R {
        if let sessions {
            return try sessions.working(unless: isHarmless) { () throws(StorageError) in try body(try sessions.reader(store)) }
        }
        if let reader = snapshots?[store] { return try body(reader) }
        let reader = try stack.store(store).beginRead(ReadOptions(limit: limit))
        if snapshots != nil {
            snapshots?[store] = reader
            return try body(reader)
        }
        defer { reader.end() }
        return try body(reader)
    }

    /// Runs work of a detached transaction whose reads of a store all see one state of it.
    func withSnapshots<R>(_ body: () throws(StorageError) -> R) throws(StorageError) -> R {
        if snapshots != nil { return try body() }
        snapshots = [:]
        defer {
            for reader in (snapshots ?? [:]).values { reader.end() }
            snapshots = nil
        }
        return try body()
    }

    /// Returns the object of a row: the living one with its key, or a new one.
    @inline(__always)
    package func object(of row: borrowing RowView, _ store: Int32) -> ManagedObject {
        let map = identityMap(row.entity, Int(store))
        if let known = map.find(row.key) { return known }
        loadingStore = store
        let object = model.types[row.entity].init(_row: row, self)
        map.insert(object)
        return object
    }

    /// Whether pending changes must be merged with store results, because they are not written to the store or currently cannot be.
    var mergesPending: Bool { sessions == nil || refusal != nil }

    /// Whether there are changes that are only in memory and must be merged with store results.
    var hasDetachedChanges: Bool { mergesPending && tracker?.hasPending == true }

    /// Returns the objects of a plan, in its order.
    func objects(for plan: FetchPlan, store: Int, _ reader: ReadSession) throws(StorageError) -> [ManagedObject] {
        if hasDetachedChanges { return try PendingFetch(plan, store, self).run(reader) }
        return try storedObjects(for: plan, store: store, reader)
    }

    /// Returns the objects of the rows that the store returns for a plan.
    /// - Parameter read: A closure that is called with each row.
    func storedObjects(
        for plan: FetchPlan, store: Int, _ reader: ReadSession, _ read: ((borrowing RowView) -> Void)? = nil
    ) throws(StorageError) -> [ManagedObject] {
        var result: [ManagedObject] = []
        let cursor = try reader.cursor(for: plan)
        let batch = RowBatch(capacity: 256)
        let number = Int32(truncatingIfNeeded: store)
        loadingStore = number
        // Rows of one entity are consecutive: the class and map are looked up when the entity changes.
        var entity = -1
        var type: ManagedObject.Type = ManagedObject.self
        var map = IdentityMap()
        var leftOut: UInt64 = 0
        loadingFields = plan.fields
        defer { loadingFields = .all }
        while try cursor.next(into: batch) {
            for index in 0..<batch.count {
                let row = batch.row(index)
                read?(row)
                if row.entity != entity {
                    entity = row.entity
                    type = model.types[entity]
                    map = identityMap(entity, store)
                    leftOut = self.leftOut(entity, plan.fields)
                }
                if let known = map.find(row.key) {
                    if plan.fields == .all { known.fill(row) }
                    result.append(known)
                    continue
                }
                let object = type.init(_row: row, self)
                map.insert(object)
                object.leaveOut(leftOut)
                result.append(consume object)
            }
        }
        return result
    }

    /// Returns the object with a key; nil if there is none or it was deleted here.
    func object(_ entity: EntityIndex, _ key: Int64, _ store: Int) throws(StorageError) -> ManagedObject? {
        let map = identityMap(entity, store)
        if let known = map.find(key) { return known.isDeletedObject ? nil : known }
        return try withReader(store) { reader throws(StorageError) in
            scratch.clear()
            try reader.row(entity, key: key, into: scratch)
            guard scratch.count == 1 else { return nil }
            // The object's own entity, which may be a descendant of the requested one, must know the map, because the object is removed
            // through it.
            return self.object(of: scratch.row(0), Int32(truncatingIfNeeded: store))
        }
    }

    /// Returns the objects with the given keys, in their order, without missing ones and ones deleted here.
    package func objects(_ entity: EntityIndex, _ keys: [Int64], _ store: Int) throws(StorageError) -> [ManagedObject] {
        let map = identityMap(entity, store)
        // In the common case all of them are already loaded.
        var known: [ManagedObject] = []
        known.reserveCapacity(keys.count)
        for key in keys {
            guard let object = map.find(key), !object.isDeletedObject else { break }
            known.append(object)
        }
        if known.count == keys.count { return known }
        let missing = keys.filter { map.find($0) == nil }
        // The loaded objects must be retained until they are looked up below.
        var loaded: [ManagedObject] = []
        if !missing.isEmpty {
            try withReader(store) { reader throws(StorageError) in
                let batch = RowBatch(capacity: missing.count)
                try reader.rows(model.schema[entity].root, keys: missing, into: batch)
                for index in 0..<batch.count { loaded.append(object(of: batch.row(index), Int32(truncatingIfNeeded: store))) }
            }
        }
        return withExtendedLifetime(loaded) {
            keys.compactMap { key in map.find(key).flatMap { $0.isDeletedObject ? nil : $0 } }
        }
    }
}
