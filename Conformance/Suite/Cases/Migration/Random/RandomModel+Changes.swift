internal import Foundation
internal import PolystoreStorage

// A step: some changes of the model, and their effects on the objects.
extension RandomModel {
    /// Changes the model and its objects.
    mutating func step(_ version: String) {
        log.append("-- \(version)")
        oldNames = names
        oldHints = Set(entities.flatMap(\.attributes).compactMap { attribute in attribute.originalName.map { "\(attribute.name)<\($0)" } })
        touched = []
        // Renaming hints of an earlier step may stay, or be removed.
        if chance(50) { forgetHints() }
        lost = []
        for _ in 0..<Int.random(in: 1...4, using: &random) { change() }
        // Under every former and current name of the entity.
        for owner in oldNames.union(names) { for name in lost { losses.insert("\(owner).\(name)") } }
    }

    private mutating func forgetHints() {
        for entity in entities.indices {
            entities[entity].originalName = nil
            for attribute in entities[entity].attributes.indices { entities[entity].attributes[attribute].originalName = nil }
        }
        for tie in ties.indices {
            ties[tie].originalName = nil
            ties[tie].inverse?.originalName = nil
        }
    }

    private mutating func change() {
        switch Int.random(in: 0..<16, using: &random) {
        case 0, 1:
            if let entity = entities.randomElement(using: &random)?.name {
                touched.insert("\(entity).\(addAttribute(to: entity, needsDefault: true).name)")
            }
        case 2: changeAttribute { $0.removeAttribute($1, $2) }
        case 3: changeAttribute { $0.renameAttribute($1, $2) }
        case 4, 5: changeAttribute { $0.widen($1, $2) }
        case 6: changeAttribute { $0.changeOptional($1, $2) }
        case 7: changeAttribute { $0.changeRules($1, $2) }
        case 8: renameEntity()
        case 9: removeEntity()
        case 10: addEntity()
        case 11: addTie()
        case 12: changeTie { $0.removeTie($1) }
        case 13: changeTie { $0.renameTie($1) }
        case 14: changeTie { $0.changeKind($1) }
        default: changeTie { $0.changeInverse($1) }
        }
    }

    // MARK: Attributes

    private mutating func changeAttribute(_ change: (inout RandomModel, Int, Int) -> Void) {
        guard let entity = entities.indices.randomElement(using: &random),
            let attribute = entities[entity].attributes.indices.randomElement(using: &random),
            touched.insert("\(entities[entity].name).\(entities[entity].attributes[attribute].name)").inserted
        else { return }
        change(&self, entity, attribute)
    }

    private mutating func each(_ entity: Int, _ body: (inout [String: Value]) -> Void) {
        for member in family(entities[entity].name) {
            rows[member] = rows[member]?.mapValues { values in
                var values = values
                body(&values)
                return values
            }
        }
    }

    private mutating func removeAttribute(_ entity: Int, _ attribute: Int) {
        let name = entities[entity].attributes[attribute].name
        log.append("without attribute \(entities[entity].name).\(name)")
        lost.insert(name)
        entities[entity].attributes.remove(at: attribute)
        for member in family(entities[entity].name).map(index) {
            entities[member].indexes.removeAll { $0.properties.contains(name) }
            entities[member].uniqueConstraints.removeAll { $0.properties.contains(name) }
        }
        each(entity) { $0[name] = nil }
    }

    private mutating func renameAttribute(_ entity: Int, _ attribute: Int) {
        let old = entities[entity].attributes[attribute].name
        // If another attribute is free, the two swap their names.
        let others = entities[entity].attributes.indices.filter { isFree($0, to: attribute, in: entity) }
        if chance(40), oldNames.contains(old), let other = others.randomElement(using: &random) {
            let new = entities[entity].attributes[other].name
            log.append("\(entities[entity].name).\(old) <-> \(new)")
            touched.insert("\(entities[entity].name).\(new)")
            (entities[entity].attributes[attribute].name, entities[entity].attributes[attribute].originalName) = (new, old)
            (entities[entity].attributes[other].name, entities[entity].attributes[other].originalName) = (old, new)
            renameInRules(entity, [old: new, new: old])
            each(entity) { values in (values[old], values[new]) = (values[new], values[old]) }
            return
        }
        let new = freshName("a")
        log.append("\(entities[entity].name).\(old) -> \(new)")
        touched.insert("\(entities[entity].name).\(new)")
        (entities[entity].attributes[attribute].name, entities[entity].attributes[attribute].originalName) = (new, old)
        renameInRules(entity, [old: new])
        each(entity) { values in
            values[new] = values[old]
            values[old] = nil
        }
    }

