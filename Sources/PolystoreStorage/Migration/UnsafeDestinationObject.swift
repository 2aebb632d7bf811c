/// An object of the newer version of a model that a transformer is creating. Its properties are written by name.
///
/// Its attributes initially have their default values. Its to-one relationships initially reference the destinations of the older object's
/// relationships, where these are matched by name. The object is unsafe because it is valid only while the transformer that created it
/// runs.
public final class UnsafeDestinationObject {
    private let plan: RowPlan
    private let frame: MigrationFrame
    private let index: Int
    /// The primary key of the object within its hierarchy.
    public let key: Int64

    /// Creates the object of the row that was appended last.
    init(_ plan: RowPlan, _ frame: MigrationFrame, key: Int64) {
        self.plan = plan
        self.frame = frame
        self.key = key
        index = frame.batch.count - 1
    }

    private var entity: EntityDescription { plan.entity }
    private var batch: RowBatch { frame.batch }
    private var problems: MigrationProblems { frame.problems }

    /// The name of the object's entity.
    public var entityName: String { entity.name }

    /// Calls `body` with each attribute and the attribute of the older version from which it is mapped, or nil for a new attribute.
    public func enumerateAttributes(_ body: (_ attribute: MigrationAttribute, _ sourceAttribute: MigrationAttribute?) throws -> Void)
        rethrows
    {
        for (slot, description) in entity.slots.enumerated() {
            guard let attribute = description.attribute else { continue }
            var origin: MigrationAttribute?
            if case .slot(let before, _) = plan.mapping.slots[slot], let attribute = frame.old[plan.mapping.source].slots[before].attribute
            {
                origin = MigrationAttribute(name: attribute.name, type: attribute.type, slot: before)
            }
            try body(MigrationAttribute(name: attribute.name, type: attribute.type, slot: slot), origin)
        }
    }

    /// Copies the values of all attributes that are mapped from the older version. A required attribute whose value is nil receives its
    /// default.
    public func copyAttributes(from source: UnsafeSourceObject) {
        plan.copyAttributes(of: source, to: index, batch, problems)
    }

    /// The value of an attribute.
    public subscript(attribute: MigrationAttribute) -> Value {
        get { Value(batch.mutableCells(index)[attribute.slot], as: attribute.type) ?? .null }
        set { set(attribute.slot, newValue) }
    }

    /// The value of a property: of an attribute in its natural type, of a to-one relationship as an object of either version.
    ///
    /// Assigning a value of the wrong type, or to a name that the entity does not have, ends the step with an error that names the
    /// property.
    public subscript(name: String) -> Any? {
        get {
            guard let slot = entity.slot(name), plan.shape.destinations[slot] == nil else { return nil }
            return self[MigrationAttribute(name: name, type: plan.shape.types[slot], slot: slot)].natural
        }
        set {
            guard let slot = entity.slot(name) else { return problems.add(refusal(name)) }
            if let destination = plan.shape.destinations[slot] { return setReference(slot, destination, Self.unwrapped(newValue)) }
            // A nested optional is rare, and detecting one costs more than everything else here.
            guard let value = Value(natural: newValue) ?? Value(natural: Self.unwrapped(newValue)) else {
                return problems.add(key, entity, name, "must be a \(plan.shape.types[slot].rawValue)")
            }
            set(slot, value)
        }
    }

    private func refusal(_ name: String) -> StorageError {
        guard entity.relationship(name) != nil else { return .noProperty(name, entity) }
        return StorageError(
            .unsupported,
            "\(entity.name).\(name) is a to-many relationship: set its to-one inverse, or add its pairs after the migration",
            details: .init(entity: entity.name, property: name))
    }

    /// Returns the value inside a nested optional.
    private static func unwrapped(_ value: Any?) -> Any? {
        guard let value, Mirror(reflecting: value).displayStyle == .optional else { return value }
        return Mirror(reflecting: value).children.first?.value
    }

    private func set(_ slot: Int, _ value: Value) {
        do throws(ValueError) {
            plan.noteAssignment(slot)
            let normal = try plan.shape.normalise(value, slot: slot)
            batch.mutableCells(index)[slot] = batch.cell(for: normal)
        } catch {
            problems.add(key, entity, error.attribute, error.message)
        }
    }

    private func setReference(_ slot: Int, _ destination: EntityIndex, _ value: Any?) {
        switch value {
        case nil: batch.mutableCells(index)[slot] = .null
        case let object as UnsafeDestinationObject: batch.mutableCells(index)[slot] = .int(object.key)
        case let object as UnsafeSourceObject:
            batch.mutableCells(index)[slot] = .int(frame.keys.key(object.key, from: object.entity.root, inHierarchyOf: destination))
        default: problems.add(key, entity, entity.slots[slot].name, "must be an object of \(frame.keys.schema.entities[destination].name)")
        }
    }
}
