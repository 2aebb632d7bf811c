/// The first thing in which two schemas differ, in one sentence.
public struct SchemaDifference: Sendable, Hashable, CustomStringConvertible {
    /// The sentence.
    public let description: String

    /// The first difference in what is stored, in the canonical order of the old schema; nil when there is none.
    public static func first(from old: Schema, to new: Schema) -> SchemaDifference? {
        if old.hash == new.hash { return nil }
        let renamed = Dictionary(
            new.entities.compactMap { entity in entity.originalName.map { ($0, entity.name) } }, uniquingKeysWith: { first, _ in first })
        for entity in old.entities {
            guard let index = new.index(of: entity.name) else {
                let hint = renamed[entity.name].map { "entity \(entity.name) was renamed to \($0)" }
                return SchemaDifference(description: hint ?? "entity \(entity.name) is gone")
            }
            if let text = difference(entity, new.entities[index]) { return SchemaDifference(description: text) }
        }
        if let added = new.entities.first(where: { old.index(of: $0.name) == nil }) {
            return SchemaDifference(description: "entity \(added.name) is new")
        }
        return SchemaDifference(description: "the declarations differ")
    }

    private static func difference(_ old: Entity, _ new: Entity) -> String? {
        let name = old.name
        if old.parent != new.parent { return "the parent of \(name) changed from \(old.parent ?? "none") to \(new.parent ?? "none")" }
        if old.isAbstract != new.isAbstract { return "\(name) became \(new.isAbstract ? "abstract" : "concrete")" }
        return attributes(name, old, new) ?? relationships(name, old, new) ?? rules(name, old, new)
    }

    private static func attributes(_ name: String, _ old: Entity, _ new: Entity) -> String? {
        for attribute in old.attributes {
            guard let other = new.attributes.first(where: { $0.name == attribute.name }) else {
                return "attribute \(name).\(attribute.name) is gone"
            }
            if attribute.type != other.type {
                return "\(name).\(attribute.name) changed from \(attribute.type.rawValue) to \(other.type.rawValue)"
            }
            if attribute.isOptional != other.isOptional {
                return "\(name).\(attribute.name) became \(other.isOptional ? "optional" : "required")"
            }
            if attribute.allowedValues != other.allowedValues { return "the allowed values of \(name).\(attribute.name) changed" }
            if attribute.coder != other.coder { return "the coder of \(name).\(attribute.name) changed" }
        }
        if let added = new.attributes.first(where: { new in !old.attributes.contains { $0.name == new.name } }) {
            return "attribute \(name).\(added.name) is new"
        }
        return old.attributes.map(\.name) == new.attributes.map(\.name) ? nil : "the attributes of \(name) stand in another order"
    }

    private static func relationships(_ name: String, _ old: Entity, _ new: Entity) -> String? {
        for relationship in old.relationships {
            guard var other = new.relationships.first(where: { $0.name == relationship.name }) else {
                return "relationship \(name).\(relationship.name) is gone"
            }
            other.originalName = relationship.originalName
            // How many there may be is checked above the stores.
            other.minCount = relationship.minCount
            other.maxCount = relationship.maxCount
            if other != relationship { return "relationship \(name).\(relationship.name) changed" }
        }
        if let added = new.relationships.first(where: { new in !old.relationships.contains { $0.name == new.name } }) {
            return "relationship \(name).\(added.name) is new"
        }
        return nil
    }

    private static func rules(_ name: String, _ old: Entity, _ new: Entity) -> String? {
        if old.indexes != new.indexes { return "the indexes of \(name) changed" }
        if old.uniqueConstraints != new.uniqueConstraints { return "the unique constraints of \(name) changed" }
        return nil
    }
}
