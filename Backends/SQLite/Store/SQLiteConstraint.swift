#if SQLite
internal import CSQLite
internal import PolystoreFoundation
internal import PolystoreSQL
internal import PolystoreStorage

/// A translation of violated constraints to errors of the contract.
enum SQLiteConstraint {
    /// Extended result codes are macros with shifts, which Swift does not import (https://sqlite.org/rescode.html).
    private static let primaryKey: Int32 = 1555, rowID: Int32 = 2579, unique: Int32 = 2067
    static let trigger: Int32 = 1811, required: Int32 = 1299, wrongType: Int32 = 3091

    static func error(_ code: Int32, _ connection: SQLiteConnection, _ tables: SQLTables, _ entity: EntityIndex) -> StorageError {
        if code & 0xff != SQLITE_CONSTRAINT { return connection.error(code) }
        let message = String(cString: sqlite3_errmsg(connection.handle)), name = tables.schema.entities[entity].name
        switch code {
        case primaryKey where isOwn(message, tables, entity), rowID where isOwn(message, tables, entity):
            return StorageError(.alreadyExists, "an object of \(name) with this key already exists", details: .init(entity: name))
        case unique where isOwn(message, tables, entity): return isTaken(message, tables, entity)
        default: break
        }
        // The schema of the store has no other constraints, and its values are checked before.
        let rule = code == trigger ? "a trigger of the database" : "a constraint of the database that is not one of the model"
        let error = rejected(name, by: rule, SQLiteError.Cause(code: code, message: message))
        // A trigger can roll back the transaction.
        connection.fail(error)
        return error
    }

    /// Returns the error for a row that a trigger has left unchanged without an error (`RAISE(IGNORE)`).
    static func ignored(_ tables: SQLTables, _ entity: EntityIndex) -> StorageError {
        .ignored(entity, tables.schema)
    }

    private static func rejected(_ name: String, by rule: String, _ cause: SQLiteError.Cause) -> StorageError {
        let failure = ValidationFailure(entity: name, property: nil, key: 0, "is rejected by \(rule)")
        return StorageError(.validationFailed, "\(failure)", details: .init(entity: name, failures: [failure]), cause: cause)
    }

    /// Whether the violated constraint is one of the entity's table, and not of another table to which a trigger has written.
    private static func isOwn(_ message: String, _ tables: SQLTables, _ entity: EntityIndex) -> Bool {
        // An index over expressions is only named.
        let subject = message.drop { $0 != ":" }.dropFirst(2)
        return subject.hasPrefix("\(tables.table(entity)).") || subject.hasPrefix("index '")
    }

    private static func isTaken(_ message: String, _ tables: SQLTables, _ entity: EntityIndex) -> StorageError {
        // "UNIQUE constraint failed: Table.a, Table.b": the columns identify the constraint.
        let name = tables.schema.entities[entity].name
        let constraint = tables.schema[entity].uniqueConstraints.first { constraint in
            let columns = constraint.slots.map { "\(tables.table(entity)).\(tables.column(entity, $0))" }
            return message.hasSuffix(": " + columns.joined(separator: ", "))
        }
        let label = constraint?.name ?? name, owner = constraint.map { tables.schema.entities[$0.declaredIn].name } ?? name
        return StorageError(
            .uniqueConstraintViolated, "another object of \(owner) has the same \(label)",
            details: .init(entity: owner, constraint: label))
    }

    /// Returns the "table.column" that a message names: "cannot store TEXT value in INTEGER column table.column", or "… constraint failed:
    /// table.column".
    static func place(in message: String, _ code: Int32) -> String {
        let mark = code == wrongType ? " column " : ": "
        return message.components(separatedBy: mark).dropFirst().joined(separator: mark)
    }
}
#endif
