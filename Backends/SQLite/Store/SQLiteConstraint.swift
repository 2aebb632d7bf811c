#if SQLite
internal import CSQLite
internal import PolystoreSQL
internal import PolystoreStorage

/// A translation of violated constraints to errors of the contract.
enum SQLiteConstraint {
    /// Extended result codes are macros with shifts, which Swift does not import (https://sqlite.org/rescode.html).
    private static let primaryKey: Int32 = 1555, rowID: Int32 = 2579, unique: Int32 = 2067

    static func error(_ code: Int32, _ connection: SQLiteConnection, _ tables: SQLTables, _ entity: EntityIndex) -> StorageError {
        let name = tables.schema.entities[entity].name
        if code == primaryKey || code == rowID {
            return StorageError(.alreadyExists, "an object of \(name) with this key already exists", details: .init(entity: name))
        }
        guard code == unique else { return connection.error(code) }
        // "UNIQUE constraint failed: Table.a, Table.b": the columns identify the constraint.
        let message = String(cString: sqlite3_errmsg(connection.handle))
        let constraint = tables.schema[entity].uniqueConstraints.first { constraint in
            let columns = constraint.slots.map { "\(tables.table(entity)).\(tables.column(entity, $0))" }
            return message.hasSuffix(": " + columns.joined(separator: ", "))
        }
        let label = constraint?.name ?? name, owner = constraint.map { tables.schema.entities[$0.declaredIn].name } ?? name
        return StorageError(
            .uniqueConstraintViolated, "another object of \(owner) has the same \(label)",
            details: .init(entity: owner, constraint: label))
    }
}
#endif
