public import PolystoreStorage

extension MigrationRunner {
    /// Returns the steps that the store requires, without running them. Returns none if the store has the current version.
    ///
    /// - Throws: `noMigrationPath` if no path reaches the current version.
    public func requiredMigrations() throws(StorageError) -> [RequiredMigration] {
        let steps = try steps()
        if steps.isEmpty { return [] }
        let reader = try store.beginRead()
        defer { reader.end() }
        var result: [RequiredMigration] = []
        for step in steps {
            let losses = try losses(of: step, in: steps, reader)
            let count = step.number == 0 ? try Self.objectCount(step.mapping.schemas, reader) : result[0].objectCount
            result.append(RequiredMigration(type: step.type, changes: step.mapping.schemas.changes, losses: losses, objectCount: count))
        }
        return result
    }

    /// Returns the losses of one of several steps that are not accepted, as far as the stored data determines them.
    func losses(of step: Step, in steps: [Step], _ reader: ReadSession) throws(StorageError) -> [SchemaChange] {
        try MigrationLosses(step.mapping, accepted: history.acceptedLosses, after: steps[..<step.number]).stored(in: reader)
    }

    /// Returns a readable description, line by line, of the store's work in each of these steps, with statements if the store executes
    /// some.
    public func explanations() throws(StorageError) -> [[String]] {
        var earlier: [MigrationStep] = [], result: [[String]] = []
        for step in try steps() {
            let next = Self.step(step.mapping)
            result.append(try store.explanation(of: next, after: earlier))
            earlier.append(next)
        }
        return result
    }

    /// Returns the number of objects in hierarchies that change.
    private static func objectCount(_ mapping: SchemaMapping, _ reader: ReadSession) throws(StorageError) -> Int {
        let changed = Set(mapping.changes.map { String($0.path.prefix { $0 != "." }) })
        var count = 0
        for root in mapping.source.roots {
            // A change has the new name of its entity, or the old name if the entity was removed.
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
