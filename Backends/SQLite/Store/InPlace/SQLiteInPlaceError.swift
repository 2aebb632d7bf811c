#if SQLite
internal import CSQLite
internal import PolystoreFoundation
internal import PolystoreSQL
internal import PolystoreStorage

/// A translation of violated rules of another program's tables to errors of the contract.
struct SQLiteInPlaceError {
    /// Extended result codes are macros with shifts, which Swift does not import (https://sqlite.org/rescode.html).
    private static let primaryKey: Int32 = 1555, rowID: Int32 = 2579, unique: Int32 = 2067, check: Int32 = 275, reference: Int32 = 787

    private let connection: SQLiteConnection
    private let inPlace: SQLiteInPlace
    private let isDeletion: Bool

    init(_ connection: SQLiteConnection, _ inPlace: SQLiteInPlace, isDeletion: Bool = false) {
        self.connection = connection
        self.inPlace = inPlace
        self.isDeletion = isDeletion
    }

    /// Returns the error of a result code.
    ///
    /// - Parameters:
    ///   - entity: The entity whose rows were changed; nil at the end of a transaction.
    ///   - position: The position of the log before the transaction.
    func error(_ code: Int32, _ entity: EntityIndex?, since position: Int64 = 0) -> StorageError {
        let error = described(code, entity, position)
        // Conflict clauses and triggers of the tables can roll back the transaction.
        connection.fail(error)
        return error
    }

    private func described(_ code: Int32, _ entity: EntityIndex?, _ position: Int64) -> StorageError {
        let message = String(cString: sqlite3_errmsg(connection.handle)), cause = SQLiteError.Cause(code: code, message: message)
        let subject = SQLiteConstraint.place(in: message, code)
        switch code {
        case Self.primaryKey, Self.rowID, Self.unique: return unique(subject, entity, cause)
        case SQLiteConstraint.required:
            let place = place(subject, entity)
            return failed(place.entity, place.property, "must have a value", cause)
        case Self.check: return failed(entity.map(name) ?? "", nil, "violates a CHECK constraint of the table: \(subject)", cause)
        case SQLiteConstraint.wrongType:
            let place = place(subject, entity)
            return failed(place.entity, place.property, "has a value whose type differs from that of its column", cause)
        case SQLiteConstraint.trigger: return failed(entity.map(name) ?? "", nil, "is rejected by a trigger of the database", cause)
        case Self.reference: return reference(entity, position, cause)
        default: return connection.error(code)
        }
    }

    private func name(_ entity: EntityIndex) -> String { inPlace.tables.schema.entities[entity].name }

    private func failed(_ entity: String, _ property: String?, _ message: String, _ cause: SQLiteError.Cause) -> StorageError {
        inPlace.tables.isInvalid(entity, property, message, cause)
    }

    /// Returns the entity and the property of `table.column`.
    private func place(_ text: String, _ entity: EntityIndex?) -> (entity: String, property: String?) {
        for index in inPlace.tables.tables.indices where text.hasPrefix(inPlace.tables.tables[index].name + ".") {
            let column = String(text.dropFirst(inPlace.tables.tables[index].name.count + 1))
            return (name(index), inPlace.tables.property(index, column: column) ?? column)
        }
        return (entity.map(name) ?? "", nil)
    }

    /// Returns the error for "table.a, table.b", or for "index 'name'" of an index over expressions.
    private func unique(_ subject: String, _ entity: EntityIndex?, _ cause: SQLiteError.Cause) -> StorageError {
        let places = subject.components(separatedBy: ", ").map { place($0, entity) }
        let name = places.first?.entity ?? "", properties = places.compactMap(\.property)
        if let index = inPlace.tables.schema.index(of: name), properties == [inPlace.tables.tables[index].key] {
            return inPlace.tables.keyIsTaken(name, cause)
        }
        let index = properties.isEmpty ? subject : properties.joined(separator: ", ")
        return inPlace.tables.isNotUnique(name, properties, index: index, cause)
    }

    // MARK: References

    private func reference(_ entity: EntityIndex?, _ position: Int64, _ cause: SQLiteError.Cause) -> StorageError {
        if let entity {
            return isDeletion
                ? denied(name(entity), nil, cause) : failed(name(entity), nil, "refers to an object that does not exist", cause)
        }
        guard let found = try? broken(since: position) else { return failed("", nil, "an object refers to one that does not exist", cause) }
        return found.isDeletion
            ? denied(found.parent, "\(found.entity).\(found.property ?? "")", cause)
            : failed(found.entity, found.property, "refers to an object that does not exist", cause)
    }

    private func denied(_ name: String, _ referring: String?, _ cause: SQLiteError.Cause) -> StorageError {
        StorageError(
            .deleteDenied, "an object of \(name) cannot be deleted: other objects refer to it\(referring.map { " by \($0)" } ?? "")",
            details: .init(entity: name), cause: cause)
    }

    private struct Broken {
        let entity: String, property: String?, parent: String, isDeletion: Bool
    }

    /// Returns the reference that the transaction has violated: of all references without a destination, one of a row that it wrote, or to
    /// a table that it deleted from.
    private func broken(since position: Int64) throws(StorageError) -> Broken? {
        let text: SQLText = """
            SELECT f."table", f.parent, (SELECT k."from" FROM pragma_foreign_key_list(f."table", 'main') AS k WHERE k.id = f.fkid LIMIT 1),
                NOT EXISTS (SELECT 1 FROM main.polystore_log AS l
                    WHERE l.position > \(bind: .int(position), .int64) AND l.source = f."table" AND l."key" = f.rowid AND l.kind <> 'd')
            FROM pragma_foreign_key_check AS f WHERE EXISTS (SELECT 1 FROM main.polystore_log AS l
                WHERE l.position > \(bind: .int(position), .int64)
                    AND (l.source = f."table" AND l."key" = f.rowid OR l.source = f.parent AND l.kind = 'd'))
            ORDER BY 4 LIMIT 1
            """
        guard let row = try connection.rows(text, [.string, .string, .string, .bool]).first else { return nil }
        let child = inPlace.tables.entity(ofTable: row[0].text), parent = inPlace.tables.entity(ofTable: row[1].text)
        return Broken(
            entity: child.map(name) ?? row[0].text,
            property: child.flatMap { inPlace.tables.property($0, column: row[2].text) } ?? row[2].text,
            parent: parent.map(name) ?? row[1].text, isDeletion: row[3] == .bool(true))
    }
}
#endif
