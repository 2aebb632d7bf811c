#if PostgreSQL
internal import PolystoreSQL
internal import PolystoreStorage

extension PostgreSQLWriter {
    /// Inserts or updates rows with `ON CONFLICT DO UPDATE` over arrays, one statement for thousands of rows. Rows are inserted in the
    /// order of the SELECT, and the result has the same order.
    func upsert(_ upsert: RowUpsert) throws(StorageError) -> [UpsertedRow] {
        try checkOpen()
        try makeIndexes()
        let description = core.tables.schema[upsert.entity], slots = Array(description.slots.indices)
        let cells = slots.map { "c\($0)" }
        var values = ["u.k", "1::int8"] + cells.map { "u.\($0)" }
        if description.isHierarchy { values.append(String(core.tables.entityNumbers[upsert.entity])) }
        let names = (["k", "v"] + cells + ["n"]).joined(separator: ", ")
        let sql = core.tables.upsert(
            upsert,
            rows:
                "SELECT \(values.joined(separator: ", ")) FROM \(PostgreSQLRows.unnest(upsert.entity, slots, core.tables.schema)) WITH ORDINALITY u(\(names)) ORDER BY u.n"
        )
        var result: [UpsertedRow] = []
        result.reserveCapacity(upsert.rows.count)
        try upsert.rows.forEachPart(rowBatch, slots) { part throws(StorageError) in
            let answer = try connection.query(sql, part.parameters(upsert.entity, slots, core.tables.schema)), keys = part.keys
            if answer.count != keys.count {
                throw description.isHierarchy
                    ? .upsertOfAnotherEntity(upsert, core.tables.schema) : .ignored(upsert.entity, core.tables.schema)
            }
            for (index, given) in keys.enumerated() {
                guard let key = answer.integer(index, 0) else {
                    throw StorageError(.corrupted, "an upsert of \(description.name) returned no key")
                }
                let number = description.isHierarchy ? answer.integer(index, 1) : nil
                result.append(upserted(upsert, given: given, key: key, number: number))
            }
        }
        return result
    }
}
#endif
