internal import PolystoreStorage

/// Imports of values that find the same object, do nothing or fail.
extension ProgramGenerator {
    mutating func importAll() -> ProgramStep {
        let entity = pick(concrete), home = isShared(entity) ? below(2) : 0, first = next
        let keys = attributes(entity).filter { $0.type != .bool && $0.allowedValues.isEmpty }
        let kind = ProgramImportKind(unique: keys.isEmpty || chance(25) ? nil : key(keys, entity), isNested: chance(40))
        let sources = (0..<(1 + below(4))).map { _ in source(kind, entity) }
        for source in sources {
            let number = number()
            if !source.isSkipped { note(number, entity, home) }
        }
        return ProgramStep(.importAll(kind, entity: entity, home: home, first: first, sources: sources))
    }

    /// Returns an attribute, usually one whose values are unique.
    private mutating func key(_ attributes: [Attribute], _ entity: String) -> String {
        let constraints = schema.description(entity).uniqueConstraints.filter { $0.slots.count == 1 }
        let names = constraints.map { schema.description(entity).slots[$0.slots[0]].name }
        let unique = names.filter { name in attributes.contains { $0.name == name } }
        return !unique.isEmpty && chance(80) ? pick(unique) : pick(attributes).name
    }

    private mutating func source(_ kind: ProgramImportKind, _ entity: String) -> ProgramSource {
        var source = ProgramSource(row: row(entity), isSkipped: chance(10), fails: chance(10))
        if let attribute = attributes(entity).first(where: { $0.name == kind.unique }) {
            if !chance(10) { source.id = NaiveGraph.stored(pick(ProgramValues(attribute.type).ordinary), attribute.type) }
            if !chance(10) { source.row.removeAll { $0.name == attribute.name } }
        }
        return source
    }
}
