internal import PolystoreStorage

/// The validation rules for the objects of one entity, determined once.
final class EntityRules: Sendable {
    struct AttributeRule: Sendable {
        let slot: Int
        let name: String
        let check: AttributeCheck
    }

    /// The allowed number of destinations of a to-many relationship.
    struct CountRule: Sendable {
        let relationship: Int
        let name: String
        let allowed: ClosedRange<Int>

        /// Returns the failure of an object with a number of destinations; nil if the number is allowed.
        func failure(_ count: Int, of entity: String, _ key: Int64) -> ValidationFailure? {
            if allowed.contains(count) { return nil }
            let bound = count < allowed.lowerBound ? "at least \(allowed.lowerBound)" : "at most \(allowed.upperBound)"
            return ValidationFailure(entity: entity, property: name, key: key, "must have \(bound) objects, not \(count)")
        }
    }

    /// The slots that must not be nil: required to-one relationships, and attributes whose type in the class does not ensure it.
    let required: [Int]
    /// The slots that must be assigned, because neither the model nor the class has an initial value for them.
    let assigned: SlotMask
    /// The bits of an object in which all of these slots are assigned; bit 63 if more than the bits must be checked.
    let assignedBits: UInt64
    let attributes: [AttributeRule]
    let counts: [CountRule]
    /// The bits of the slots that are checked.
    let mask: UInt64
    let isCustom: Bool
    /// The bits with which a new object satisfies all rules, if the bits decide it; nil if values or members must be checked.
    let sufficientBits: UInt64?

    /// Creates the rules of an entity; nil if its objects cannot violate any.
    init?(_ description: EntityDescription, _ type: ManagedObject.Type) throws(SchemaError) {
        var required: [Int] = [], assigned = SlotMask(), attributes: [AttributeRule] = []
        let isDynamic = type is DynamicObject.Type, initial = Set(type._initialSlots)
        for (index, slot) in description.slots.enumerated() {
            switch slot.content {
            case .toOne(let relationship, _): if !relationship.isOptional { required.append(index) }
            case .attribute(let attribute):
                if !attribute.isOptional, isDynamic { required.append(index) }
                if !attribute.isOptional, !isDynamic, attribute.defaultValue == nil, !initial.contains(index) { assigned.insert(index) }
                guard let check = try Self.check(attribute, description.name) else { continue }
                attributes.append(AttributeRule(slot: index, name: slot.name, check: check))
            }
        }
        counts = description.relationships.enumerated().compactMap { index, item in
            let relationship = item.relationship
            let least = max(relationship.minCount ?? 0, relationship.isOptional || relationship.cardinality == .toOne ? 0 : 1)
            guard relationship.cardinality != .toOne, least > 0 || relationship.maxCount != nil else { return nil }
            return CountRule(relationship: index, name: relationship.name, allowed: least...max(least, relationship.maxCount ?? .max))
        }
        self.required = required
        self.assigned = assigned
        assignedBits = assigned.low | (assigned.high.isEmpty ? 0 : 1 << 63)
        self.attributes = attributes
        isCustom = type is any ValidatableObject.Type
        mask = (required + attributes.map(\.slot)).reduce(0) { $0 | 1 << UInt64(min($1, 63)) }
        sufficientBits = mask == 0 && counts.isEmpty && !isCustom && assignedBits >> 63 == 0 ? assignedBits : nil
        if required.isEmpty, assigned.isEmpty, attributes.isEmpty, counts.isEmpty, !isCustom { return nil }
    }

    private static func check(_ attribute: Attribute, _ entity: String) throws(SchemaError) -> AttributeCheck? {
        do throws(QueryError) { return try AttributeCheck(attribute) } catch {
            throw SchemaError("\(entity).\(attribute.name)", "its pattern is invalid: \(error.message)")
        }
    }

    /// Appends the violations of an object's values.
    ///
    /// - Parameter unassigned: The slots that must be assigned and were not assigned since the creation of the object.
    @inline(__always)
    func check(_ object: ManagedObject, unassigned: SlotMask, _ scratch: RowBatch, _ failures: inout [ValidationFailure]) {
        // Many entities have no rules except that all slots are assigned.
        if mask != 0 || isCustom || !unassigned.isEmpty { checkValues(object, unassigned, scratch, &failures) }
    }

    @inline(never)
    private func checkValues(
        _ object: ManagedObject, _ unassigned: SlotMask, _ scratch: RowBatch, _ failures: inout [ValidationFailure]
    ) {
        func fail(_ property: String?, _ message: String) {
            failures.append(ValidationFailure(entity: object.description.name, property: property, key: object._key, message))
        }
        if !unassigned.isEmpty {
            for slot in unassigned.slots {
                fail(object.description.slots[slot].name, "is required and was not assigned; assign it, or give the attribute a default")
            }
        }
        if mask != 0 {
            scratch.clear()
            let slots = object.description.slots
            let cells = scratch.appendRow(key: object._key, version: 0, entity: Int(object._entity), slots: slots.count)
            object.complete()
            object._encode(cells, scratch, mask)
            for slot in required where cells[slot].isNull { fail(slots[slot].name, "is required but nil") }
            for rule in attributes where !cells[rule.slot].isNull && !unassigned.contains(rule.slot) {
                guard let value = Value(cells[rule.slot], as: slots[rule.slot].type) else { continue }
                for message in rule.check.failures(of: value) { fail(rule.name, message) }
            }
        }
        if isCustom { failures += Self.custom(object) }
    }

    private static func custom(_ object: ManagedObject) -> [ValidationFailure] {
        guard let validated = object as? any ValidatableObject else { return [] }
        func named(_ failure: ValidationFailure) -> ValidationFailure {
            ValidationFailure(entity: object.description.name, property: failure.property, key: object._key, failure.message)
        }
        do {
            try validated.validate()
            return []
        } catch let failure as ValidationFailure {
            return [named(failure)]
        } catch let failures as ValidationFailures {
            return failures.failures.map(named)
        } catch {
            return [named(ValidationFailure(nil, "was rejected by its validate method (\(type(of: error)))"))]
        }
    }
}
