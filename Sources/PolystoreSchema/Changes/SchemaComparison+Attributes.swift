extension SchemaComparison {
    mutating func compareAttributes(_ before: Entity, _ after: Entity) {
        let names = Renames(
            from: before.attributes.map { ($0.name, $0.originalName) }, to: after.attributes.map { ($0.name, $0.originalName) }, direction)
        for attribute in before.attributes {
            if let name = names.successors[attribute.name], let other = after.attributes.first(where: { $0.name == name }) {
                compare(attribute, other, after.name)
            } else {
                remove(attribute, before)
            }
        }
        for attribute in after.attributes where names.origins[attribute.name] == nil { add(attribute, after) }
        let kept = before.attributes.compactMap { names.successors[$0.name] }
        if kept != after.attributes.map(\.name).filter({ names.origins[$0] != nil }) {
            add(after.name, "the attributes of \(after.name) are declared in another order")
        }
    }

    private mutating func compare(_ before: Attribute, _ after: Attribute, _ entity: String) {
        let path = "\(entity).\(after.name)"
        if before.name != after.name { add(path, "\(entity).\(before.name) was renamed to \(after.name)") }
        if before.type != after.type {
            let effect: SchemaChange.Effect =
                if before.type.wider.contains(after.type) {
                    .inferred
                } else if before.type.narrower.contains(after.type) {
                    .conditional("every value of \(path) is in the range of \(after.type.rawValue)")
                } else {
                    .undecided("what becomes of a value of \(path) that cannot be converted to \(after.type.rawValue)")
                }
            add(path, "\(path) changed from \(before.type.rawValue) to \(after.type.rawValue)", effect)
        }
        if before.isOptional != after.isOptional {
            add(
                path, "\(path) became \(after.isOptional ? "optional" : "required")",
                after.isOptional || after.defaultValue != nil
                    ? .inferred : .conditional("\(path) is not nil in any object, as it has no default"))
        }
        if before.allowedValues != after.allowedValues {
            let isWider =
                after.allowedValues.isEmpty || !before.allowedValues.isEmpty && Set(before.allowedValues).isSubset(of: after.allowedValues)
            add(path, "the allowed values of \(path) changed", isWider ? .inferred : .conditional("no object has another value in \(path)"))
        }
        if before.coder != after.coder {
            add(path, "the coder of \(path) changed", .undecided("the conversion of its encoded values"))
        }
    }

    // MARK: Added and removed attributes

    private mutating func remove(_ attribute: Attribute, _ entity: Entity) {
        let path = "\(entity.name).\(attribute.name)"
        let members = concrete(entity.name, in: old)
        let isKept = members.allSatisfy { member in
            guard let name = entities.successors[member.name] else { return false }
            return Self.goesOver(attribute, Self.attribute(attribute.name, of: name, in: new))
        }
        add(path, "attribute \(path) was removed", isKept ? .inferred : .lossy("the values of \(path)"), of: attribute.name)
    }

    private mutating func add(_ attribute: Attribute, _ entity: Entity) {
        let path = "\(entity.name).\(attribute.name)"
        let members = concrete(entity.name, in: new).compactMap { entities.origins[$0.name] }
        let isFilled =
            attribute.isOptional || attribute.defaultValue != nil
            || members.allSatisfy { member in
                Self.attribute(attribute.name, of: member, in: old).map { Self.goesOver($0, attribute) } ?? false
            }
        add(
            path, "attribute \(path) was added",
            isFilled ? .inferred : .undecided("its value in existing objects, as it has no default"), isAddition: true)
    }

    /// Returns whether the values of an attribute are valid values of another one without conversion, because it moved to or from the
    /// parent.
    private static func goesOver(_ before: Attribute, _ after: Attribute?) -> Bool {
        guard let after else { return false }
        return before.type == after.type && before.coder == after.coder && (after.isOptional || !before.isOptional)
    }

    /// Returns the concrete entities among an entity and its subentities.
    private func concrete(_ name: String, in schema: Schema) -> [EntityDescription] {
        guard let index = schema.index(of: name) else { return [] }
        return schema[index].family.map { schema[$0] }.filter { !$0.isAbstract }
    }

    private static func attribute(_ name: String, of entity: String, in schema: Schema) -> Attribute? {
        guard let index = schema.index(of: entity), let slot = schema[index].slot(name) else { return nil }
        return schema[index].slots[slot].attribute
    }
}
