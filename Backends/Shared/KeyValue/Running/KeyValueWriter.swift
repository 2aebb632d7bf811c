internal import PolystoreFoundation
internal import PolystoreStorage
internal import Synchronization

/// A write session.
class KeyValueWriter: KeyValueReader, ChangeRecordingWriter, HistoryPurgingWriter, KeyRaisingWriter {
    let maps: any OrderedWriter
    let indexes: IndexWriter
    var recorder: HistoryRecorder
    private var savepoints = Savepoints<HistoryRecorder.Mark>()
    private var bulk: BulkLoad
    /// The changes of the transaction that its history entry does not record.
    final var beside = ChangesBeside()
    /// Whether the position of the history rises although the transaction writes no entry.
    final var raisesPosition = false
    /// The token by which the outcome of the commit can be found later.
    private var mark: CommitToken?
    let old = RowBatch(capacity: 1)
    let scratchRows = RowBatch(capacity: 512)
    private let merged = RowBatch(capacity: 1)

    init(_ core: KeyValueCore, _ maps: any OrderedWriter, isFollowed: Bool = false, _ limit: WorkLimit? = nil) {
        self.maps = maps
        indexes = IndexWriter(core, maps)
        bulk = BulkLoad(core, maps)
        recorder = HistoryRecorder(core.metadata.history, isFollowed: isFollowed)
        super.init(core, maps, limit)
    }

    override func didEnd() { core.lane.leave() }

    override func cursor(for plan: FetchPlan) throws(StorageError) -> any RowCursor {
        try finishLoading()
        return try super.cursor(for: plan)
    }

    override func values(for plan: QueryPlan) throws(StorageError) -> [[Value]]? {
        try finishLoading()
        return try super.values(for: plan)
    }

    /// Writes the pending index entries of loaded rows, before the indexes are read or changed otherwise.
    func finishLoading() throws(StorageError) {
        try checkOpen()
        try bulk.finish(indexes)
    }

    func reserveKeys(_ entity: EntityIndex, count: Int) throws(StorageError) -> Range<Int64> {
        try checkOpen()
        beside.quietly()
        let name = core.schema.entities[core.schema[entity].root].name
        let first = try counter(name)
        guard first > 0 else { throw core.damagedCounter(name) }
        let (end, isOver) = first.addingReportingOverflow(Int64(count))
        if isOver { throw core.keysExhausted(name) }
        try setCounter(name, end)
        return first..<end
    }

    final func raiseKeys(_ root: EntityIndex, above key: Int64) throws(StorageError) {
        let (next, isOver) = key.addingReportingOverflow(1)
        if isOver { throw core.keysExhausted(core.schema.entities[root].name) }
        try raiseKeys(root, to: next)
    }

    /// Raises the key counter of a hierarchy to a key, unless it is already higher.
    final func raiseKeys(_ root: EntityIndex, to key: Int64) throws(StorageError) {
        let name = core.schema.entities[root].name
        try setCounter(name, max(try counter(name), key))
    }

    private func setCounter(_ name: String, _ value: Int64) throws(StorageError) {
        try KeyValueStore.withBytes(name) { key throws(StorageError) in
            try RowKey(value).withBytes { bytes throws(StorageError) in try maps.put(KeyValueLayout.counters, key, bytes) }
        }
    }

    func setNote(_ name: String, _ bytes: Data?) throws(StorageError) {
        try checkOpen()
        beside.quietly()
        try KeyValueStore.setNote(name, bytes, maps)
    }

    func apply(_ changes: ChangeSet) throws(StorageError) {
        try finishLoading()
        // A value that another transaction has moved is usually taken again because of the conflict with that transaction.
        if changes.entities.contains(where: { !core.schema[$0.entity].uniqueConstraints.isEmpty }) {
            for change in changes.entities { try checkVersions(change) }
        }
        for change in changes.entities { try delete(change) }
        // The old index entries of all rows are removed before new ones are added, so that rows can swap unique values.
        for change in changes.entities { for update in change.updates { try unindex(change.entity, update) } }
        for change in changes.entities { for update in change.updates { try self.update(change.entity, update) } }
        for change in changes.entities { if let inserts = change.inserts { try insert(change.entity, inserts) } }
        for change in changes.links { try apply(change) }
    }

