internal import PolystoreStorage

/// Next versions of the model.
extension ProgramGenerator {
    /// Returns a migration to a version with a few changes. The following steps are generated for that version.
    mutating func migration() -> ProgramStep {
        var version = ProgramVersion(after: schema), changes: [ProgramChange] = []
        for _ in 0..<(1 + below(4)) {
            guard let change = change(), version.make(change) else { continue }
            changes.append(change)
            take(version.schema)
            follow(change)
        }
        requests = []
        return ProgramStep(.migrate(changes))
    }

    /// Updates the approximate state.
    private mutating func follow(_ change: ProgramChange) {
        switch change {
        case .removeEntity(let name): objects = objects.filter { $0.value != name }
        case .renameEntity(let name, let new): objects = objects.mapValues { $0 == name ? new : $0 }
        case .addAttribute, .removeAttribute, .renameAttribute, .retype, .require, .relax, .addEntity, .makeConcrete, .addRelationship,
            .removeRelationship, .renameRelationship, .reshape, .addInverse, .removeInverse, .addIndex, .removeIndex, .addUnique,
            .removeUnique:
            break
        }
    }

    private mutating func fresh(_ prefix: String) -> String {
        names += 1
        return "\(prefix)\(names)"
    }

    private mutating func change() -> ProgramChange? {
        let entity = pick(schema.entities)
        switch below(20) {
        case 0, 1, 2: return .addAttribute(entity.name, attribute())
        case 3, 4, 5, 6, 7: return entity.attributes.isEmpty ? nil : changed(pick(entity.attributes), entity)
        case 8: return added()
        case 9: return .removeEntity(entity.name)
        case 10: return chance(70) ? .renameEntity(entity.name, to: fresh("M")) : .makeConcrete(entity.name)
        case 11, 12: return relationship(entity.name)
        case 13, 14, 15, 16: return entity.relationships.isEmpty ? nil : changed(pick(entity.relationships), entity.name)
        default: return rule(entity)
        }
    }

    // MARK: Attributes

    private mutating func attribute() -> Attribute {
        let type = pick(ValueType.allCases), values = ProgramValues(type)
        var attribute = Attribute(fresh("m"), type, isOptional: chance(70))
        if !attribute.isOptional || chance(40) { attribute.defaultValue = pick(values.ordinary) }
        return attribute
    }

    private mutating func changed(_ attribute: Attribute, _ entity: Entity) -> ProgramChange {
        switch below(10) {
        case 0, 1: return .removeAttribute(entity.name, attribute.name)
        case 2, 3, 4: return .renameAttribute(entity.name, attribute.name, to: fresh("m"))
        case 5, 6:
            if !attribute.isOptional { return .relax(entity.name, attribute.name) }
            return .require(entity.name, attribute.name, fallback: chance(90) ? pick(ProgramValues(attribute.type).ordinary) : nil)
        default:
            let narrower: [ValueType] = attribute.type == .int64 ? [.int16, .int32] : attribute.type == .int32 ? [.int16] : []
            let types = chance(15) && !narrower.isEmpty ? narrower : attribute.type.wider
            return types.isEmpty
                ? .renameAttribute(entity.name, attribute.name, to: fresh("m")) : .retype(entity.name, attribute.name, pick(types))
        }
    }

    private mutating func rule(_ entity: Entity) -> ProgramChange? {
        let attributes = entity.attributes.filter { $0.crossReference == nil }
        if attributes.isEmpty { return nil }
        let attribute = pick(attributes)
        switch below(5) {
        case 0: return entity.indexes.isEmpty ? nil : .removeIndex(entity.name, pick(entity.indexes))
        case 1: return entity.uniqueConstraints.isEmpty ? nil : .removeUnique(entity.name, pick(entity.uniqueConstraints))
        case 2: return attribute.isOptional ? .addUnique(entity.name, UniqueConstraint([attribute.name])) : nil
        default:
            return .addIndex(entity.name, Index([attribute.name], kind: attribute.type == .string && chance(40) ? .fullText : .ordered))
        }
    }

    // MARK: Entities and relationships

    private mutating func added() -> ProgramChange {
        let parent = chance(50) ? pick(schema.entities).name : nil
        var entity = Entity(fresh("M"), parent: parent)
        for _ in 0...below(3) { entity.attributes.append(attribute()) }
        return .addEntity(entity, isShared: parent.map(isShared) ?? chance(50))
    }

    private mutating func relationship(_ entity: String) -> ProgramChange {
        // Related objects are in the same stores.
        let others = schema.entities.map(\.name).filter { isShared($0) == isShared(entity) }
        var there = Relationship(fresh("m"), to: pick(others), pick([.toOne, .toMany, .toManyOrdered]))
        there.deleteRule = pick([.nullify, .nullify, .cascade, .deny])
        if chance(40) { return .addRelationship(entity, there, inverse: nil) }
        let back = Relationship(fresh("m"), to: entity, pick([.toOne, .toMany]), inverse: there.name)
        there.inverse = back.name
        return .addRelationship(entity, there, inverse: back)
    }

    private mutating func changed(_ relationship: Relationship, _ entity: String) -> ProgramChange {
        switch below(8) {
        case 0: return .removeRelationship(entity, relationship.name)
        case 1, 2: return .renameRelationship(entity, relationship.name, to: fresh("m"))
        case 3, 4:
            if relationship.inverse != nil { return .removeInverse(entity, relationship.name) }
            return .addInverse(
                entity, relationship.name,
                Relationship(fresh("m"), to: entity, chance(25) ? .toOne : .toMany, inverse: relationship.name))
        default:
            let wider: [Cardinality] = relationship.cardinality == .toMany ? [.toManyOrdered] : [.toMany, .toManyOrdered]
            return .reshape(entity, relationship.name, pick(wider))
        }
    }
}
