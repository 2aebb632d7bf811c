internal import Foundation
internal import PolystoreStorage

/// A random model with random objects in plain Swift values. Plain Swift code computes from it the expected result of a migration.
struct RandomModel {
    /// A relationship with its inverse and its pairs.
    struct Tie {
        var owner: String
        var name: String
        var originalName: String?
        var destination: String
        var cardinality: Cardinality
        var inverse: Other?
        /// Owner and member; the members of an owner are in order.
        var pairs: [(owner: Int64, member: Int64)] = []
    }

    /// The inverse of a relationship.
    struct Other {
        var name: String
        var originalName: String?
        var cardinality: Cardinality
    }

    var random: SplitMix
    /// The entities without relationships, which are ties.
    var entities: [Entity] = []
    var ties: [Tie] = []
    /// The values of objects, by their concrete entity and key.
    var rows: [String: [Int64: [String: Value]]] = [:]
    /// A description of the changes.
    var log: [String] = []
    /// The paths of properties whose values the changes lose.
    var losses: Set<String> = []
    /// The properties whose values the changes of a step lose.
    var lost: Set<String> = []
    /// The names in the previous version, which new declarations do not use.
    var oldNames: Set<String> = []
    /// The former names that the previous version declares for attributes.
    var oldHints: Set<String> = []
    /// The elements that were changed in this step; nothing is changed twice.
    var touched: Set<String> = []
    private var count = 0

    init(seed: UInt64) {
        random = SplitMix(seed: seed)
        for _ in 0..<Int.random(in: 2...4, using: &random) { addEntity() }
        for _ in 0..<Int.random(in: 1...4, using: &random) { addTie() }
        fill()
    }

    // MARK: Names

    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    /// Returns a name that does not occur in the model or in the previous version; often one from earlier versions.
    mutating func freshName(_ prefix: String) -> String {
        let used = names.union(oldNames)
        let candidates = (0..<30).map { "\(prefix)\($0)" }.filter { !used.contains($0) }
        return candidates.prefix(4).randomElement(using: &random) ?? "\(prefix)x"
    }

    /// All names in use, of entities and properties.
    var names: Set<String> {
        Set(
            entities.flatMap { [$0.name] + $0.attributes.map(\.name) } + ties.flatMap { [$0.name] + [$0.inverse?.name].compactMap { $0 } })
    }

    /// Returns an entity and all its subentities.
    func family(_ name: String) -> [String] {
        [name] + entities.filter { $0.parent == name }.flatMap { family($0.name) }
    }

    func root(_ name: String) -> String {
        entities.first { $0.name == name }?.parent.map(root) ?? name
    }

    /// Returns the keys of the objects of an entity and all its subentities.
    func keys(_ entity: String) -> [Int64] { family(entity).flatMap { Array((rows[$0] ?? [:]).keys) }.sorted() }

    func index(_ name: String) -> Int { entities.firstIndex { $0.name == name } ?? 0 }

    func lineage(_ name: String) -> [String] {
        (entities.first { $0.name == name }?.parent.map(lineage) ?? []) + [name]
    }

    /// Returns the attributes including inherited ones.
    func attributes(_ entity: String) -> [Attribute] { lineage(entity).flatMap { entities[index($0)].attributes } }

    // MARK: Making

    mutating func addEntity() {
        let name = freshName("E"), parent = chance(40) ? entities.randomElement(using: &random)?.name : nil
        entities.append(Entity(name, parent: parent, isAbstract: chance(15)))
        log.append("entity \(name)\(parent.map { " below \($0)" } ?? "")")
        for _ in 0..<Int.random(in: 1...4, using: &random) { addAttribute(to: name) }
    }