    /// Compares the versions of rows before the first change, so that a conflict is reported before the unique values that it causes to
    /// clash.
    private func checkVersions(_ change: EntityChanges) throws(StorageError) {
        for deletion in change.deletes {
            if let version = deletion.expectedVersion { try checkVersion(change.entity, deletion.key, version) }
        }
        for update in change.updates where update.checksVersion {
            try update.rows.forEachBatch(scratchRows) { batch throws(StorageError) in
                for index in 0..<batch.count { try checkVersion(change.entity, batch.key(index), batch.row(index).version) }
            }
        }
    }

    /// Compares the version of a row with the expected one. Only a row with another version is decoded, because it may be damaged.
    private func checkVersion(_ entity: EntityIndex, _ key: Int64, _ expected: Int64) throws(StorageError) {
        try work.step()
        let map = core.layout.rows[entity]
        if let record = try get(map, key), Record.version(record) == expected { return }
        _ = try oldRow(entity, map, key)
        throw stale(entity, key)
    }

    private func delete(_ change: EntityChanges) throws(StorageError) {
        if change.deletes.isEmpty { return }
        let map = core.layout.rows[change.entity], preserves = recorder.preserves(change.entity)
        for deletion in change.deletes {
            try work.step()
            let row = try oldRow(change.entity, map, deletion.key)
            if let version = deletion.expectedVersion, version != row.version { throw stale(change.entity, deletion.key) }
            try indexes.remove(row, core.layout.keptIndexes[row.entity])
            _ = try RowKey(deletion.key).withBytes { key throws(StorageError) in try maps.delete(map, key) }
            if preserves { recorder.remember(row) }
            recorder.delete(change.entity, deletion.key)
        }
    }

    /// Returns the stored row of a key, with its bytes copied.
    func oldRow(_ entity: EntityIndex, _ map: Int, _ key: Int64) throws(StorageError) -> RowView {
        old.clear()
        guard let record = try get(map, key) else {
            let name = core.schema.entities[entity].name
            throw StorageError(.notFound, "\(name) \(key) no longer exists", details: .init(entity: name, keys: [key]))
        }
        let copy = UnsafeRawBufferPointer(start: old.copy(record), count: record.count)
        try core.decode(key, copy, map, into: old)
        return old.row(0)
    }

    private func stale(_ entity: EntityIndex, _ key: Int64) -> StorageError {
        let name = core.schema.entities[entity].name
        return StorageError(
            .staleObject, "\(name) \(key) was changed by another transaction since it was read", details: .init(entity: name, keys: [key]))
    }

    private func versionsExhausted(_ entity: EntityIndex, _ key: Int64) -> StorageError {
        let name = core.schema.entities[entity].name
        return StorageError(
            .limitExceeded, "the version of \(name) \(key) cannot be incremented any further; delete the object and create it again",
            details: .init(entity: name, keys: [key]))
    }

    /// Returns the indexes that a change of slots affects.
    private func touched(_ entity: EntityIndex, _ mask: SlotMask) -> [KeyValueLayout.IndexMap] {
        core.layout.keptIndexes[entity].filter { $0.slots.contains(where: mask.contains) }
    }

    func unindex(_ entity: EntityIndex, _ update: RowUpdate) throws(StorageError) {
        let touched = touched(entity, update.mask)
        if touched.isEmpty { return }
        let map = core.layout.rows[entity]
        try update.rows.forEachBatch(scratchRows) { batch throws(StorageError) in
            for index in 0..<batch.count {
                try work.step()
                try indexes.remove(try oldRow(entity, map, batch.key(index)), touched)
            }
        }
    }

