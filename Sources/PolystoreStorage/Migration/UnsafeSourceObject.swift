internal import PolystoreFoundation

/// An object of the older version of a model that is being migrated. Its properties are read by name.
///
/// The object is unsafe because it and its related objects are valid only while the transformer to which it was passed runs. An object that
/// is read afterwards has no values and ends the step with `storeClosed`. Its key and its name remain, and it can still be assigned to a
/// relationship.
public final class UnsafeSourceObject {
    let frame: MigrationFrame
    private var session: ReadSession { frame.source }
    private var problems: MigrationProblems { frame.problems }
    private(set) var shape: ObjectShape
    /// The primary key of the object within its hierarchy.
    public private(set) var key: Int64 = 0
    private(set) var version: Int64 = 0
    private var cells: UnsafePointer<Cell>?
    /// The call of a transformer in which the object is valid.
    private var call = -1
    /// The batch of a row that was loaded for a relationship. The object owns the memory of its cells.
    private var loaded: RowBatch?

    init(_ frame: MigrationFrame, _ entity: EntityIndex) {
        self.frame = frame
        shape = frame.shapes[entity]
    }

    var entity: EntityDescription { shape.entity }

    func move(to row: borrowing RowView) {
        shape = frame.shapes[row.entity]
        key = row.key
        version = row.version
        cells = row.cells
        call = frame.call
    }

    /// Whether the call of the transformer for which the object was made still runs. Reports it otherwise.
    var isValid: Bool { frame.isValid(call, entity, key) }

    /// The name of the object's entity.
    public var entityName: String { entity.name }

    /// The attributes of the object's entity.
    public var attributes: [MigrationAttribute] {
        entity.slots.indices.compactMap { slot in
            entity.slots[slot].attribute.map { MigrationAttribute(name: $0.name, type: $0.type, slot: slot) }
        }
    }

    /// Returns the cell of a slot. The object must be valid.
    func cell(_ slot: Int) -> Cell { cells?[slot] ?? .null }

    /// The value of the attribute with the name of another one, which can belong to another entity or to the newer version.
    ///
    /// An attribute that the entity does not have ends the step with `invalidPredicate`.
    public subscript(attribute: MigrationAttribute) -> Value {
        guard isValid, let slot = shape.slot(of: attribute, problems) else { return .null }
        return value(slot)
    }

    private func value(_ slot: Int) -> Value {
        shape.noteUse(of: slot)
        if let value = Value(cell(slot), as: shape.types[slot]) { return value }
        problems.add(
            StorageError(
                .corrupted,
                "\(entity.name).\(entity.slots[slot].name) has a stored value that is not a valid \(shape.types[slot].rawValue); restore the "
                    + "store from a backup"
            ))
        return .null
    }

    /// The value of a property in its natural type: `Bool`, `Int` (also for `int16` and `int32`), `Double`, `Decimal`, `String`, `Date`,
    /// `UUID`, `Data`. A to-one relationship is an `UnsafeSourceObject`, a to-many relationship is an array of them. Nil is nil.
    ///
    /// A name that the entity does not have ends the step with `invalidPredicate`, which names the nearest property.
    public subscript(name: String) -> Any? {
        guard isValid else { return nil }
        guard let slot = entity.slot(name) else { return members(name) }
        guard let destination = shape.destinations[slot] else { return value(slot).natural }
        return cell(slot).isNull ? nil : object(destination, cell(slot).int)
    }

    private func object(_ entity: EntityIndex, _ key: Int64) -> UnsafeSourceObject? {
        let batch = RowBatch(capacity: 1)
        do throws(StorageError) { try session.rows(entity, keys: [key], into: batch) } catch { problems.add(error) }
        guard batch.count > 0 else { return nil }
        batch.keepLastRow(session.schema)
        let row = batch.row(0)
        let object = UnsafeSourceObject(frame, row.entity)
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
            steps: [], entity: destination, leaf: .slot(slot), type: .int64, text: session.schema[destination].slots[slot].name)
        let cursor = try session.cursor(
            for: FetchPlan(session.schema, destination, where: .compare(path, .equal, .int(key)), fields: .keysOnly))
        let batch = RowBatch()
        var keys: [Int64] = []
        while try cursor.next(into: batch) { for index in 0..<batch.count { keys.append(batch.key(index)) } }
        return keys
    }
}
