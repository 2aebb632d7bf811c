internal import PolystoreStorage

/// A change of a model, from one version to the next.
///
/// As with steps, a change of a missing element, or of one that the next version has already changed, does nothing.
enum ProgramChange: Sendable {
    case addAttribute(String, Attribute)
    case removeAttribute(String, String)
    case renameAttribute(String, String, to: String)
    case retype(String, String, ValueType)
    /// An attribute becomes required. The value replaces nil.
    case require(String, String, fallback: Value?)
    case relax(String, String)
    /// A new entity, which a second store may hold as well.
    case addEntity(Entity, isShared: Bool)
    case removeEntity(String)
    case renameEntity(String, to: String)
    case makeConcrete(String)
    case addRelationship(String, Relationship, inverse: Relationship?)
    /// A relationship is removed with its inverse.
    case removeRelationship(String, String)
    case renameRelationship(String, String, to: String)
    case reshape(String, String, Cardinality)
    /// A relationship gains its other side, or loses it.
    case addInverse(String, String, Relationship)
    case removeInverse(String, String)
    case addIndex(String, Index)
    case removeIndex(String, Index)
    case addUnique(String, UniqueConstraint)
    case removeUnique(String, UniqueConstraint)
}

/// The next version of a model while changes are applied to it.
struct ProgramVersion {
    /// The current version.
    private(set) var schema: Schema
    private let version: String
    /// The changed names: nothing is changed twice from one version to the next.
    private var touched: Set<String> = []
    private var entities: [Entity] = []
    private var configurations: [String: [String]] = [:]

    init(after schema: Schema) {
        self.schema = schema
        version = schema.version + ".1"
        entities = schema.entities
        configurations = schema.configurations
        // Names from before the migration to the previous version.
        for entity in entities.indices {
            entities[entity].originalName = nil
            for attribute in entities[entity].attributes.indices { entities[entity].attributes[attribute].originalName = nil }
            for position in entities[entity].relationships.indices { entities[entity].relationships[position].originalName = nil }
        }
        if let next = try? Schema(version: version, entities: entities, configurations: configurations) { self.schema = next }
    }

    /// Applies a change. Returns whether it was applied.
    mutating func make(_ change: ProgramChange) -> Bool {
        var copy = self
        guard copy.edit(change),
            let next = try? Schema(version: version, entities: copy.entities, configurations: copy.configurations)
        else { return false }
        copy.schema = next
        self = copy
        return true
    }

    // MARK: Reading

    private func index(_ entity: String) -> Int? { entities.firstIndex { $0.name == entity } }

    private func attribute(_ entity: String, _ name: String) -> (Int, Int)? {
        guard let index = index(entity), let position = entities[index].attributes.firstIndex(where: { $0.name == name }) else {
            return nil
        }
        return (index, position)
    }

    private func relationship(_ entity: String, _ name: String) -> (Int, Int)? {
        guard let index = index(entity), let position = entities[index].relationships.firstIndex(where: { $0.name == name }) else {
            return nil
        }
        return (index, position)
    }

    /// Records that names are changed. Returns whether none of them was changed before.
    private mutating func touch(_ names: String?...) -> Bool { names.allSatisfy { $0.map { touched.insert($0).inserted } ?? true } }

    private func isNew(_ names: String?...) -> Bool {
        let known = Set(entities.flatMap { [$0.name] + $0.attributes.map(\.name) + $0.relationships.map(\.name) }).union(touched)
        return names.allSatisfy { $0.map { !known.contains($0) } ?? true }
    }

    // MARK: Editing

