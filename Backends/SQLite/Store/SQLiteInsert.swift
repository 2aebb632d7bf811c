#if SQLite
internal import CSQLite
internal import PolystoreSQL
internal import PolystoreStorage

/// The statement that adds rows of an entity.
enum SQLiteInsert {
    /// The statement for a number of rows.
    static func sql(_ tables: SQLTables, _ entity: EntityIndex, rows: Int) -> String {
        let description = tables.schema[entity]
        var columns = ["\"_id\""]
        if description.isHierarchy { columns.append("\"_entity\"") }
        columns.append("\"_version\"")
        columns += description.slots.indices.map { SQLText.quoted(tables.column(entity, $0)) }
        let row = "(\(columns.map { _ in "?" }.joined(separator: ", ")))"
        let list = [String](repeating: row, count: rows).joined(separator: ", ")
        return "INSERT INTO \(SQLText.quoted(tables.table(entity)))(\(columns.joined(separator: ", "))) VALUES \(list)"
    }

    /// Binds a row from a position on; the next free position.
    @inline(__always) @discardableResult
    static func bind(
        _ statement: SQLiteStatement, _ row: borrowing RowView, _ number: Int16?, _ slots: Int, at start: Int32
    ) -> Int32 {
        var position = start
        sqlite3_bind_int64(statement.handle, position, row.key)
        position &+= 1
        if let number {
            sqlite3_bind_int(statement.handle, position, Int32(number))
            position &+= 1
        }
        sqlite3_bind_int64(statement.handle, position, row.version)
        position &+= 1
        for slot in 0..<slots {
            statement.bind(row.cells[slot], at: position)
            position &+= 1
        }
        return position
    }
}

/// Violated constraints as errors of the contract.
enum SQLiteConstraint {
    /// Extended result codes are macros with shifts, which Swift does not import (https://sqlite.org/rescode.html).
    private static let primaryKey: Int32 = 1555, rowID: Int32 = 2579, unique: Int32 = 2067

    static func error(_ code: Int32, _ connection: SQLiteConnection, _ tables: SQLTables, _ entity: EntityIndex) -> StorageError {
        let name = tables.schema.entities[entity].name
        if code == primaryKey || code == rowID {
            return StorageError(.alreadyExists, "an object of \(name) with this key is already there", details: .init(entity: name))
        }
        guard code == unique else { return SQLiteError.error(code, connection.handle) }
        // "UNIQUE constraint failed: Table.a, Table.b": the columns name the constraint.
        let message = String(cString: sqlite3_errmsg(connection.handle))
        let constraint = tables.schema[entity].uniqueConstraints.first { constraint in
            let columns = constraint.slots.map { "\(tables.table(entity)).\(tables.column(entity, $0))" }
            return message.hasSuffix(": " + columns.joined(separator: ", "))
        }
        let label = constraint?.name ?? name
        return StorageError(
            .uniqueConstraintViolated, "another object of \(name) has the same \(label)",
            details: .init(entity: name, constraint: label))
    }
}
#endif
