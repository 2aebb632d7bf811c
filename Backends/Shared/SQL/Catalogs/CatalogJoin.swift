internal import PolystoreStorage

/// The SQL that converts a reference to the row key of its destination.
struct CatalogJoin {
    /// The row key as SQL.
    let key: String
    /// The table expression to join for the key; nil if no join is necessary.
    let table: String?

    /// Creates the SQL for the key of the row that columns of the table `t` refer to.
    init(_ reference: CatalogForeignKey, _ destination: CatalogTable, alias: String) {
        if reference.isTrusted, reference.isTyped, reference.columns.count == 1, destination.key == .column(reference.references[0]) {
            key = "t.\(SQLText.quoted(reference.columns[0]))"
            table = nil
            return
        }
        let condition = zip(reference.references, reference.columns).map { other, own in
            "\(alias).\(SQLText.quoted(other)) = t.\(SQLText.quoted(own))"
        }.joined(separator: " AND ")
        switch destination.key {
        case .column(let name):
            key = "\(alias).\(SQLText.quoted(name))"
            table = "\(destination.source) AS \(alias) ON \(condition)"
        case .counted:
            // Row numbers require counting all rows, whichever rows are joined.
            let columns = reference.references.map { "d.\(SQLText.quoted($0))" }.joined(separator: ", ")
            key = "\(alias).\"_id\""
            table =
                "(SELECT \(destination.key.expression("d")) AS \"_id\", \(columns) FROM \(destination.source) AS d) AS \(alias) ON \(condition)"
        }
    }
}