    private mutating func edit(_ change: ProgramChange) -> Bool {
        switch change {
        case .addAttribute(let entity, let attribute):
            guard let index = index(entity), isNew(attribute.name), touch(attribute.name) else { return false }
            entities[index].attributes.append(attribute)
        case .removeAttribute(let entity, let name):
            guard let (index, position) = attribute(entity, name), touch(name) else { return false }
            entities[index].attributes.remove(at: position)
            for index in entities.indices {
                entities[index].indexes.removeAll { $0.properties.contains(name) }
                entities[index].uniqueConstraints.removeAll { $0.properties.contains(name) }
            }
        case .renameAttribute(let entity, let name, let new):
            guard let (index, position) = attribute(entity, name), isNew(new), touch(name, new) else { return false }
            (entities[index].attributes[position].name, entities[index].attributes[position].originalName) = (new, name)
            rename(name, new)
        case .retype(let entity, let name, let type):
            guard let (index, position) = attribute(entity, name), touch(name) else { return false }
            let before = entities[index].attributes[position]
            guard before.crossReference == nil, before.allowedValues.isEmpty, type != before.type else { return false }
            entities[index].attributes[position].type = type
            entities[index].attributes[position].rules = AttributeRules()
            entities[index].attributes[position].defaultValue = before.defaultValue.map { NaiveGraph.converted($0, type) }
        case .require(let entity, let name, let fallback):
            guard let (index, position) = attribute(entity, name), touch(name) else { return false }
            let before = entities[index].attributes[position]
            guard before.isOptional, before.crossReference == nil else { return false }
            entities[index].attributes[position].isOptional = false
            entities[index].attributes[position].defaultValue = fallback
        case .relax(let entity, let name):
            guard let (index, position) = attribute(entity, name), !entities[index].attributes[position].isOptional, touch(name) else {
                return false
            }
            entities[index].attributes[position].isOptional = true
        case .addIndex(let entity, let added):
            guard let index = index(entity), !entities[index].indexes.contains(added) else { return false }
            entities[index].indexes.append(added)
        case .removeIndex(let entity, let gone):
            guard let index = index(entity), entities[index].indexes.contains(gone) else { return false }
            entities[index].indexes.removeAll { $0 == gone }
        case .addUnique(let entity, let added):
            guard let index = index(entity), !entities[index].uniqueConstraints.contains(added) else { return false }
            entities[index].uniqueConstraints.append(added)
        case .removeUnique(let entity, let gone):
            guard let index = index(entity), entities[index].uniqueConstraints.contains(gone) else { return false }
            entities[index].uniqueConstraints.removeAll { $0 == gone }
        case .addEntity, .removeEntity, .renameEntity, .makeConcrete: return editEntities(change)
        case .addRelationship, .removeRelationship, .renameRelationship, .reshape, .addInverse, .removeInverse:
            return editRelationships(change)
        }
        return true
    }

    /// Updates the name of a property in indexes and constraints.
    private mutating func rename(_ name: String, _ new: String) {
        for index in entities.indices {
            for position in entities[index].indexes.indices {
                entities[index].indexes[position].properties = entities[index].indexes[position].properties.map { $0 == name ? new : $0 }
            }
            entities[index].uniqueConstraints = entities[index].uniqueConstraints.map {
                UniqueConstraint($0.properties.map { $0 == name ? new : $0 })
            }
        }
    }

