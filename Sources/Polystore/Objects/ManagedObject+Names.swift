internal import PolystoreStorage

extension ManagedObject {
    /// Assigns attributes of a new object by their stored names.
    ///
    /// - Throws: The error of a value that its attribute does not allow.
    func assign(_ values: [String: Value]) throws(StorageError) {
        let description = description, batch = encodedRow()
        let cells = batch.mutableCells(0)
        var assigned: [Int] = []
        for (name, value) in values {
            guard let slot = description.slot(name), description.slots[slot].attribute != nil else { continue }
            do throws(ValueError) {
                cells[slot] = batch.cell(for: try description.normalise(value, slot: slot))
            } catch {
                throw StorageError(error)
            }
            assigned.append(slot)
        }
        withExtendedLifetime(batch) { _reload(batch.row(0), .max) }
        for slot in assigned { _touch(slot) }
    }
}

extension QueryPredicate {
    /// The values that attributes must have for the predicate to be true.
    var demandedEqualities: [String: Value] {
        switch node {
        case .compare(let a, .equal, let b):
            switch (a.node, b.node) {
            case (.path(let path), .value(let value)), (.value(let value), .path(let path)):
                path.names.count == 1 ? [path.names[0]: value] : [:]
            case (_, _): [:]
            }
        case .and(let parts): parts.reduce(into: [:]) { $0.merge($1.demandedEqualities) { first, _ in first } }
        case .constant, .compare, .isIn, .between, .text, .open, .related, .isEntity, .or, .not: [:]
        }
    }
}
