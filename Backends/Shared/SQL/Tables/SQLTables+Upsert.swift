package import PolystoreStorage

extension SQLTables {
    /// Returns the statement of an upsert. It returns the key and, in a hierarchy, the entity number of each row that it wrote, and no row
    /// where the conflicting row belongs to another entity.
    ///
    /// - Parameter rows: The inserted rows, as `VALUES` or `SELECT`: key, version, and the cells of the slots in order.
    package func upsert(_ upsert: RowUpsert, rows: String) -> String {
        let description = schema[upsert.entity], table = SQLText.quoted(table(upsert.entity))
        let names = ["\"_id\"", "\"_version\""] + description.slots.indices.map { SQLText.quoted(column(upsert.entity, $0)) }
        let target = upsert.constraint.slots.map { SQLText.quoted(column(upsert.entity, $0)) }.joined(separator: ", ")
        var assignments = upsert.assigned.map { slot in
            let name = SQLText.quoted(column(upsert.entity, slot))
            return "\(name) = excluded.\(name)"
        }
        assignments.append("\"_version\" = \(table).\"_version\" + 1")
        let numbers = description.family.map { String(entityNumbers[$0]) }.joined(separator: ", ")
        let condition = description.isHierarchy ? " WHERE \(table).\"_entity\" IN (\(numbers))" : ""
        let bound = self.condition(upsert.constraint).map { " WHERE \($0)" } ?? ""
        let hierarchy = description.isHierarchy ? ", \"_entity\"" : ""
        return "INSERT INTO \(table)(\(names.joined(separator: ", "))\(hierarchy)) \(rows) "
            + "ON CONFLICT (\(target))\(bound) DO UPDATE SET \(assignments.joined(separator: ", "))\(condition) RETURNING \"_id\"\(hierarchy)"
    }

    /// Returns the entity with a number in `_entity`.
    package func entity(_ number: Int64) -> EntityIndex? { entityNumbers.firstIndex { Int64($0) == number } }

    /// Returns one row of parameters for `upsert(_:rows:)`.
    package func upsertValues(_ entity: EntityIndex) -> String {
        let description = schema[entity]
        var values = (1...(description.slots.count + 2)).map { "?\($0)" }
        if description.isHierarchy { values.append(String(entityNumbers[entity])) }
        return "VALUES(\(values.joined(separator: ", ")))"
    }
}
