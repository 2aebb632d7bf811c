#if PostgreSQL
internal import CLibPQ
internal import PolystoreSQL
internal import PolystoreStorage

/// A translation of errors of the server and of libpq to errors of the contract. Their messages may contain values and hosts, so only the
/// SQLSTATE and the names of Polystore's own tables are passed on.
struct PostgreSQLError {
    /// The server's own error, as the cause of an error of the contract.
    struct Cause: Error, Sendable {
        let state: String
        let constraint: String?
        /// The server's messages if they refer to the text of a statement, which contains no values.
        var sentence: String?
        /// The table and the column of the violated database rule.
        var table: String?
        var column: String?
        /// The type that did not accept a value, as the server names it; `array` for any array. The message names it beside the value.
        var refusedType: String?
        /// The number of characters before the position in the statement that the message refers to.
        var offset: Int?
    }

    static let sharedBackend =
        "a connection pool between the program and the server assigns another connection to each transaction, but a session requires the "
        + "same one: connect to the server directly, or use session pooling"

    let state: String
    let constraint: String?
    private let sentence: String?
    private let offset: Int?
    private let refusedType: String?
    private let table: String?
    private let column: String?
    /// Whether the server has ended the connection.
    private let isFatal: Bool

    init(_ result: OpaquePointer?) {
        state = Self.field(result, 67) ?? ""  // PG_DIAG_SQLSTATE is the letter C
        constraint = Self.field(result, 110)  // PG_DIAG_CONSTRAINT_NAME is the letter n
        // Class 42: errors in the text of a statement. PG_DIAG_MESSAGE_PRIMARY and _HINT are the letters M and H.
        let sentences = [77, 72].compactMap { Self.field(result, $0) }
        // The message of Polystore's own refusals is the name of a column or property.
        let refusals = [
            PostgreSQLForeign.refusalState, PostgreSQLStoring.refusalState, RollingTriggers.refusalState, RollingTriggers.denialState,
        ]
        let isHarmless = state.hasPrefix("42") || refusals.contains(state)
        sentence = isHarmless && !sentences.isEmpty ? sentences.joined(separator: "; ") : nil
        // PG_DIAG_TABLE_NAME and PG_DIAG_COLUMN_NAME are the letters t and c.
        let refusal = PostgreSQLRefusal(
            state: state, message: Self.field(result, 77) ?? "", detail: Self.field(result, 68) ?? "", context: Self.field(result, 87) ?? ""
        )
        refusedType = refusal.type
        table = Self.field(result, 116) ?? refusal.table
        column = Self.field(result, 99) ?? refusal.column
        // PG_DIAG_SEVERITY_NONLOCALIZED is the letter V.
        isFatal = ["FATAL", "PANIC"].contains(Self.field(result, 86))
        // PG_DIAG_STATEMENT_POSITION is the letter P; it counts from 1.
        offset = Self.field(result, 80).flatMap { Int($0) }.map { $0 - 1 }
    }

    private static func field(_ result: OpaquePointer?, _ code: Int32) -> String? {
        PQresultErrorField(result, code).map { String(cString: $0) }
    }

