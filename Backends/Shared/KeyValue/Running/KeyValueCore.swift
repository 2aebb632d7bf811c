internal import PolystoreFoundation
internal import PolystoreStorage
internal import Synchronization

/// The state that the sessions of an open store share.
final class KeyValueCore: Sendable {
    let engine: any OrderedStore
    let layout: KeyValueLayout
    let metadata: StoreMetadata
    private let hash: [UInt8]
    let lane: WriteLane
    /// Whether records carry a checksum.
    let checksRecords: Bool
    private let closed = Atomic(false)
    /// Whether this process has written a history entry, so that any gap in the history precedes it.
    let hasResumedHistory = Atomic(false)
    let shapes: RecordShapes

    init(_ engine: any OrderedStore, _ metadata: StoreMetadata, _ lane: WriteLane, numbers: [String: Int]) {
        self.engine = engine
        self.metadata = metadata
        hash = Array(metadata.hash.utf8)
        self.lane = lane
        checksRecords = engine.checksRecords
        layout = KeyValueLayout(metadata, numbers: numbers)
        shapes = RecordShapes(layout.kinds, layout.entities)
    }

    var schema: Schema { layout.schema }
    /// The maximum length of the values of an index entry in bytes. Longer values are cut.
    var indexedBytes: Int { min(engine.maximumKeyBytes, 511) - 8 }
    var storeID: UUID { metadata.storeID }
    var isClosed: Bool { closed.load(ordering: .acquiring) }
    func close() { closed.store(true, ordering: .releasing) }

    /// Begins a session. If that fails because the store was closed in the meantime, and perhaps erased or opened again, throws
    /// `storeClosed`.
    func beginning<Session>(_ body: () throws(StorageError) -> Session) throws(StorageError) -> Session {
        do throws(StorageError) { return try body() } catch { throw isClosed ? error.ofClosedStore : error }
    }

    /// Throws if the session finds another version of the model than the store was opened with, because another program has migrated it.
    func check(_ session: any OrderedReader) throws(StorageError) {
        // Before the maps are read: a store that was opened again meanwhile may not have opened them yet.
        if isClosed {
            session.end()
            throw StorageError(.storeClosed, "the store was closed while the session began")
        }
        let isSame = try KeyValueStore.withBytes("hash") { key throws(StorageError) in
            try session.get(KeyValueLayout.metadata, key).map { stored in hash.withUnsafeBytes { compareBytes($0, stored) == 0 } } ?? false
        }
        if isSame { return }
        let stored = try? KeyValueStore.withBytes("schema") { key throws(StorageError) in
            try session.get(KeyValueLayout.metadata, key).map { String(decoding: $0, as: UTF8.self) }
        }
        session.end()
        throw StoreMetadata.migrated(from: schema, to: stored ?? nil)
    }

    /// Adds the row of a record to a batch.
    ///
    /// - Parameter slots: The slots that the caller reads, nil for all. The contents of the other cells are undefined.
    @inline(__always)
    func decode(
        _ key: Int64, _ record: UnsafeRawBufferPointer, _ map: Int, only slots: UnsafeBufferPointer<Int>? = nil, into batch: RowBatch
    ) throws(StorageError) {
        guard let entity = shapes.entity(record) else { throw damaged(map, key) }
        let kinds = shapes[entity]
        let cells = batch.appendRow(key: key, version: Record.version(record), entity: entity, slots: kinds.count)
        if !Record.read(record, kinds, only: slots, into: cells, isChecked: checksRecords) { throw damaged(map, key) }
    }

    @inline(never)
    func damaged(_ map: Int, _ key: Int64) -> StorageError {
        let name = layout.name(of: map)
        return StorageError(
            .corrupted, "the record of \(name) \(key) is damaged: its checksum does not match; restore the store from a backup",
            details: .init(entity: name, keys: [key]))
    }

    @inline(never)
    func damagedCounter(_ name: String) -> StorageError {
        StorageError(
            .corrupted, "the key counter of \(name) is damaged; restore the store from a backup, or transfer its data to a new one")
    }

    @inline(never)
    func objectTooLarge(_ map: Int, _ key: Int64, _ size: Int) -> StorageError {
        let name = layout.name(of: map)
        return StorageError(
            .valueTooLarge, "\(name) \(key) has \(size) bytes; the store accepts at most \(engine.maximumValueBytes) for one object",
            details: .init(entity: name, keys: [key]))
    }

    func keysExhausted(_ name: String) -> StorageError {
        StorageError(.limitExceeded, "no primary keys are left for new objects of \(name)", details: .init(entity: name))
    }

    /// Returns the history position of a token, or nil for no token.
    func position(_ token: HistoryToken?) throws(StorageError) -> Int64? {
        guard let token else { return nil }
        guard token.store == storeID else {
            throw StorageError(
                .tokenExpired, "the token belongs to another store; read all objects again, and continue from a token of this store")
        }
        return token.position
    }
}
