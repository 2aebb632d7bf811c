internal import PolystoreStorage

/// Finds the objects that cannot exist without objects that a repair removes, because they require a reference to them.
///
/// It follows the references backwards from the removed objects, so its work grows with their number and not with that of all objects.
struct RemovalClosure {
    private static let blockSize = 512

    /// A required reference of the objects of an entity.
    private struct Reference {
        let entity: EntityIndex
        let root: EntityIndex
        let path: CheckedPath
    }

    private let session: ReadSession
    private let limit: WorkLimit?
    /// The required references by the root of their destination.
    private let references: [EntityIndex: [Reference]]

    init(_ session: ReadSession, _ limit: WorkLimit?) {
        self.session = session
        self.limit = limit
        let schema = session.schema
        var references: [EntityIndex: [Reference]] = [:]
        for description in schema.descriptions {
            for (slot, content) in description.slots.enumerated() where content.declaredIn == description.index {
                guard case .toOne(let relationship, let destination) = content.content, !relationship.isOptional else { continue }
                let path = CheckedPath(steps: [], entity: description.index, leaf: .slot(slot), type: .int64, text: content.name)
                references[schema[destination].root, default: []].append(
                    Reference(entity: description.index, root: description.root, path: path))
            }
        }
        self.references = references
    }

    /// Adds the objects that refer to removed ones, those that refer to them, and so on.
    ///
    /// - Returns: Whether all of them were found. A row that cannot be decoded hides others.
    func extend(_ removed: inout RemovedObjects) throws(StorageError) -> Bool {
        var frontier = removed.keys, isComplete = true
        while !frontier.isEmpty {
            var next: [EntityIndex: Set<Int64>] = [:]
            for (root, keys) in frontier {
                for reference in references[root] ?? [] {
                    let sorted = keys.sorted()
                    for start in stride(from: 0, to: sorted.count, by: Self.blockSize) {
                        try limit?.check()
                        let block = sorted[start..<min(start + Self.blockSize, sorted.count)]
                        do throws(StorageError) {
                            for key in try referring(reference, to: block) where removed.insert(key, root: reference.root) {
                                next[reference.root, default: []].insert(key)
                            }
                        } catch {
                            if error.code != .corrupted { throw error }
                            isComplete = false
                        }
                    }
                }
            }
            frontier = next
        }
        return isComplete
    }

    private func referring(_ reference: Reference, to keys: ArraySlice<Int64>) throws(StorageError) -> [Int64] {
        let condition = CheckedPredicate.isIn(.path(reference.path), keys.map(Value.int))
        let cursor = try session.cursor(for: FetchPlan(session.schema, reference.entity, where: condition, fields: .keysOnly))
        let batch = RowBatch(capacity: Self.blockSize)
        var found: [Int64] = []
        while try cursor.next(into: batch) { found += (0..<batch.count).map(batch.key) }
        return found
    }
}