    /// Returns the error of the contract.
    func error(_ tables: SQLTables?) -> StorageError {
        let cause = Cause(
            state: state, constraint: constraint, sentence: sentence, table: table, column: column, refusedType: refusedType, offset: offset
        )
        func make(_ code: StorageError.Code, _ message: String) -> StorageError { StorageError(code, message, cause: cause) }
        if isFatal { return make(.connectionLost, "the connection to the server was lost; try again") }
        switch state {
        case "23505": return unique(tables, cause)
        case "40001", "40P01":
            return make(.serializationFailure, "the server ended the transaction because of a conflict with another one; run it again")
        case "28P01", "28000": return make(.authenticationFailed, "the server rejected the user or the password")
        case "3D000": return make(.notFound, "the server has no database of this name; check the URL, or create it")
        // Without Polystore's metadata there is no store.
        case "42P01" where tables != nil && sentence?.contains("polystore_metadata") == false, "42703" where tables != nil:
            return SQLTables.changedByHand(sentence ?? state, cause)
        case "42P07", "42710", "42723":
            return make(
                .alreadyExists,
                "the schema on the server contains something else with a name that the tables need (\(sentence ?? state)); use another schema "
                    + "with the option x-schema, or rename it")
        case "2BP01": return make(.unsupported, "objects of another program depend on tables to drop; nothing was dropped")
        case "3F000", "42P01": return make(.notFound, "the database has no such schema or table")
        case "42501": return make(.permissionDenied, "the user lacks the privilege for this operation; grant it on the server")
        // The name of a prepared statement is used only once on each connection.
        case "26000", "42P05": return make(.unsupported, Self.sharedBackend)
        case "2200H": return make(.limitExceeded, "no primary keys are left for new objects of the entity")
        case "25006": return make(.readOnly, "the server or the session is read-only")
        case "53100": return make(.diskFull, "the server has no disk space left; nothing was written")
        case "53200": return make(.limitExceeded, "the server ran out of memory")
        case "53300": return make(.busy, "the server has too many connections; try again, or raise its max_connections")
        case "57014": return make(.timeout, "the server cancelled the statement")
        case "55P03": return make(.busy, "the server could not get a lock in time; try again")
        case "08000", "08003", "08006", "": return make(.connectionLost, "the connection to the server was lost; try again")
        case "22003": return make(.arithmeticOverflow, "a number is outside the range of its type")
        case "22012": return make(.divisionByZero, "a division by zero")
        case "22001": return make(.valueNotStorable, "a string is longer than its column on the server allows")
        case "22P02", "22007", "22008": return make(.valueNotStorable, "a value is not valid for the type of its column on the server")
        case "22021": return make(.valueNotStorable, "a string has characters that the server cannot store")
        case PostgreSQLForeign.refusalState:
            return make(
                .valueNotStorable,
                "\(sentence ?? "a column") holds a value that cannot be represented, such as NaN, an infinite date or a number with too "
                    + "many digits")
        case RollingTriggers.refusalState:
            return make(
                .valueNotStorable,
                "during the online migration, \(sentence ?? "a property") accepts only values that the older version of the model can store"
            )
        case RollingTriggers.denialState:
            return make(
                .deleteDenied,
                "an object cannot be deleted: other objects refer to it by \(sentence ?? "a property"), which only programs of the other "
                    + "version of the model know")
        case PostgreSQLStoring.refusalState:
            return make(.valueNotStorable, "\(sentence ?? "a column") cannot store the value exactly in the type of its column")
        case "54000": return make(.valueTooLarge, "a value is too large for an index of the server")
        case "XX001", "XX002": return make(.corrupted, "the data of the server is damaged; restore the database from a backup")
        default: return make(.inputOutput, "the server rejected the statement with SQLSTATE \(state)")
        }
    }

    private func unique(_ tables: SQLTables?, _ cause: Cause) -> StorageError {
        guard let tables, let constraint else {
            return StorageError(.uniqueConstraintViolated, "two objects have the same values under a unique constraint", cause: cause)
        }
        if let rule = tables.constraint(ofIndex: constraint) {
            let name = tables.schema.entities[rule.declaredIn].name
            return StorageError(
                .uniqueConstraintViolated, "another object of \(name) has the same \(rule.name)",
                details: .init(entity: name, constraint: rule.name), cause: cause)
        }
        // The server names the constraints of primary keys.
        guard constraint.hasSuffix("_pkey") else {
            return StorageError(
                .uniqueConstraintViolated,
                "another object has the same values under \"\(constraint)\", a unique constraint of another version of the model",
                cause: cause)
        }
        guard let root = tables.schema.roots.first(where: { tables.table($0) == table }) else {
            return StorageError(.alreadyExists, "an object with this key already exists", cause: cause)
        }
        let name = tables.schema.entities[root].name
        return StorageError(
            .alreadyExists, "an object of \(name) with this key already exists", details: .init(entity: name), cause: cause)
    }
}
#endif
