internal import PolystoreFoundation
package import PolystoreStorage

extension SQLSession {
    /// Passes the groups of rows that violate the constraint of an index to `body`.
    ///
    /// - Parameter source: The table as SQL, in a form in which the engine reads its rows instead of an index.
    /// - Returns: Whether there are any.
    @discardableResult
    package func duplicates(
        of index: SQLTables.IndexStatement, in source: String, _ body: (StoreDamage) throws(StorageError) -> Void
    ) throws(StorageError) -> Bool {
        guard let constraint = index.constraint else { return false }
        var first: Int64?, keys: [Int64] = []
        func finish() throws(StorageError) {
            if !keys.isEmpty { try body(StoreDamage(.duplicates(index: index.name, constraint, keys: keys), "")) }
            keys.removeAll(keepingCapacity: true)
        }
        for row in try connection.rows("\(raw: core.tables.violations(index, in: source))", [.int64, .int64]) {
            if row[0].number != first { try finish() }
            first = row[0].number
            keys.append(row[1].number)
        }
        try finish()
        return first != nil
    }

    /// Returns whether rows prevent the engine from making a unique index.
    package func isPrevented(_ index: SQLTables.IndexStatement, in source: String) throws(StorageError) -> Bool {
        if index.constraint == nil { return false }
        let any = "SELECT 1 FROM (\(core.tables.violations(index, in: source))) AS v LIMIT 1"
        return try connection.number("\(raw: any)") != nil
    }

    /// Passes the owners that have members without a rank to `body`. The columns of link tables accept no NULL unless they were changed.
    ///
    /// - Parameter isNull: The condition of a NULL, which an engine may regard as impossible.
    package func rankless(
        _ isNull: String, _ body: (StoreDamage) throws(StorageError) -> Void
    ) throws(StorageError) {
        for link in core.tables.schema.links.indices {
            let text = "SELECT DISTINCT \"owner\" FROM \(SQLText.quoted(core.tables.table(link: link))) WHERE \(isNull) ORDER BY 1"
            for row in try connection.rows("\(raw: text)", [.int64]) {
                try body(StoreDamage(.ranks(link: link, owner: row[0].number), "has members without a position"))
            }
        }
    }

    /// Returns the table of a hierarchy or a link by its name on the engine; nil for a table that does not belong to the model.
    package func modelTable(_ name: String) -> (root: EntityIndex?, link: Int?)? {
        let tables = core.tables
        if let root = tables.schema.roots.first(where: { tables.table($0) == name }) { return (root, nil) }
        return tables.schema.links.indices.first { tables.table(link: $0) == name }.map { (nil, $0) }
    }
}
