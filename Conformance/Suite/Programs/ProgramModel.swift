internal import Foundation
internal import PolystoreStorage

/// A random model: two groups of entities with inheritance and relationships within each, and references from one to the other.
struct ProgramModel {
    private var random: SplitMix
    private var entities: [Entity] = []
    private var count = 0

    private init(_ random: SplitMix) { self.random = random }

    /// Returns the model of a seed.
    static func schema(seed: UInt64) throws -> Schema {
        var model = ProgramModel(SplitMix(seed: seed))
        let first = model.group("A"), second = model.group("B")
        for name in first + second where model.chance(40) { model.addReference(from: name, to: second) }
        return try Schema(entities: model.entities, configurations: [GraphProgram.second: second])
    }

    private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    private mutating func pick<T>(_ list: [T]) -> T { list[Int.random(in: 0..<list.count, using: &random)] }

    private mutating func fresh(_ prefix: String) -> String {
        count += 1
        return "\(prefix)\(count)"
    }

    private mutating func group(_ letter: String) -> [String] {
        var names: [String] = []
        for number in 0..<Int.random(in: 2...3, using: &random) {
            let parent = number > 0 && chance(50) ? pick(names) : nil
            let name = "\(letter)\(number)"
            var entity = Entity(name, parent: parent)
            for _ in 0..<Int.random(in: 2...4, using: &random) { entity.attributes.append(attribute()) }
            constrain(&entity)
            names.append(name)
            entities.append(entity)
        }
        if chance(25), let index = entities.firstIndex(where: { entity in names.contains(entity.name) && isParent(entity.name) }) {
            entities[index].isAbstract = true
        }
        for _ in 0..<Int.random(in: 2...4, using: &random) { addTie(names) }
        return names
    }

    private func isParent(_ name: String) -> Bool { entities.contains { $0.parent == name } }

    private mutating func attribute() -> Attribute {
        let type = pick(ValueType.allCases + [.int64, .decimal, .string, .string]), values = ProgramValues(type)
        var attribute = Attribute(fresh("a"), type, isOptional: chance(80))
        if !attribute.isOptional || chance(20) { attribute.defaultValue = values.ordinary.first }
        if type != .bool, attribute.crossReference == nil, chance(6) {
            attribute.allowedValues = Array(values.ordinary.prefix(3))
            return attribute
        }
        if type == .string, chance(15) { attribute.rules.maxLength = 3 }
        if type == .int64, chance(15) { attribute.rules.minimum = .int(-1) }
        return attribute
    }

    private mutating func constrain(_ entity: inout Entity) {
        if chance(50) { entity.indexes.append(Index([pick(entity.attributes).name])) }
        if chance(30) {
            let two = entity.attributes.prefix(2).map(\.name)
            if two.count == 2 { entity.indexes.append(Index(two)) }
        }
        if chance(20), let text = entity.attributes.first(where: { $0.type == .string }) {
            entity.indexes.append(Index([text.name], kind: .fullText))
        }
        if chance(40) {
            let candidates = entity.attributes.filter { $0.type != .bool && $0.isOptional }
            if !candidates.isEmpty { entity.uniqueConstraints.append(UniqueConstraint([pick(candidates).name])) }
        }
    }

    private mutating func addTie(_ names: [String]) {
        let owner = pick(names), destination = pick(names)
        var there = Relationship(fresh("r"), to: destination, pick([.toOne, .toOne, .toMany, .toManyOrdered]))
        there.deleteRule = pick([.nullify, .nullify, .cascade, .deny])
        if chance(75) {
            var back = Relationship(fresh("r"), to: owner, pick([.toOne, .toMany]), inverse: there.name)
            back.deleteRule = pick([.nullify, .nullify, .nullify, .cascade, .deny])
            there.inverse = back.name
            add(there, to: owner)
            add(back, to: destination)
        } else {
            add(there, to: owner)
        }
    }

    private mutating func add(_ relationship: Relationship, to entity: String) {
        if let index = entities.firstIndex(where: { $0.name == entity }) { entities[index].relationships.append(relationship) }
    }

    private mutating func addReference(from name: String, to names: [String]) {
        guard let index = entities.firstIndex(where: { $0.name == name }) else { return }
        let reference = CrossReference(
            to: pick(names), deleteRule: pick([.nullify, .nullify, .cascade]),
            inverseDeleteRule: pick([.nullify, .nullify, .cascade, .deny]))
        entities[index].attributes.append(Attribute(fresh("x"), .string, isOptional: true, crossReference: reference))
    }
}
