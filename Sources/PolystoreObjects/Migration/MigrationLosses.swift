internal import PolystoreFoundation
internal import PolystoreStorage

/// The losses of a step, as far as there is stored data.
struct MigrationLosses {
    let mapping: MigrationMapping
    let accepted: Set<String>

    init(_ mapping: MigrationMapping, accepted: Set<String>) {
        self.mapping = mapping
        self.accepted = accepted
    }

    func stored(in source: ReadSession) throws(StorageError) -> [SchemaChange] {
        var result: [SchemaChange] = []
        for loss in mapping.losses where !accepted.contains(loss.path) {
            if try isStored(loss, source) { result.append(loss) }
        }
        return result
    }

    /// Whether there is stored data that a change discards. The path of the change has the new names, which other elements may have had
    /// before.
    private func isStored(_ loss: SchemaChange, _ source: ReadSession) throws(StorageError) -> Bool {
        let schema = mapping.schemas.source
        guard let index = loss.formerEntity.flatMap(schema.index(of:)) else { return true }
        var plan = FetchPlan(
            entity: index, entities: loss.formerProperty == nil ? [index] : schema[index].family, fields: .keysOnly)
        if let property = loss.formerProperty, let slot = schema[index].slot(property) {
            let description = schema[index].slots[slot]
            plan.predicate = .not(
                .isNil(CheckedPath(steps: [], entity: index, leaf: .slot(slot), type: description.type, text: description.name)))
        }
        plan.limit = 1
        return try source.cursor(for: plan).next(into: RowBatch(capacity: 1))
    }
}