    /// Whether two attributes may swap their names. They may not if the previous version already declares such a swap, because a repeated
    /// swap could not be distinguished from it.
    private func isFree(_ other: Int, to attribute: Int, in entity: Int) -> Bool {
        let entity = entities[entity], (a, b) = (entity.attributes[attribute], entity.attributes[other])
        return a.name != b.name && oldNames.contains(b.name) && !touched.contains("\(entity.name).\(b.name)")
            && oldHints.isDisjoint(with: ["\(a.name)<\(b.name)", "\(b.name)<\(a.name)"])
    }

    private mutating func renameInRules(_ entity: Int, _ names: [String: String]) {
        for member in family(entities[entity].name).map(index) {
            entities[member].indexes = entities[member].indexes.map { Index($0.properties.map { names[$0] ?? $0 }) }
            entities[member].uniqueConstraints = entities[member].uniqueConstraints.map {
                UniqueConstraint($0.properties.map { names[$0] ?? $0 })
            }
        }
    }

    private mutating func widen(_ entity: Int, _ attribute: Int) {
        let before = entities[entity].attributes[attribute]
        let wider: [ValueType: [ValueType]] = [
            .int16: [.int32, .int64, .float, .double, .decimal], .int32: [.int64, .double, .decimal], .int64: [.decimal], .float: [.double],
            .url: [.string],
        ]
        guard let type = wider[before.type]?.randomElement(using: &random) else { return }
        log.append("\(entities[entity].name).\(before.name) \(before.type) -> \(type)")
        func converted(_ value: Value?) -> Value? { value.map { NaiveGraph.converted($0, type) } }
        entities[entity].attributes[attribute].type = type
        entities[entity].attributes[attribute].defaultValue = converted(before.defaultValue)
        each(entity) { $0[before.name] = converted($0[before.name]) }
    }

    private mutating func changeOptional(_ entity: Int, _ attribute: Int) {
        let before = entities[entity].attributes[attribute]
        log.append("\(entities[entity].name).\(before.name) \(before.isOptional ? "required" : "optional")")
        entities[entity].attributes[attribute].isOptional.toggle()
        if !before.isOptional { return }
        // Several nils become the same value.
        for member in family(entities[entity].name).map(index) {
            entities[member].uniqueConstraints.removeAll { $0.properties.contains(before.name) }
        }
        let fallback = before.defaultValue ?? value(before.type)
        entities[entity].attributes[attribute].defaultValue = fallback
        each(entity) { if $0[before.name] == .null { $0[before.name] = fallback } }
    }

    /// Adds or removes an index, or a unique constraint where the values allow it.
    private mutating func changeRules(_ entity: Int, _ attribute: Int) {
        let name = entities[entity].attributes[attribute].name
        if entities[entity].indexes.contains(where: { $0.properties == [name] }) {
            log.append("without index \(entities[entity].name).\(name)")
            entities[entity].indexes.removeAll { $0.properties == [name] }
            return
        }
        log.append("index \(entities[entity].name).\(name)")
        entities[entity].indexes.append(Index([name]))
        var values: [Value] = []
        each(entity) { if let value = $0[name], value != .null { values.append(value) } }
        if Set(values).count == values.count, !entities[entity].uniqueConstraints.contains(UniqueConstraint([name])) {
            entities[entity].uniqueConstraints.append(UniqueConstraint([name]))
        }
    }

    // MARK: Entities

