#if PostgreSQL
internal import PolystoreSQL
internal import PolystoreStorage

/// The checks that two versions can use the same tables.
struct RollingChecks {
    private let step: MigrationStep
    private let mapping: SchemaMapping
    private let old: SQLTables
    private let new: SQLTables

    init(_ step: MigrationStep, _ old: SQLTables, _ new: SQLTables) {
        self.step = step
        mapping = step.mapping
        self.old = old
        self.new = new
    }

    /// Returns the hierarchies that both versions have.
    ///
    /// - Throws: `unsupported`, naming the entity or relationship for which the versions differ too much.
    func pairs() throws(StorageError) -> [(root: EntityIndex, origin: EntityIndex)] {
        if let root = step.writtenRoots.min() {
            throw Self.refusal(step.mapping.destination[root].name, "is rewritten by a custom mapping")
        }
        var pairs: [(root: EntityIndex, origin: EntityIndex)] = []
        for root in mapping.destination.roots {
            let origins = mapping.origins(ofRoot: root), name = mapping.destination[root].name
            if origins.count > 1 { throw Self.refusal(name, "is merged from several hierarchies") }
            guard let origin = origins.first else { continue }
            try check(root, origin)
            pairs.append((root, origin))
        }
        for (link, origin) in mapping.links.enumerated() { try check(link, origin) }
        if let inverse = mapping.inverses.first {
            let entity = mapping.destination[inverse.entity]
            throw Self.refusal("\(entity.name).\(entity.slots[inverse.slot].name)", "is a new inverse of an existing relationship")
        }
        return pairs
    }

    private func check(_ root: EntityIndex, _ origin: EntityIndex) throws(StorageError) {
        let name = mapping.destination[root].name
        let before = mapping.source[origin].family.filter { !mapping.source[$0].isAbstract }
        let after = mapping.destination[root].family.filter { !mapping.destination[$0].isAbstract }
        let parts = mapping.entities.filter { before.contains($0.source) }
        let isSame =
            parts.map(\.source).sorted() == before && parts.map(\.destination).sorted() == after
            && mapping.source[origin].isHierarchy == mapping.destination[root].isHierarchy
            && parts.allSatisfy { old.entityNumbers[$0.source] == new.entityNumbers[$0.destination] }
        // A program would read objects of an entity that it does not know.
        if !isSame { throw Self.refusal(name, "has other entities in its hierarchy") }
    }

    private func check(_ link: Int, _ origin: LinkSource) throws(StorageError) {
        let after = mapping.destination.links[link]
        switch origin {
        case .none: return
        case .link(let before, false) where mapping.source.links[before].isOrdered == after.isOrdered: return
        case .link, .slot: throw Self.refusal(after.name, "has another cardinality or order")
        }
    }

    /// Returns the error for a step that cannot be performed online.
    static func refusal(_ path: String, _ reason: String) -> StorageError {
        StorageError(
            .unsupported,
            "the step cannot be an online migration: \(path) \(reason); split it into steps in which both forms exist, or apply it while "
                + "no program runs (polystore schema apply)")
    }
}
#endif
