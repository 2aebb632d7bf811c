internal import PolystoreStorage

extension EntityChanges {
    /// A new reference of an object, which has a version.
    typealias Reference = (key: Int64, version: Int64, destination: Int64?)

    /// Creates changes that assign a to-one relationship of objects of an entity.
    init(_ entity: EntityDescription, slot: Int, _ references: [Reference]) {
        let slots = entity.slots.count
        let rows = RowSource(count: references.count) { range, batch in
            for reference in references[range] {
                let cells = batch.appendRow(key: reference.key, version: reference.version, entity: entity.index, slots: slots)
                cells.initialize(repeating: .null, count: slots)
                if let destination = reference.destination { cells[slot] = .int(destination) }
            }
        }
        self.init(entity: entity.index, updates: [RowUpdate(mask: SlotMask([slot]), checksVersion: true, rows: rows)])
    }
}