    private mutating func renameEntity() {
        guard let position = entities.indices.randomElement(using: &random), oldNames.contains(entities[position].name),
            touched.insert(entities[position].name).inserted
        else { return }
        let old = entities[position].name, new = freshName("E")
        log.append("\(old) -> \(new)")
        touched.insert(new)
        (entities[position].name, entities[position].originalName) = (new, old)
        for index in entities.indices where entities[index].parent == old { entities[index].parent = new }
        for tie in ties.indices {
            if ties[tie].owner == old { ties[tie].owner = new }
            if ties[tie].destination == old { ties[tie].destination = new }
        }
        rows[new] = rows.removeValue(forKey: old)
        touched.formUnion(touched.filter { $0.hasPrefix("\(old).") }.map { "\(new)\($0.dropFirst(old.count))" })
    }

    private mutating func removeEntity() {
        let leaves = entities.filter { entity in oldNames.contains(entity.name) && !entities.contains { $0.parent == entity.name } }
        guard entities.count > 2, let entity = leaves.randomElement(using: &random), touched.insert(entity.name).inserted else { return }
        log.append("without entity \(entity.name)")
        losses.insert(entity.name)
        while let position = ties.firstIndex(where: { $0.owner == entity.name || $0.destination == entity.name }) { removeTie(position) }
        let gone = Set((rows.removeValue(forKey: entity.name) ?? [:]).keys), root = root(entity.name)
        entities.removeAll { $0.name == entity.name }
        for tie in ties.indices {
            if self.root(ties[tie].owner) == root { ties[tie].pairs.removeAll { gone.contains($0.owner) } }
            if self.root(ties[tie].destination) == root { ties[tie].pairs.removeAll { gone.contains($0.member) } }
        }
    }

    // MARK: Relationships

    private mutating func changeTie(_ change: (inout RandomModel, Int) -> Void) {
        guard let position = ties.indices.randomElement(using: &random), oldNames.contains(ties[position].name),
            touched.insert(ties[position].name).inserted
        else { return }
        if let name = ties[position].inverse?.name { touched.insert(name) }
        change(&self, position)
    }

    private mutating func removeTie(_ position: Int) {
        let tie = ties.remove(at: position)
        log.append("without \(tie.owner).\(tie.name)")
        lost.formUnion([tie.name, tie.originalName, tie.inverse?.name, tie.inverse?.originalName].compactMap { $0 })
    }

    private mutating func renameTie(_ position: Int) {
        let old = ties[position].name, new = freshName("r")
        log.append("\(ties[position].owner).\(old) -> \(new)")
        (ties[position].name, ties[position].originalName) = (new, old)
        touched.insert(new)
        guard chance(50), let other = ties[position].inverse, oldNames.contains(other.name) else { return }
        let name = freshName("r")
        log.append("\(ties[position].destination).\(other.name) -> \(name)")
        touched.insert(name)
        ties[position].inverse = Other(name: name, originalName: other.name, cardinality: other.cardinality)
    }

    private mutating func changeKind(_ position: Int) {
        let tie = ties[position]
        func sorted(_ pairs: [(owner: Int64, member: Int64)]) -> [(owner: Int64, member: Int64)] { pairs.sorted { $0.member < $1.member } }
        switch tie.cardinality {
        case .toOne: ties[position].cardinality = chance(50) ? .toMany : .toManyOrdered
        case .toMany: ties[position].cardinality = .toManyOrdered
        case .toManyOrdered:
            ties[position].cardinality = .toMany
            lost.insert(tie.name)
        }
        log.append("\(tie.owner).\(tie.name) \(tie.cardinality) -> \(ties[position].cardinality)")
        ties[position].pairs = sorted(tie.pairs)
    }

    private mutating func changeInverse(_ position: Int) {
        let tie = ties[position]
        if let other = tie.inverse {
            log.append("without inverse \(tie.destination).\(other.name)")
            // If the remaining side is also removed in this step, its pairs are lost under this name.
            lost.insert(other.name)
            ties[position].inverse = nil
            return
        }
        // The inverse is to-one only if no two objects have the same destination.
        let isSingle = Set(tie.pairs.map(\.member)).count == tie.pairs.count
        let name = freshName("r"), cardinality = isSingle && chance(60) ? Cardinality.toOne : .toMany
        log.append("inverse \(tie.destination).\(name) \(cardinality)")
        touched.insert(name)
        ties[position].inverse = Other(name: name, cardinality: cardinality)
    }
}