    private mutating func editEntities(_ change: ProgramChange) -> Bool {
        switch change {
        case .addEntity(let entity, let isShared):
            guard isNew(entity.name), touch(entity.name) else { return false }
            entities.append(entity)
            if isShared { configurations[GraphProgram.second]?.append(entity.name) }
        case .removeEntity(let name):
            guard let index = index(name), entities.count > 2, !entities.contains(where: { $0.parent == name }), touch(name),
                let old = schema.index(of: name)
            else { return false }
            // References from other stores to the entity would dangle.
            let targets = entities.flatMap(\.attributes).compactMap { $0.crossReference?.destination }.compactMap(schema.index(of:))
            if targets.contains(where: { schema[$0].family.contains(old) }) { return false }
            let gone = entities.remove(at: index)
            for position in entities.indices {
                for relationship in entities[position].relationships where relationship.destination == name {
                    if !touch(relationship.name) { return false }
                }
                entities[position].relationships.removeAll { $0.destination == name }
            }
            for relationship in gone.relationships where relationship.destination != name && relationship.inverse == nil {
                if !touch(relationship.name) { return false }
            }
            for key in configurations.keys { configurations[key]?.removeAll { $0 == name } }
        case .renameEntity(let name, let new):
            guard let index = index(name), isNew(new), touch(name, new) else { return false }
            (entities[index].name, entities[index].originalName) = (new, name)
            for index in entities.indices {
                if entities[index].parent == name { entities[index].parent = new }
                for position in entities[index].relationships.indices where entities[index].relationships[position].destination == name {
                    entities[index].relationships[position].destination = new
                }
                for position in entities[index].attributes.indices
                where entities[index].attributes[position].crossReference?.destination == name {
                    entities[index].attributes[position].crossReference?.destination = new
                }
            }
            for key in configurations.keys { configurations[key] = configurations[key]?.map { $0 == name ? new : $0 } }
        case .makeConcrete(let name):
            guard let index = index(name), entities[index].isAbstract, touch(name) else { return false }
            entities[index].isAbstract = false
        case .addAttribute, .removeAttribute, .renameAttribute, .retype, .require, .relax, .addRelationship, .removeRelationship,
            .renameRelationship, .reshape, .addInverse, .removeInverse, .addIndex, .removeIndex, .addUnique, .removeUnique:
            return false
        }
        return true
    }

    private mutating func editRelationships(_ change: ProgramChange) -> Bool {
        switch change {
        case .addRelationship(let entity, let there, let back):
            guard let owner = index(entity), let destination = index(there.destination), isNew(there.name, back?.name),
                touch(there.name, back?.name)
            else { return false }
            entities[owner].relationships.append(there)
            if let back { entities[destination].relationships.append(back) }
        case .removeRelationship(let entity, let name):
            guard let (index, position) = relationship(entity, name) else { return false }
            let gone = entities[index].relationships.remove(at: position)
            guard touch(name, gone.inverse) else { return false }
            if let inverse = gone.inverse, let (other, place) = relationship(gone.destination, inverse) {
                entities[other].relationships.remove(at: place)
            }
            for index in entities.indices {
                entities[index].indexes.removeAll { $0.properties.contains(name) }
                entities[index].uniqueConstraints.removeAll { $0.properties.contains(name) }
            }
        case .renameRelationship(let entity, let name, let new):
            guard let (index, position) = relationship(entity, name), isNew(new), touch(name, new) else { return false }
            let before = entities[index].relationships[position]
            (entities[index].relationships[position].name, entities[index].relationships[position].originalName) = (new, name)
            if let inverse = before.inverse, let (other, place) = relationship(before.destination, inverse) {
                entities[other].relationships[place].inverse = new
            }
            rename(name, new)
        case .reshape(let entity, let name, let cardinality):
            guard let (index, position) = relationship(entity, name) else { return false }
            let before = entities[index].relationships[position]
            guard cardinality != .toOne, cardinality != before.cardinality, touch(name, before.inverse) else { return false }
            entities[index].relationships[position].cardinality = cardinality
        case .addInverse(let entity, let name, let inverse):
            guard let (index, position) = relationship(entity, name), entities[index].relationships[position].inverse == nil,
                let destination = self.index(entities[index].relationships[position].destination), isNew(inverse.name),
                touch(name, inverse.name)
            else { return false }
            entities[index].relationships[position].inverse = inverse.name
            entities[destination].relationships.append(inverse)
        case .removeInverse(let entity, let name):
            guard let (index, position) = relationship(entity, name) else { return false }
            let before = entities[index].relationships[position]
            guard let inverse = before.inverse, let (other, place) = relationship(before.destination, inverse), touch(name, inverse) else {
                return false
            }
            entities[index].relationships[position].inverse = nil
            entities[other].relationships.remove(at: place)
        case .addAttribute, .removeAttribute, .renameAttribute, .retype, .require, .relax, .addEntity, .removeEntity, .renameEntity,
            .makeConcrete, .addIndex, .removeIndex, .addUnique, .removeUnique:
            return false
        }
        return true
    }
}
