public import PolystoreStorage

extension MigrationRunner {
    /// The steps that the store has to take, without taking them; none when it has the current version.
    ///
    /// - Throws: `noMigrationPath` where no way leads to the current version.
    public func requiredMigrations() throws(StorageError) -> [RequiredMigration] {
        let steps = try steps()
        if steps.isEmpty { return [] }
        let reader = try store.beginRead()
        defer { reader.end() }
        var result: [RequiredMigration] = []
        for step in steps {
            // What later steps lose is not yet stored: only the first can be counted.
            let isFirst = step.number == 0
            let losses = isFirst ? try MigrationLosses(step.mapping, accepted: history.acceptedLosses).stored(in: reader) : []
            let count = isFirst ? try Self.objectCount(step.mapping.schemas, reader) : result[0].objectCount
            result.append(RequiredMigration(type: step.type, changes: step.mapping.schemas.changes, losses: losses, objectCount: count))
        }
        return result
    }

    /// What the store would do in each of those steps, line by line, for people to read: statements where it has some.
    public func explanations() throws(StorageError) -> [[String]] {
        var earlier: [MigrationStep] = [], result: [[String]] = []
        for step in try steps() {
            let next = Self.step(step.mapping)
            result.append(try store.explanation(of: next, after: earlier))
            earlier.append(next)
        }
        return result
    }

    /// The number of objects of hierarchies that change.
    private static func objectCount(_ mapping: SchemaMapping, _ reader: ReadSession) throws(StorageError) -> Int {
        let changed = Set(mapping.changes.map { String($0.path.prefix { $0 != "." }) })
        var count = 0
        for root in mapping.source.roots {
            // A change is named by the new name of its entity, or by the old one where the entity is gone.
            var names = mapping.source[root].family.map { mapping.source.entities[$0].name }
            for part in mapping.entities where mapping.source[part.source].root == root {
                let family = mapping.destination[mapping.destination[part.destination].root].family
                names += family.map { mapping.destination.entities[$0].name }
            }
            if changed.isDisjoint(with: names) { continue }
            let answer = try reader.values(for: .count(FetchPlan(mapping.source, root)))
            if case .int(let rows)? = answer.first?.first { count += Int(rows) }
        }
        return count
    }
}
