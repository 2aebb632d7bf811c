internal import Synchronization
internal import PolystoreFoundation
internal import PolystoreStorage

extension KeyValueReader {
    final func checkHistory() throws(StorageError) {
        try checkOpen()
        if !core.metadata.history.isOn { throw .keepsNoHistory }
    }

    /// Returns the floor of the history, the position after which it is complete.
    final func historyFloor() throws(StorageError) -> HistoryFloor { try HistoryFloor(note: try note(HistoryFloor.noteName)) }

    /// Returns the highest position that an entry ever had. After a purge this is the position of the floor; 0 if there never was an entry.
    final func newestPosition() throws(StorageError) -> Int64 {
        let cursor = try engine.cursor(KeyValueLayout.history)
        return max(try cursor.last() ? KeyBytes.key(cursor.key) : 0, try historyFloor().position)
    }

    func history(since token: HistoryToken?, limit: Int) throws(StorageError) -> [HistoryEntry] {
        try checkHistory()
        guard let start = try historyFloor().start(after: core.position(token)) else { return [] }
        let (first, isOver) = start.addingReportingOverflow(1)
        if isOver { return [] }
        let cursor = try engine.cursor(KeyValueLayout.history)
        var entries: [HistoryEntry] = []
        var isThere = try RowKey(first).withBytes { bytes throws(StorageError) in try cursor.seek(bytes) }
        while isThere, entries.count < limit {
            try work.step()
            guard let entry = HistoryRow.entry(cursor.value, core.storeID, KeyBytes.key(cursor.key)) else {
                throw .damagedHistory
            }
            entries.append(entry)
            isThere = try cursor.next()
        }
        return try HistoryEntry.current(entries, core.metadata, self)
    }

    func currentToken() throws(StorageError) -> HistoryToken? {
        try checkOpen()
        guard core.metadata.history.isOn, try !historyFloor().isUnrecorded else { return nil }
        let position = try newestPosition()
        return position > 0 ? HistoryToken(store: core.storeID, position: position) : nil
    }
}

extension KeyValueWriter: HistoryRestoringWriter {
    func restoreHistory(_ entries: [HistoryEntry]) throws(StorageError) {
        try checkHistory()
        if try newestPosition() == 0 { try setNote(HistoryFloor.noteName, HistoryFloor.restored.note) }
        for entry in entries {
            try work.step()
            _ = try add(entry.time, Array(entry.author.utf8), HistoryRecorder.encode(entry.changes))
        }
    }

    func purgeHistory(through token: HistoryToken) throws(StorageError) {
        try checkHistory()
        let position = min(try core.position(token) ?? 0, try newestPosition())
        if position > (try historyFloor().position) { try beginHistory(after: HistoryFloor(position)) }
    }

    /// Removes the entries at or below a floor.
    private func beginHistory(after floor: HistoryFloor) throws(StorageError) {
        while true {
            try work.check()
            let keys = try oldest(1000, through: floor.position)
            for key in keys {
                _ = try RowKey(key).withBytes { bytes throws(StorageError) in try maps.delete(KeyValueLayout.history, bytes) }
            }
            if keys.isEmpty { break }
        }
        try setNote(HistoryFloor.noteName, floor.note)
    }

    private func oldest(_ count: Int, through position: Int64) throws(StorageError) -> [Int64] {
        let cursor = try engine.cursor(KeyValueLayout.history)
        var keys: [Int64] = []
        while keys.count < count, try cursor.next() {
            let key = KeyBytes.key(cursor.key)
            if key > position { break }
            keys.append(key)
        }
        return keys
    }

    /// Records in the floor that there are changes without history entries. The floor skips a position, so that the newest token is below
    /// it too.
    ///
    /// - Returns: Whether the position has risen, which happens only for the first such transaction.
    private func leaveOut() throws(StorageError) -> Bool {
        if try historyFloor().isUnrecorded { return false }
        try setNote(HistoryFloor.noteName, HistoryFloor(try after(newestPosition()), isUnrecorded: true).note)
        return true
    }

    /// Returns the position of the next entry. If changes went unrecorded, the first entry of a process begins the history again after
    /// them.
    private func nextPosition() throws(StorageError) -> Int64 {
        // The newest entry is above the floor.
        if core.hasResumedHistory.load(ordering: .relaxed), let last = try maps.lastKey(KeyValueLayout.history) { return try after(last) }
        let newest = try newestPosition()
        if try historyFloor().isUnrecorded { try beginHistory(after: HistoryFloor(newest)) }
        return try after(newest)
    }

    private func after(_ position: Int64) throws(StorageError) -> Int64 {
        let (next, isOver) = position.addingReportingOverflow(1)
        if isOver { throw StorageError(.limitExceeded, "no history positions are left; transfer the data to a new store") }
        return next
    }

    /// Writes the history entry of a transaction, or returns nil when there is nothing to record.
    final func writeHistory(_ record: CommitRecord) throws(StorageError) -> HistoryToken? {
        if !core.metadata.history.isOn {
            if recorder.hasChanges { raisesPosition = try leaveOut() }
            return nil
        }
        let changes = recorder.encode()
        if changes.isEmpty { return nil }
        let position = try add(record.time ?? Microseconds.from(Date()) ?? 0, Array(record.author.utf8), changes)
        return HistoryToken(store: core.storeID, position: position)
    }

    /// Adds an entry and returns its position.
    private func add(_ time: Int64, _ author: [UInt8], _ changes: [UInt8]) throws(StorageError) -> Int64 {
        let position = try nextPosition(), size = HistoryRow.size(author, changes)
        let target = try RowKey(position).withBytes { key throws(StorageError) in try maps.append(KeyValueLayout.history, key, size) }
        HistoryRow.write(time, author, changes, to: target)
        return position
    }
}
