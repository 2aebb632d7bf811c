internal import PolystoreStorage

/// The condition of the objects of an entity that a transfer copies, where some of them have values of another program's database that cannot
/// be read.
struct SelectionCondition {
    private static let block = 256

    private let entity: EntityIndex
    private let predicate: CheckedPredicate
    private let source: ReadSession
    private let model: MappedModel?
    private let limit: WorkLimit?

    init(_ entity: EntityIndex, _ predicate: CheckedPredicate, _ source: ReadSession, _ model: MappedModel?, _ limit: WorkLimit?) {
        self.entity = entity
        self.predicate = predicate
        self.source = source
        self.model = model
        self.limit = limit
    }

    /// Passes the keys of the objects that satisfy the condition to `body`, and rejects those for which it cannot be evaluated.
    func forEachKey(rejecting rejects: RejectedRows, _ body: (Int64) -> Void) throws(StorageError) {
        let plan = FetchPlan(entity: entity, entities: [entity], fields: .keysOnly)
        var keys: [Int64] = []
        try TransferScope.forEachKey(plan, source, limit) { keys.append($0) }
        keys.sort()
        for start in stride(from: 0, to: keys.count, by: Self.block) {
            try choose(keys[start..<min(start + Self.block, keys.count)], rejects, body)
        }
    }

    private func choose(_ keys: ArraySlice<Int64>, _ rejects: RejectedRows, _ body: (Int64) -> Void) throws(StorageError) {
        var plan = FetchPlan(source.schema, source.schema[entity].root, keys: Array(keys), and: predicate, fields: .keysOnly)
        plan.entity = entity
        plan.entities = [entity]
        do throws(StorageError) {
            return try source.attempt { () throws(StorageError) in try TransferScope.forEachKey(plan, source, limit, body) }
        } catch {
            if error.code != .valueNotStorable { throw error }
            if keys.count == 1, let key = keys.first { return try reject(key, error, rejects) }
        }
        let middle = keys.startIndex + keys.count / 2
        try choose(keys[..<middle], rejects, body)
        try choose(keys[middle...], rejects, body)
    }

    private func reject(_ key: Int64, _ error: StorageError, _ rejects: RejectedRows) throws(StorageError) {
        let schema = model?.schema ?? source.schema, name = schema.entities[model?.entities[entity] ?? entity].name
        try rejects.add(
            RejectedRow(
                entity: name, key: key, property: nil, reason: "the condition for \(name) cannot be evaluated: \(error.message)",
                root: source.schema[entity].root))
    }
}
