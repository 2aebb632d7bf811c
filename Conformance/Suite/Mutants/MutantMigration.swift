internal import Foundation
internal import PolystoreStorage

/// A migration with a defect.
final class MutantMigration: StorageMigration {
    private let inner: any StorageMigration
    private let mapping: SchemaMapping
    private let store: MutantStore
    private var hasEnded = false

    init(_ inner: any StorageMigration, _ step: MigrationStep, _ store: MutantStore) {
        self.inner = inner
        self.store = store
        mapping = step.mapping
    }

    var source: any StorageWriter { inner.source }
    var destination: any StorageWriter { MutantDestination(inner.destination, mapping, store) }

    func prepare() throws(StorageError) -> MigrationWork { try inner.prepare() }

    func finish(_ keys: MigrationKeys, limits: [EntityIndex: Int64]) throws(StorageError) {
        if store.defect == .keepsRowsOfRecreatedEntities { try keepRows() }
        try inner.finish(keys, limits: store.defect == .usesKeysAgainAfterSteps ? [:] : limits)
    }

    func commit(_ record: CommitRecord) throws(StorageError) -> HistoryToken? {
        hasEnded = true
        if store.defect == .stepsWithoutCommit {
            inner.end()
            return nil
        }
        return try inner.commit(record)
    }

    func end() {
        if store.defect == .commitsHalfSteps, !hasEnded { try? commitHalf() }
        hasEnded = true
        inner.end()
    }

    /// Keeps rows of entities that should be removed, under the numbers of their names in the newer version, without any values.
    private func keepRows() throws(StorageError) {
        for before in mapping.source.descriptions where mapping.mappings(of: before.index).isEmpty {
            guard let after = mapping.destination.index(of: before.name) else { continue }
            let old = RowBatch(), kept = RowBatch(), slots = mapping.destination[after].slots.count
            _ = try inner.source.cursor(for: FetchPlan(mapping.source, before.index)).next(into: old)
            for index in 0..<old.count {
                kept.appendRow(key: old.key(index), version: 1, entity: after, slots: slots).update(repeating: .null, count: slots)
            }
            try inner.destination.load(mapping.destination[after].root, kept)
        }
    }

    private func commitHalf() throws(StorageError) {
        let keys = try MigrationKeys(mapping) { root throws(StorageError) in try inner.source.reserveKeys(root, count: 1).lowerBound }
        try inner.finish(keys, limits: keys.limits)
        _ = try inner.commit(CommitRecord())
    }
}

/// The newer version during a migration, with a defect.
private final class MutantDestination: MutantWriter {
    private let mapping: SchemaMapping

    init(_ writer: any StorageWriter, _ mapping: SchemaMapping, _ store: MutantStore) {
        self.mapping = mapping
        super.init(writer, store)
    }

    override func load(_ root: EntityIndex, _ batch: RowBatch) throws(StorageError) {
        for index in 0..<batch.count {
            guard let entity = mapping.entities.first(where: { $0.destination == batch.row(index).entity }) else { continue }
            let cells = batch.mutableCells(index)
            for (slot, origin) in entity.slots.enumerated() where loses(origin, slot, entity) { cells[slot] = .null }
        }
        try super.load(root, batch)
    }

    private func loses(_ origin: SlotSource, _ slot: Int, _ entity: EntityMapping) -> Bool {
        switch origin {
        case .value: store.defect == .losesDefaultsInSteps
        case .slot(let old, _):
            store.defect == .losesRenamedValuesInSteps
                && mapping.source[entity.source].slots[old].name != mapping.destination[entity.destination].slots[slot].name
        }
    }

    override func load(link: Int, _ pairs: [LinkPair]) throws(StorageError) {
        if store.defect != .losesPairsInSteps { try super.load(link: link, pairs) }
    }

    override func setNote(_ name: String, _ bytes: Data?) throws(StorageError) {
        if store.defect != .forgetsEarlierVersions || !name.hasPrefix("migrations") { try super.setNote(name, bytes) }
    }
}
