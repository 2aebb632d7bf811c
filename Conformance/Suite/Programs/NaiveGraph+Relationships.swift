internal import PolystoreStorage

/// Relationships on both sides, and deletions.
extension NaiveGraph {
    func members(_ number: Int, _ name: String) -> [Int] { objects[number]?.related[name] ?? [] }

    /// Sets the destinations of a relationship, and updates the inverses.
    mutating func relate(_ number: Int, _ name: String, _ wanted: [Int]) {
        guard let relationship = relationship(name, of: number) else { return }
        let before = members(number, name)
        for member in before where !wanted.contains(member) { part(number, relationship, member) }
        for member in wanted where !before.contains(member) { join(number, relationship, member) }
        objects[number]?.related[name] = wanted
    }

    /// Removes a pair on both sides.
    private mutating func part(_ number: Int, _ relationship: Relationship, _ member: Int) {
        objects[number]?.related[relationship.name]?.removeAll { $0 == member }
        if let inverse = relationship.inverse { objects[member]?.related[inverse]?.removeAll { $0 == number } }
    }

    /// Adds a pair on both sides. A to-one side loses its former destination.
    private mutating func join(_ number: Int, _ relationship: Relationship, _ member: Int) {
        if relationship.cardinality == .toOne, let former = members(number, relationship.name).first { part(number, relationship, former) }
        if let name = relationship.inverse, let inverse = self.relationship(name, of: member) {
            if inverse.cardinality == .toOne, let former = members(member, name).first { part(member, inverse, former) }
            objects[member]?.related[name, default: []].append(number)
        }
        objects[number]?.related[relationship.name, default: []].append(member)
    }

    /// Sets the destination of a reference into another store.
    mutating func refer(_ number: Int, _ name: String, _ target: Int?) { objects[number]?.related[name] = target.map { [$0] } ?? [] }

    // MARK: Deletion

    /// Deletes objects with all objects that their rules reach.
    mutating func delete(_ numbers: [Int]) throws(Refused) {
        var doomed: Set<Int> = [], waiting = numbers
        while let number = waiting.popLast() {
            guard let object = objects[number], doomed.insert(number).inserted else { continue }
            for item in schema.description(object.entity).relationships where item.relationship.deleteRule == .cascade {
                waiting += members(number, item.relationship.name)
            }
            for attribute in references(object.entity) where attribute.crossReference?.deleteRule == .cascade {
                waiting += members(number, attribute.name)
            }
            waiting += referrers(to: number) { $0.inverseDeleteRule == .cascade }
        }
        for number in doomed where isKept(number, doomed) { throw Refused(code: .deleteDenied) }
        for number in doomed { objects[number] = nil }
        for other in objects.keys.sorted() {
            for name in objects[other]?.related.keys.sorted() ?? [] {
                objects[other]?.related[name]?.removeAll { doomed.contains($0) }
            }
        }
    }

    /// Returns whether the rules deny the deletion of an object because others stay.
    private func isKept(_ number: Int, _ doomed: Set<Int>) -> Bool {
        guard let object = objects[number] else { return false }
        for item in schema.description(object.entity).relationships where item.relationship.deleteRule == .deny {
            if members(number, item.relationship.name).contains(where: { !doomed.contains($0) }) { return true }
        }
        for attribute in references(object.entity) where attribute.crossReference?.deleteRule == .deny {
            if members(number, attribute.name).contains(where: { !doomed.contains($0) }) { return true }
        }
        return referrers(to: number) { $0.inverseDeleteRule == .deny }.contains { !doomed.contains($0) }
    }

    /// Returns the objects with a reference into another store to an object.
    private func referrers(to number: Int, where isWanted: (CrossReference) -> Bool) -> [Int] {
        objects.values.filter { object in
            references(object.entity).contains { attribute in
                guard let reference = attribute.crossReference, isWanted(reference) else { return false }
                return object.related[attribute.name]?.contains(number) == true
            }
        }.map(\.number).sorted()
    }
}
