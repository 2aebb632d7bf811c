internal import PolystoreFoundation
internal import PolystoreStorage

/// The losses of a step, as far as there is stored data.
struct MigrationLosses {
    private let mapping: MigrationMapping
    private let accepted: Set<String>
    /// The steps between the stored version and the step.
    private let earlier: ArraySlice<MigrationRunner.Step>

    init(_ mapping: MigrationMapping, accepted: Set<String>, after earlier: ArraySlice<MigrationRunner.Step> = []) {
        self.mapping = mapping
        self.accepted = accepted
        self.earlier = earlier
    }

    /// The objects of an entity, or those of them that have a value in a slot.
    private struct Place: Hashable {
        let entity: EntityIndex
        let slot: Int?
    }

    /// Returns the losses of data that a session of the stored version has. What an earlier step of the program will write is not known, and
    /// not contained: the step itself refuses its loss.
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
        let slot = loss.formerProperty.flatMap(schema[index].slot)
        var places = Set((loss.formerProperty == nil ? [index] : schema[index].family).map { Place(entity: $0, slot: slot) })
        for step in earlier.reversed() { places = Set(places.flatMap { Self.origins(of: $0, step) }) }
        let stored = earlier.first?.mapping.schemas.source ?? schema
        for place in places where !stored[place.entity].isAbstract { if try Self.isStored(place, stored, source) { return true } }
        return false
    }

    /// Returns where the data of a place is before a step.
    private static func origins(of place: Place, _ step: MigrationRunner.Step) -> [Place] {
        if step.stage?.isCustom == true { return [] }
        return step.mapping.schemas.entities.enumerated().compactMap { index, part in
            if part.destination != place.entity || step.mapping.transformers[index] != nil { return nil }
            guard let slot = place.slot else { return Place(entity: part.source, slot: nil) }
            switch part.slots[slot] {
            case .slot(let origin, .null): return Place(entity: part.source, slot: origin)
            // All objects get a value.
            case .slot: return Place(entity: part.source, slot: nil)
            case .value(let value): return value.isNull ? nil : Place(entity: part.source, slot: nil)
            }
        }
    }

    /// Whether an object of an entity of the stored version has a value in a slot.
    static func isStored(_ entity: EntityIndex, _ slot: Int, _ source: ReadSession) throws(StorageError) -> Bool {
        try isStored(Place(entity: entity, slot: slot), source.schema, source)
    }

    private static func isStored(_ place: Place, _ schema: Schema, _ source: ReadSession) throws(StorageError) -> Bool {
        var plan = FetchPlan(entity: place.entity, entities: [place.entity], fields: .keysOnly)
        if let slot = place.slot {
            let description = schema[place.entity].slots[slot]
            plan.predicate = .not(
                .isNil(CheckedPath(steps: [], entity: place.entity, leaf: .slot(slot), type: description.type, text: description.name)))
        }
        plan.limit = 1
        return try source.cursor(for: plan).next(into: RowBatch(capacity: 1))
    }
}
