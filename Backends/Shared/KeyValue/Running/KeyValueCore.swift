internal import Foundation
internal import PolystoreStorage
internal import Synchronization

/// What the sessions of an open store share.
final class KeyValueCore: Sendable {
    let engine: any OrderedStore
    let layout: KeyValueLayout
    let storeID: UUID
    let lane: WriteLane
    /// Whether records carry a checksum.
    let checksRecords: Bool
    private let closed = Atomic(false)
    let shapes: RecordShapes

    init(_ engine: any OrderedStore, _ metadata: StoreMetadata, _ lane: WriteLane) {
        self.engine = engine
        self.lane = lane
        checksRecords = engine.checksRecords
        layout = KeyValueLayout(metadata)
        storeID = metadata.storeID
        shapes = RecordShapes(layout.kinds, layout.entities)
    }

    var schema: Schema { layout.schema }
    /// The most bytes of the values of an entry of an index: longer ones are cut.
    var indexedBytes: Int { min(engine.maximumKeyBytes, 511) - 8 }
    var isClosed: Bool { closed.load(ordering: .acquiring) }
    func close() { closed.store(true, ordering: .releasing) }

    /// Adds the row of a record to a batch.
    ///
    /// - Parameter slots: Those that anybody reads, nil for all; the cells of others hold nothing of use.
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
        let name = layout.names[map]
        return StorageError(
            .corrupted, "the record of \(name) \(key) is damaged: its checksum does not fit", details: .init(entity: name, keys: [key]))
    }

    /// The position of a token; 0 for none.
    func position(_ token: HistoryToken?) throws(StorageError) -> Int64 {
        guard let token else { return 0 }
        guard token.store == storeID else {
            throw StorageError(.tokenExpired, "the token belongs to another store; start from the beginning")
        }
        return token.position
    }
}
