internal import Foundation
internal import PolystoreStorage

/// The objects after a migration to the next version of a model.
extension NaiveGraph {
    /// Applies changes of the model.
    ///
    /// - Parameter keys: The keys of the objects, which determine the order of unordered ones.
    /// - Returns: The possible reasons for a refusal by a store. The graph is then unchanged.
    mutating func migrate(_ changes: [ProgramChange], keys: [Int: Int64]) -> Set<StorageError.Code> {
        var version = ProgramVersion(after: schema), refusals: Set<StorageError.Code> = []
        for change in changes where version.make(change) {
            let before = schema
            schema = version.schema
            if !carry(change, before, keys) { refusals.insert(.validationFailed) }
            for (number, object) in objects {
                let description = schema.description(object.entity)
                let names = Set(description.relationships.map(\.relationship.name) + references(object.entity).map(\.name))
                objects[number]?.related = object.related.filter { names.contains($0.key) }
            }
        }
        schema = version.schema
        if objects.values.contains(where: lacksValue) { refusals.insert(.validationFailed) }
        if violatesUnique { refusals.insert(.uniqueConstraintViolated) }
        return refusals
    }

    private func lacksValue(_ object: Object) -> Bool {
        schema.description(object.entity).slots.contains { slot in
            slot.attribute.map { !$0.isOptional && (object.values[slot.name] ?? .null).isNull } ?? false
        }
    }

    /// Returns the objects of an entity and its descendants, in the order of their keys.
    private func family(_ entity: String, _ keys: [Int: Int64]) -> [Int] {
        objects.keys.filter { isKind($0, of: entity) }.sorted { (keys[$0] ?? 0, $0) < (keys[$1] ?? 0, $1) }
    }

    /// Applies a change. Returns false if an object is incompatible with it.
    private mutating func carry(_ change: ProgramChange, _ before: Schema, _ keys: [Int: Int64]) -> Bool {
        switch change {
        case .addAttribute(let entity, let attribute) where attribute.crossReference == nil:
            let value = attribute.defaultValue.map { Self.stored($0, attribute.type) } ?? .null
            for number in family(entity, keys) { objects[number]?.values[attribute.name] = value }
        case .removeAttribute(let entity, let name):
            for number in family(entity, keys) {
                objects[number]?.values[name] = nil
                objects[number]?.related[name] = nil
            }
        case .renameAttribute(let entity, let name, let new), .renameRelationship(let entity, let name, let new):
            for number in family(entity, keys) {
                let value = objects[number]?.values.removeValue(forKey: name), members = objects[number]?.related.removeValue(forKey: name)
                objects[number]?.values[new] = value
                objects[number]?.related[new] = members
            }
        case .retype(let entity, let name, let type):
            var fits = true
            for number in family(entity, keys) {
                guard let value = objects[number]?.values[name] else { continue }
                objects[number]?.values[name] = Self.converted(value, type)
                if case .int(let whole) = value, !Self.holds(whole, type) { fits = false }
            }
            return fits
        case .require(let entity, let name, let fallback):
            for number in family(entity, keys) where objects[number]?.values[name]?.isNull != false {
                objects[number]?.values[name] = fallback ?? .null
            }
        case .removeEntity(let name):
            objects = objects.filter { $0.value.entity != name }
            let left = Set(objects.keys), related = objects.mapValues(\.related)
            for number in left { objects[number]?.related = (related[number] ?? [:]).mapValues { $0.filter(left.contains) } }
        case .renameEntity(let name, let new):
            for (number, object) in objects where object.entity == name { objects[number]?.entity = new }
        case .reshape(let entity, let name, .toManyOrdered):
            for number in family(entity, keys) {
                objects[number]?.related[name]?.sort { (keys[$0] ?? 0, $0) < (keys[$1] ?? 0, $1) }
            }
        case .addInverse(let entity, let name, let inverse):
            var fits = true
            for number in family(entity, keys) {
                for member in members(number, name) {
                    objects[member]?.related[inverse.name, default: []].append(number)
                    if inverse.cardinality == .toOne, members(member, inverse.name).count > 1 { fits = false }
                }
            }
            return fits
        case .addAttribute, .relax, .addEntity, .makeConcrete, .addRelationship, .removeRelationship, .reshape, .removeInverse, .addIndex,
            .removeIndex, .addUnique, .removeUnique:
            break
        }
        return true
    }

    /// Returns a whole number as one of another type.
    static func converted(_ value: Value, _ type: ValueType) -> Value {
        guard case .int(let number) = value else { return value }
        if type.base == .double { return .double(Double(number)) }
        return type == .decimal ? .decimal(Decimal(number)) : value
    }

    private static func holds(_ number: Int64, _ type: ValueType) -> Bool {
        if type == .int16 { return Int16(exactly: number) != nil }
        return type != .int32 || Int32(exactly: number) != nil
    }
}
