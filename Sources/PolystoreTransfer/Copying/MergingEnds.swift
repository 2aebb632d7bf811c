internal import PolystoreStorage

/// The other ends of one-to-one relationships of copied objects, at objects of the target that are not copied although the source has them.
///
/// The source says who is related to a copied object. An object that is not copied, because it was rejected or not chosen, keeps everything but
/// the end of such a relationship: it gets the one of the copied object, and loses one that no copied object has any more.
final class MergingEnds {
    /// An end of a one-to-one relationship.
    private struct End: Hashable {
        /// The entity whose objects have the end, and its slot.
        let entity: EntityIndex
        let slot: Int
        /// The entity to which it refers, and the slot of the other end.
        let destination: EntityIndex
        let inverse: Int
    }

    private let contents: Contents
    private let writer: WriteSession
    private let limit: WorkLimit?
    private let schema: Schema
    /// The ends that objects have which are not copied.
    private let ends: [End]
    /// The copied objects that refer to such an object, by the key of that object.
    private var wanted: [End: [Int64: Int64]] = [:]

    /// The number of objects that are looked up at once.
    private static let block = 1024

    init(_ contents: Contents, _ writer: WriteSession, _ limit: WorkLimit?) {
        self.contents = contents
        self.writer = writer
        self.limit = limit
        let schema = contents.schema
        self.schema = schema
        var ends: [End] = []
        for description in schema.descriptions where !contents.isWhole(description.index) {
            for (slot, end) in description.slots.enumerated() where end.declaredIn == description.index {
                guard case .toOne(let relationship, let destination) = end.content, let name = relationship.inverse,
                    case .slot(let inverse)? = schema[destination].relationship(name)?.place
                else { continue }
                ends.append(End(entity: description.index, slot: slot, destination: destination, inverse: inverse))
            }
        }
        self.ends = ends
    }

    /// Adds copied rows of a hierarchy.
    func add(_ batch: RowBatch, _ root: EntityIndex) {
        for end in ends where schema[end.destination].root == root {
            let family = Set(schema[end.destination].family)
            for index in 0..<batch.count {
                let row = batch.row(index)
                guard family.contains(row.entity), !row[end.inverse].isNull else { continue }
                let key = row[end.inverse].int
                if !contents.isCopied(key, end.entity) { wanted[end, default: [:]][key] = row.key }
            }
        }
    }

    /// Writes the ends, after all rows.
    func write() throws(StorageError) {
        for end in ends {
            var keys: [Int64] = []
            let plan = FetchPlan(schema, end.entity, fields: .some(SlotMask()))
            let cursor = try writer.cursor(for: plan), batch = RowBatch(capacity: Self.block)
            while try cursor.next(into: batch) {
                try limit?.check()
                for index in 0..<batch.count {
                    let row = batch.row(index), isWanted = wanted[end]?[row.key] != nil
                    if !contents.isCopied(row.key, end.entity), isWanted || !row[end.slot].isNull { keys.append(row.key) }
                }
            }
            for start in stride(from: 0, to: keys.count, by: Self.block) {
                try limit?.check()
                try write(end, Array(keys[start..<min(start + Self.block, keys.count)]))
            }
        }
    }

    private func write(_ end: End, _ keys: [Int64]) throws(StorageError) {
        // The source does not contradict what objects refer to that it does not have.
        let known = try contents.entities(of: keys, schema[end.entity].root)
        let batch = RowBatch(capacity: keys.count)
        try writer.rows(end.entity, keys: keys.filter { known[$0] != nil }, into: batch)
        let others = Set((0..<batch.count).compactMap { batch.row($0)[end.slot].isNull ? nil : batch.row($0)[end.slot].int })
        let sources = try contents.entities(of: others.sorted(), schema[end.destination].root)
        var changes: [EntityIndex: [EntityChanges.Reference]] = [:], former: [Int64: Int64] = [:]
        for index in 0..<batch.count {
            let row = batch.row(index), now: Int64? = row[end.slot].isNull ? nil : row[end.slot].int, new = wanted[end]?[row.key]
            if now == new { continue }
            if let now {
                let isCopied = sources[now] != nil && contents.isCopied(now, end.destination)
                if new == nil, !isCopied { continue }
                if !isCopied, sources[now] != nil { former[now] = row.key }
            }
            if new == nil, TransferScope.isRequired(schema[row.entity].slots[end.slot]) { continue }
            changes[row.entity, default: []].append((row.key, row.version, new))
        }
        try apply(changes, end.slot)
        try release(former, end)
    }

    /// Sets the references of objects to nil that are not copied either, and to whose object a copied one refers now.
    ///
    /// - Parameter former: The key of that object, by the key of the object that has referred to it.
    private func release(_ former: [Int64: Int64], _ end: End) throws(StorageError) {
        if former.isEmpty { return }
        let batch = RowBatch(capacity: former.count)
        try writer.rows(end.destination, keys: former.keys.sorted(), into: batch)
        var changes: [EntityIndex: [EntityChanges.Reference]] = [:]
        for index in 0..<batch.count {
            let row = batch.row(index)
            if row[end.inverse].isNull || row[end.inverse].int != former[row.key] { continue }
            if TransferScope.isRequired(schema[row.entity].slots[end.inverse]) { continue }
            changes[row.entity, default: []].append((row.key, row.version, nil))
        }
        try apply(changes, end.inverse)
    }

    private func apply(_ changes: [EntityIndex: [EntityChanges.Reference]], _ slot: Int) throws(StorageError) {
        if changes.isEmpty { return }
        let entities = changes.sorted { $0.key < $1.key }.map { EntityChanges(schema[$0], slot: slot, $1) }
        try writer.apply(ChangeSet(entities: entities))
    }
}