    func update(_ entity: EntityIndex, _ update: RowUpdate) throws(StorageError) {
        let map = core.layout.rows[entity], touched = touched(entity, update.mask), slots = update.mask.slots
        let count = core.layout.kinds[entity].count, number = core.layout.entityNumbers[entity]
        try update.rows.forEachBatch(scratchRows) { batch throws(StorageError) in
            for index in 0..<batch.count {
                try work.step()
                let row = batch.row(index)
                let stored = try oldRow(entity, map, row.key)
                if update.checksVersion, stored.version != row.version { throw stale(entity, row.key) }
                merged.clear()
                let (version, isOver) = stored.version.addingReportingOverflow(1)
                if isOver { throw versionsExhausted(entity, row.key) }
                let cells = merged.appendRow(key: row.key, version: version, entity: entity, slots: count)
                cells.update(from: stored.cells, count: count)
                for slot in slots { cells[slot] = row[slot] }
                try indexes.check(merged.row(0), touched)
                try put(map, row.key, cells, count, number, version)
                try indexes.add(merged.row(0), touched)
                recorder.update(entity, row.key, update.mask)
            }
        }
    }

    func insert(_ entity: EntityIndex, _ rows: RowSource) throws(StorageError) {
        let map = core.layout.rows[entity], number = core.layout.entityNumbers[entity]
        let count = core.layout.kinds[entity].count, indexMaps = core.layout.keptIndexes[entity]
        var last = try greatestKey(map)
        try rows.forEachBatch(scratchRows) { batch throws(StorageError) in
            for index in 0..<batch.count {
                try work.step()
                let row = batch.row(index), isBehind = last.map { row.key > $0 } ?? true
                if !isBehind, try get(map, row.key) != nil { throw taken(entity, row.key) }
                try indexes.check(row, indexMaps)
                if !isBehind {
                    try put(map, row.key, row.cells, count, number, row.version)
                } else {
                    try append(map, row.key, row.cells, count, number, row.version)
                    last = row.key
                }
                if !indexMaps.isEmpty { try indexes.add(row, indexMaps) }
                recorder.insert(entity, row.key)
            }
        }
    }

    private func taken(_ entity: EntityIndex, _ key: Int64) -> StorageError {
        let name = core.schema.entities[entity].name
        return StorageError(
            .alreadyExists, "\(name) \(key) already exists", details: .init(entity: name, keys: [key]))
    }

    private func greatestKey(_ map: Int) throws(StorageError) -> Int64? { try maps.lastKey(map) }

    private func append(
        _ map: Int, _ key: Int64, _ cells: UnsafePointer<Cell>, _ count: Int, _ number: Int16, _ version: Int64
    ) throws(StorageError) {
        let size = try checkedSize(map, key, cells, count)
        let target = try RowKey(key).withBytes { bytes throws(StorageError) in try maps.append(map, bytes, size) }
        Record.write(cells, count, number: number, version: version, to: target, size: size, isChecked: core.checksRecords)
    }

    func put(
        _ map: Int, _ key: Int64, _ cells: UnsafePointer<Cell>, _ count: Int, _ number: Int16, _ version: Int64
    ) throws(StorageError) {
        let size = try checkedSize(map, key, cells, count)
        try withUnsafeTemporaryBytes(size) { buffer throws(StorageError) in
            guard let start = buffer.baseAddress else { return }
            Record.write(cells, count, number: number, version: version, to: start, size: size, isChecked: core.checksRecords)
            try RowKey(key).withBytes { bytes throws(StorageError) in try maps.put(map, bytes, UnsafeRawBufferPointer(buffer)) }
        }
    }

