internal import PolystoreFoundation

/// An object of the older version of a model that is being migrated. Its properties are read by name.
///
/// The object is unsafe because it is valid only while the transformer to which it was passed runs.
public final class UnsafeSourceObject {
    private let session: ReadSession
    private var schema: Schema { session.schema }
    private let problems: MigrationProblems
    private(set) var shape: ObjectShape
    private let shapes: [ObjectShape]
    /// The primary key of the object within its hierarchy.
    public private(set) var key: Int64 = 0
    private(set) var version: Int64 = 0
    private var cells: UnsafePointer<Cell>?
    /// The slots of each entity that a transformer has read.
    private(set) var read: [EntityIndex: Set<Int>] = [:]
    /// The batch of a row that was loaded for a relationship. The object owns the memory of its cells.
    private var loaded: RowBatch?

    init(_ session: ReadSession, _ shapes: [ObjectShape], _ entity: EntityIndex, _ problems: MigrationProblems) {
        self.session = session
        self.shapes = shapes
        shape = shapes[entity]
        self.problems = problems
    }

    var entity: EntityDescription { shape.entity }

    func move(to row: borrowing RowView) {
        shape = shapes[row.entity]
        key = row.key
        version = row.version
        cells = row.cells
    }

    /// The name of the object's entity.
    public var entityName: String { entity.name }

    /// The attributes of the object's entity.
    public var attributes: [MigrationAttribute] {
        entity.slots.indices.compactMap { slot in
            entity.slots[slot].attribute.map { MigrationAttribute(name: $0.name, type: $0.type, slot: slot) }
        }
    }

    func cell(_ slot: Int) -> Cell { cells?[slot] ?? .null }

    /// The value of an attribute.
    public subscript(attribute: MigrationAttribute) -> Value {
        if read[entity.index]?.contains(attribute.slot) != true { read[entity.index, default: []].insert(attribute.slot) }
        guard attribute.slot < shape.types.count, let value = Value(cell(attribute.slot), as: attribute.type) else {
            problems.add(
                StorageError(
                    .corrupted,
                    "\(entity.name).\(attribute.name) has a stored value that is not a valid \(attribute.type.rawValue); restore the store "
                        + "from a backup"
                ))
            return .null
        }
        return value
    }

    /// The value of a property in its natural type: `Bool`, `Int` (also for `int16` and `int32`), `Double`, `Decimal`, `String`, `Date`,
    /// `UUID`, `Data`. A to-one relationship is an `UnsafeSourceObject`, a to-many relationship is an array of them. Nil is nil.
    ///
    /// A name that the entity does not have ends the step with `invalidPredicate`, which names the nearest property.
    public subscript(name: String) -> Any? {
        guard let slot = entity.slot(name) else { return members(name) }
        guard let destination = shape.destinations[slot] else {
            return self[MigrationAttribute(name: name, type: shape.types[slot], slot: slot)].natural
        }
        return cell(slot).isNull ? nil : object(destination, cell(slot).int)
    }

    private func object(_ entity: EntityIndex, _ key: Int64) -> UnsafeSourceObject? {
        let batch = RowBatch(capacity: 1)
        do throws(StorageError) { try session.rows(entity, keys: [key], into: batch) } catch { problems.add(error) }
        guard batch.count > 0 else { return nil }
        batch.keepLastRow(schema)
        let row = batch.row(0)
        let object = UnsafeSourceObject(session, shapes, row.entity, problems)
        object.move(to: row)
        object.loaded = batch
        return object
    }

    private func members(_ name: String) -> Any? {
        guard let relationship = entity.relationship(name) else {
            problems.add(.noProperty(name, entity))
            return nil
        }
        do throws(StorageError) {
            let keys: [Int64] =
                switch relationship.place {
                case .slot: []
                case .link(let link, let side): try linked(link, side)
                case .orderedInverseSlot(_, let link): try linked(link, .owner)
                case .inverseSlot(let slot): try inverse(relationship.destination, slot)
                }
            return keys.compactMap { object(relationship.destination, $0) }
        } catch {
            problems.add(error)
            return nil
        }
    }

    private func linked(_ link: Int, _ side: LinkSide) throws(StorageError) -> [Int64] {
        var keys: [Int64] = []
        try session.links(link, side: side, keys: [key]) { pairs throws(StorageError) in
            keys += pairs.map { side == .owner ? $0.member : $0.owner }
        }
        return keys
    }

    private func inverse(_ destination: EntityIndex, _ slot: Int) throws(StorageError) -> [Int64] {
        let path = CheckedPath(
            steps: [], entity: destination, leaf: .slot(slot), type: .int64, text: schema[destination].slots[slot].name)
        let cursor = try session.cursor(for: FetchPlan(schema, destination, where: .compare(path, .equal, .int(key)), fields: .keysOnly))
        let batch = RowBatch()
        var keys: [Int64] = []
        while try cursor.next(into: batch) { for index in 0..<batch.count { keys.append(batch.key(index)) } }
        return keys
    }
}

extension StorageError {
    /// Returns the error for a property that an entity does not have. The message names the nearest existing property.
    static func noProperty(_ name: String, _ entity: EntityDescription) -> StorageError {
        let names = entity.slots.map(\.name) + entity.relationships.map(\.relationship.name)
        return StorageError(
            .invalidPredicate, "entity \(entity.name) has no property \"\(name)\"\(Suggestion.nearest(name, in: names))",
            details: .init(entity: entity.name, property: name))
    }
}
