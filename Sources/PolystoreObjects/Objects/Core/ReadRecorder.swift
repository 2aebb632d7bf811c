internal import PolystoreStorage

/// A record of the hierarchies whose objects a closure has read, including those that its conditions and values depend on.
///
/// Statements in SQL are not recorded. Confined to the thread of the closure.
package final class ReadRecorder {
    private let schema: Schema
    /// The root entities.
    package private(set) var roots: Set<EntityIndex> = []

    /// Creates an empty record.
    package init(_ schema: Schema) { self.schema = schema }

    fileprivate func add(_ entity: EntityIndex) { roots.insert(schema[entity].root) }

    fileprivate func add(link: Int) {
        add(schema.links[link].owner)
        add(schema.links[link].member)
    }

    fileprivate func add(_ plan: FetchPlan) {
        add(plan.entity)
        plan.predicate.walk { node, _ in add(node) }
        for sort in plan.sort { sort.expression.walk { node, _ in add(node) } }
    }

    fileprivate func add(_ plan: QueryPlan) {
        add(plan.fetch)
        switch plan.kind {
        case .rows(let values): for value in values { value.walk { node, _ in add(node) } }
        case .groups(let groups):
            for value in groups.keys + groups.aggregates.compactMap(\.argument) { value.walk { node, _ in add(node) } }
        }
    }

    private func add(_ node: CheckedNode) -> CheckedWalk {
        switch node {
        case .property(let path): for step in path.steps { add(step.destination) }
        case .members(let members):
            for hop in members.hops {
                switch hop {
                case .toOne(let step): add(step.destination)
                case .toMany(_, _, let destination): add(destination)
                }
            }
        case .predicate, .expression: break
        }
        return .into
    }
}

/// A session that records what is read.
final class RecordedReader: ForwardingReader, ValueQueryReader, SingleRowReader {
    let reader: any StorageReader
    private let recorder: ReadRecorder

    init(_ reader: any StorageReader, _ recorder: ReadRecorder) {
        self.reader = reader
        self.recorder = recorder
    }

    func cursor(for plan: FetchPlan) throws(StorageError) -> any RowCursor {
        recorder.add(plan)
        return try reader.cursor(for: plan)
    }

    func rows(_ entity: EntityIndex, keys: [Int64], into batch: RowBatch) throws(StorageError) {
        recorder.add(entity)
        try reader.rows(entity, keys: keys, into: batch)
    }

    func row(_ entity: EntityIndex, key: Int64, into batch: RowBatch) throws(StorageError) {
        recorder.add(entity)
        if let single = reader.ability((any SingleRowReader).self) {
            try single.row(entity, key: key, into: batch)
        } else {
            try reader.rows(entity, keys: [key], into: batch)
        }
    }

    func pushdown(of plan: QueryPlan) -> Pushdown {
        reader.ability((any ValueQueryReader).self)?.pushdown(of: plan) ?? .unsupported
    }

    func values(for plan: QueryPlan) throws(StorageError) -> [[Value]]? {
        recorder.add(plan)
        return try reader.ability((any ValueQueryReader).self)?.values(for: plan)
    }

    func links(
        _ link: Int, side: LinkSide, keys: [Int64]?, _ body: (UnsafeBufferPointer<LinkPair>) throws(StorageError) -> Void
    ) throws(StorageError) {
        recorder.add(link: link)
        try reader.links(link, side: side, keys: keys, body)
    }
}