    private func checkedSize(_ map: Int, _ key: Int64, _ cells: UnsafePointer<Cell>, _ count: Int) throws(StorageError) -> Int {
        let size = Record.size(cells, count)
        if size > core.engine.maximumValueBytes {
            throw core.objectTooLarge(map, key, size)
        }
        return size
    }

    private func withUnsafeTemporaryBytes(
        _ count: Int, _ body: (UnsafeMutableRawBufferPointer) throws(StorageError) -> Void
    ) throws(StorageError) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 8)
        defer { buffer.deallocate() }
        try body(buffer)
    }

    private func apply(_ changes: LinkChanges) throws(StorageError) {
        let owner = core.schema.links[changes.link].owner
        for pair in changes.removed { try indexes.remove(pair, core.layout.links[changes.link]) }
        for pair in changes.added { try indexes.add(pair, core.layout.links[changes.link]) }
        for key in Set(changes.removed.map(\.owner)).union(changes.added.map(\.owner)).sorted() {
            recorder.links(changes.link, owner: owner, key)
        }
    }

    func load(_ root: EntityIndex, _ batch: RowBatch) throws(StorageError) {
        try checkOpen()
        beside.rows()
        try bulk.load(core.schema[root].root, batch)
    }

    func load(link: Int, _ pairs: [LinkPair]) throws(StorageError) {
        try checkOpen()
        beside.rows()
        for pair in pairs {
            try work.step()
            try indexes.add(pair, core.layout.links[link])
        }
    }

    func savepoint() throws(StorageError) -> Int {
        try finishLoading()
        try maps.savepoint()
        return savepoints.add(recorder.mark())
    }

    func rollback(to savepoint: Int) throws(StorageError) {
        try checkOpen()
        let (mark, depth) = try savepoints.find(savepoint)
        for _ in 0..<depth { try maps.undoSavepoint() }
        bulk.forget()
        beside.quietly()
        // The savepoint remains set.
        try maps.savepoint()
        recorder.rewind(to: mark)
        savepoints.rewind(to: savepoint)
    }

    func release(_ savepoint: Int) throws(StorageError) {
        try checkOpen()
        for _ in 0..<(try savepoints.find(savepoint).depth) { try maps.keepSavepoint() }
        savepoints.release(savepoint)
    }

    var recordedChanges: HistoryChanges? { recorder.changes }

    func commit(_ record: CommitRecord) throws(StorageError) -> HistoryToken? {
        try finishLoading()
        for (root, key) in bulk.greatest { try raiseKeys(root, above: key) }
        let token = try writeHistory(record)
        // Without a recorded history, no entry names the changed rows.
        if !core.metadata.history.isOn, recorder.hasChanges { beside.rows() }
        let isListed = token != nil || raisesPosition
        let isQuiet = try writeQuiet(isListed: isListed)
        // A transaction without changes does not commit.
        if isListed || isQuiet || beside.hasRows || recorder.hasChanges { mark = try writeMark() }
        for _ in 0..<savepoints.count { try maps.keepSavepoint() }
        try core.lane.commits.count(isListed: isListed, isUnlisted: beside.hasRows) { () throws(StorageError) in try commitMaps() }
        if token != nil { core.hasResumedHistory.store(true, ordering: .relaxed) }
        end()
        return token
    }

    private func commitMaps() throws(StorageError) {
        do throws(StorageError) {
            try maps.commit()
        } catch {
            var error = error
            if error.code == .commitOutcomeUnknown { error.details.commit = mark }
            throw error
        }
    }

    /// Records whether the transaction about to be committed is of no interest to observers (`CommitLedger`).
    private func writeQuiet(isListed: Bool) throws(StorageError) -> Bool {
        let step = beside.quietStep(isListed: isListed, isRecorded: recorder.hasChanges), name = KeyValueLayout.quietCounter
        if step == 0 { return false }
        let (count, isOver) = try counter(name).addingReportingOverflow(step)
        if isOver { throw core.damagedCounter(name) }
        try setCounter(name, count)
        return true
    }
}
