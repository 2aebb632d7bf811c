/// An object of the newer version of a model that a transformer is creating. Its properties are written by name.
///
/// Its attributes initially have their default values. Its to-one relationships initially reference the destinations of the older object's
/// relationships, where these are matched by name. The object is unsafe because it is valid only while the transformer that created it
/// runs. Its use afterwards ends the step with `storeClosed`, but its key and its name remain, and it can still be assigned to a
/// relationship.
public final class UnsafeDestinationObject {
    private let plan: RowPlan
    private let frame: MigrationFrame
    private let index: Int
    /// The call of a transformer in which the object is valid.
    private let call: Int
    /// The primary key of the object within its hierarchy.
    public let key: Int64

    /// Creates the object of the row that was appended last.
    init(_ plan: RowPlan, _ frame: MigrationFrame, key: Int64) {
        self.plan = plan
        self.frame = frame
        self.key = key
        call = frame.call
        index = frame.batch.count - 1
    }

    var entity: EntityDescription { plan.entity }
    private var batch: RowBatch { frame.batch }
    private var problems: MigrationProblems { frame.problems }
    private var isValid: Bool { frame.isValid(call, entity, key) }

    /// The name of the object's entity.
    public var entityName: String { entity.name }

    /// Calls `body` with each attribute and the attribute of the older version from which it is mapped, or nil for a new attribute.
    public func enumerateAttributes(_ body: (_ attribute: MigrationAttribute, _ sourceAttribute: MigrationAttribute?) throws -> Void)
        rethrows
    {
        for (slot, description) in entity.slots.enumerated() {
            guard let attribute = description.attribute else { continue }
            var origin: MigrationAttribute?
            if case .slot(let before, _) = plan.mapping.slots[slot],
                let attribute = frame.shapes[plan.mapping.source].entity.slots[before].attribute
            {
                origin = MigrationAttribute(name: attribute.name, type: attribute.type, slot: before)
            }
            try body(MigrationAttribute(name: attribute.name, type: attribute.type, slot: slot), origin)
        }
    }

    /// Copies the values of all attributes that are mapped from the older version. A required attribute whose value is nil receives its
    /// default.
    ///
    /// The source must be an object of the mapped entity, or of one of its child entities: the one that was passed to the transformer, or
    /// a related one. Another object ends the step with `validationFailed`.
    public func copyAttributes(from source: UnsafeSourceObject) {
        guard isValid, source.isValid else { return }
        guard source.frame.problems === problems, plan.canCopy(source) else { return problems.add(refusal(copying: source)) }
        plan.copyAttributes(of: source, to: index, batch, problems)
    }

    private func refusal(copying source: UnsafeSourceObject) -> StorageError {
        let mapped = frame.shapes[plan.mapping.source].entity.name
        return StorageError(
            .validationFailed,
            "an object of \(entity.name) is made from objects of \(mapped), but copyAttributes(from:) was given one of "
                + "\(source.entityName)\(source.entityName == mapped ? " of another migration" : ""); assign its values by name",
            details: .init(entity: entity.name, keys: [key]))
    }

    /// The value of the attribute with the name of another one, which can belong to another entity or to the older version.
    ///
    /// An attribute that the entity does not have ends the step with `invalidPredicate`.
    public subscript(attribute: MigrationAttribute) -> Value {
        get {
            guard isValid, let slot = plan.shape.slot(of: attribute, problems) else { return .null }
            return value(slot)
        }
        set {
            guard isValid, let slot = plan.shape.slot(of: attribute, problems) else { return }
            set(slot, newValue)
        }
    }

    private func value(_ slot: Int) -> Value { Value(batch.mutableCells(index)[slot], as: plan.shape.types[slot]) ?? .null }

    /// The value of a property: of an attribute in its natural type. A relationship is nil.
    ///
    /// A to-one relationship is set to an object of either version: of its destination or a child entity, or of an entity of the older
    /// version whose objects become such objects. An object of another entity, a value of the wrong type, and a name that the entity does
    /// not have end the step with an error that names the property.
    public subscript(name: String) -> Any? {
        get {
            guard isValid else { return nil }
            guard let slot = entity.slot(name) else {
                if entity.relationship(name) == nil { problems.add(.noProperty(name, entity)) }
                return nil
            }
            return plan.shape.destinations[slot] == nil ? value(slot).natural : nil
        }
        set {
            guard isValid else { return }
            guard let slot = entity.slot(name) else { return problems.add(refusal(name)) }
            if plan.shape.destinations[slot] != nil, let target = plan.targets[slot] {
                return setReference(slot, target, Self.unwrapped(newValue))
            }
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
            plan.shape.noteUse(of: slot)
            let normal = try plan.shape.normalise(value, slot: slot)
            batch.mutableCells(index)[slot] = batch.cell(for: normal)
        } catch {
            problems.add(key, entity, error.attribute, error.message)
        }
    }

    private func setReference(_ slot: Int, _ target: ReferenceTarget, _ value: Any?) {
        let reference: Int64?
        switch value {
        case nil:
            batch.mutableCells(index)[slot] = .null
            return
        case let object as UnsafeDestinationObject where object.problems === problems: reference = target.key(of: object)
        case let object as UnsafeSourceObject where object.frame.problems === problems: reference = target.key(of: object, frame.keys)
        default: reference = nil
        }
        if let reference {
            batch.mutableCells(index)[slot] = .int(reference)
        } else {
            problems.add(key, entity, entity.slots[slot].name, "must be an object of \(target.entity.name)")
        }
    }
}