    @discardableResult
    mutating func addAttribute(to entity: String, needsDefault: Bool = false) -> Attribute {
        // Siblings may have attributes with the same name; within a lineage each name occurs once.
        let name = freshName("a"), type = ValueType.allCases.randomElement(using: &random) ?? .int64
        let isOptional = chance(60)
        let value: Value? = chance(50) || (needsDefault && !isOptional) ? self.value(type) : nil
        let attribute = Attribute(name, type, isOptional: isOptional, defaultValue: value)
        entities[index(entity)].attributes.append(attribute)
        for member in family(entity) {
            for key in (rows[member] ?? [:]).keys { rows[member]?[key]?[name] = value ?? .null }
        }
        log.append("attribute \(entity).\(name) \(type)\(isOptional ? "?" : "")\(value.map { " = \($0)" } ?? "")")
        return attribute
    }

    mutating func addTie() {
        guard let owner = entities.randomElement(using: &random)?.name, let destination = entities.randomElement(using: &random)?.name
        else { return }
        let cardinality = [Cardinality.toOne, .toMany, .toManyOrdered].randomElement(using: &random) ?? .toOne
        let other = [nil, Cardinality.toOne, .toMany].randomElement(using: &random) ?? nil
        var tie = Tie(owner: owner, name: freshName("r"), destination: destination, cardinality: cardinality)
        ties.append(tie)
        if let other {
            tie.inverse = Other(name: freshName("r"), cardinality: other)
            ties[ties.count - 1] = tie
        }
        log.append("tie \(owner).\(tie.name) \(cardinality) \(destination).\(tie.inverse?.name ?? "-") \(other.map { "\($0)" } ?? "")")
    }

    private mutating func fill() {
        var next: [String: Int64] = [:]
        for entity in entities where !entity.isAbstract {
            for _ in 0..<Int.random(in: 0...8, using: &random) {
                let root = root(entity.name), key = (next[root] ?? 0) + 1
                next[root] = key
                var values: [String: Value] = [:]
                for attribute in attributes(entity.name) {
                    values[attribute.name] = attribute.isOptional && chance(30) ? .null : value(attribute.type)
                }
                rows[entity.name, default: [:]][key] = values
            }
        }
        for position in ties.indices { tie(position) }
    }

    private mutating func tie(_ position: Int) {
        let owners = keys(ties[position].owner), members = keys(ties[position].destination)
        if owners.isEmpty || members.isEmpty { return }
        var pairs: [(owner: Int64, member: Int64)] = []
        for _ in 0..<Int.random(in: 0...10, using: &random) {
            guard let owner = owners.randomElement(using: &random), let member = members.randomElement(using: &random) else { continue }
            if pairs.contains(where: { $0 == (owner, member) }) { continue }
            if ties[position].cardinality == .toOne, pairs.contains(where: { $0.owner == owner }) { continue }
            if ties[position].inverse?.cardinality == .toOne, pairs.contains(where: { $0.member == member }) { continue }
            pairs.append((owner, member))
        }
        ties[position].pairs = pairs
    }

    mutating func value(_ type: ValueType) -> Value {
        let small = Int64.random(in: -30...30, using: &random)
        if type == .int64, chance(10) { return .int(.max) }
        if type == .string, chance(75) { return .string(["", "it's", "ä\u{301}", "\\x"].randomElement(using: &random) ?? "") }
        return ProgramValues.numbered(small, type)
    }

    // MARK: As a schema

    func schema(_ version: String) throws -> Schema {
        var declared = entities
        func add(_ relationship: Relationship, _ entity: String) {
            if let index = declared.firstIndex(where: { $0.name == entity }) { declared[index].relationships.append(relationship) }
        }
        for tie in ties {
            add(
                Relationship(tie.name, to: tie.destination, tie.cardinality, inverse: tie.inverse?.name, originalName: tie.originalName),
                tie.owner)
            if let other = tie.inverse {
                add(
                    Relationship(other.name, to: tie.owner, other.cardinality, inverse: tie.name, originalName: other.originalName),
                    tie.destination)
            }
        }
        return try Schema(version: version, entities: declared)
    }
}
