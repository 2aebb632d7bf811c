internal import PolystoreStorage

extension PlainLayout {
    /// Returns the definition of the column of an attribute: its type, whether it may be null, its default and its rules.
    func definition(_ attribute: Attribute, _ column: PlainTables.Column) -> String {
        let name = SQLText.quoted(column.name)
        var parts = [name, dialect.type(attribute.type)]
        if !attribute.isOptional { parts.append("NOT NULL") }
        if let value = attribute.defaultValue, !value.isNull, let constant = dialect.constant(value, attribute.type) {
            parts.append("DEFAULT \(constant)")
        }
        parts += checks(attribute, name).conditions.map { "CHECK (\($0))" }
        return parts.joined(separator: " ")
    }

    /// Returns the rules of an attribute as conditions, and the names of those that cannot be expressed.
    func checks(_ attribute: Attribute, _ name: String) -> (conditions: [String], others: [String]) {
        var conditions: [String] = [], others: [String] = []
        for (value, sign, rule) in [(attribute.rules.minimum, ">=", "minimum"), (attribute.rules.maximum, "<=", "maximum")] {
            guard let value else { continue }
            // Engines compare texts and dates in other ways than the schema.
            if attribute.type.isNumeric, let constant = dialect.constant(value, attribute.type) {
                conditions.append("\(name) \(sign) \(constant)")
            } else {
                others.append(rule)
            }
        }
        if let least = attribute.rules.minLength { conditions.append("length(\(name)) >= \(least)") }
        if let most = attribute.rules.maxLength { conditions.append("length(\(name)) <= \(most)") }
        if attribute.rules.pattern != nil { others.append("pattern") }
        if !attribute.allowedValues.isEmpty, attribute.type != .bool {
            let constants = attribute.allowedValues.compactMap { dialect.constant($0, attribute.type) }
            if constants.count == attribute.allowedValues.count, attribute.type.isText || attribute.type.isNumeric {
                conditions.append("\(name) IN (\(constants.joined(separator: ", ")))")
            } else {
                others.append("allowed values")
            }
        }
        return (conditions, others)
    }

    /// Adds a note about the side of a one-to-one relationship that has no column.
    private mutating func noteUnkept(_ slot: Slot, _ path: String) {
        guard case .toOne(let relationship, _) = slot.content, !relationship.isOptional else { return }
        note("\(path) is required, which the tables do not enforce: its foreign key is in the other table")
    }

    /// Adds notes about the rules of the schema that the tables do not enforce.
    mutating func addNotes() {
        for table in result.tables {
            let entity = schema[table.entity]
            for (index, slot) in entity.slots.enumerated() {
                let path = "\(table.name).\(slot.name)"
                if columns([index], table) == nil {
                    noteUnkept(slot, path)
                    continue
                }
                switch slot.content {
                case .attribute(let attribute):
                    let others = checks(attribute, "").others
                    if !others.isEmpty { note("\(others.joined(separator: " and ")) of \(path) cannot be a CHECK and is left out") }
                    if let value = attribute.defaultValue, !value.isNull, dialect.constant(value, attribute.type) == nil {
                        note("the default of \(path) is left out: the engine would not read it exactly")
                    }
                case .toOne(let relationship, _):
                    if relationship.deleteRule != .nullify { note("the delete rule of \(path) is left out: a foreign key has none") }
                }
            }
            for constraint in entity.uniqueConstraints where constraint.slots.count > 1 && columns(constraint.slots, table) == nil {
                note("the unique constraint \(constraint.name) is left out: its relationship is a column of another table")
            }
            for constraint in entity.uniqueConstraints where schema[constraint.declaredIn].family.count > 1 {
                note("\(constraint.name) is unique in each table, but not among the tables of \(schema[constraint.declaredIn].name)")
            }
            for relationship in entity.relationships where relationship.relationship.cardinality != .toOne {
                let rules = relationship.relationship
                if !rules.isOptional || rules.minCount != nil || rules.maxCount != nil {
                    note("the number of members of \(table.name).\(rules.name) is not limited by the tables")
                }
            }
        }
        for entity in schema.entities {
            for index in entity.indexes {
                let name = "\(entity.name)(\(index.properties.joined(separator: ", ")))"
                if index.kind == .fullText { note("the full-text index \(name) is left out") }
                if index.condition != nil { note("the index \(name) contains all rows, without its condition") }
            }
        }
    }
}
