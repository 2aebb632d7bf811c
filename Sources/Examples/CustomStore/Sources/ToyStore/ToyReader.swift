internal import Foundation
internal import PolystoreStorage

/// A session that reads a copy of the database.
class ToyReader: StorageReader {
    var database: ToyDatabase
    let limit: WorkLimit?
    private var isOpen = true

    init(_ database: ToyDatabase, _ limit: WorkLimit?) {
        self.database = database
        self.limit = limit
    }

    deinit { end() }

    /// What the store answers itself: all objects of an entity, and those that refer to an object.
    func pushdown(of plan: FetchPlan) -> Pushdown {
        plan.sort.isEmpty && plan.limit == nil && plan.offset == 0 && keys(for: plan) != nil ? .exact : .unsupported
    }

    private func keys(for plan: FetchPlan) -> [Int64]? {
        switch plan.predicate {
        case .constant(true): database.keys(plan.entity)
        case .compare(.path(let path), .equal, .value(.int(let key), _)):
            if path.steps.isEmpty, case .slot(let slot) = path.leaf { database.keys(plan.entity, slot, .int(key)) } else { nil }
        default: nil
        }
    }

    func cursor(for plan: FetchPlan) throws(StorageError) -> any RowCursor {
        let batch = RowBatch()
        for key in keys(for: plan) ?? [] {
            try limit?.check()
            if let row = database[plan.entity, key], plan.entities.contains(row.entity) { row.append(key, to: batch) }
        }
        return HeldRows(batch, schema: database.schema)
    }

    func rows(_ entity: EntityIndex, keys: [Int64], into batch: RowBatch) throws(StorageError) {
        try limit?.check()
        for key in keys { database[entity, key]?.append(key, to: batch) }
    }

    func links(
        _ link: Int, side: LinkSide, keys: [Int64]?, _ body: (UnsafeBufferPointer<LinkPair>) throws(StorageError) -> Void
    ) throws(StorageError) {
        try limit?.check()
        let wanted = keys.map(Set.init)
        var pairs: [LinkPair] = []
        for (pair, rank) in database.links[link, default: [:]] {
            let key = side == .owner ? pair.owner : pair.member
            if wanted?.contains(key) ?? true { pairs.append(LinkPair(owner: pair.owner, rank: rank, member: pair.member)) }
        }
        pairs.sort { a, b in
            side == .owner
                ? (a.owner, a.rank, a.member) < (b.owner, b.rank, b.member) : (a.member, a.rank, a.owner) < (b.member, b.rank, b.owner)
        }
        var failure: StorageError?
        pairs.withUnsafeBufferPointer { pairs in
            do throws(StorageError) { try body(pairs) } catch { failure = error }
        }
        if let failure { throw failure }
    }

    func note(_ name: String) throws(StorageError) -> Data? { database.notes[name] }

    final func end() {
        if isOpen { didEnd() }
        isOpen = false
    }

    /// Called once, when the session ends.
    func didEnd() {}
}
