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
        /// The number of characters before the position in the statement that the message refers to.
        var offset: Int?
    }

    static let sharedBackend =
        "between the program and the server there is a pool that gives each transaction another connection; sessions need one of their own: "
        + "connect to the server itself, or use a pool that keeps connections for a session"

    let state: String
    let constraint: String?
    private let sentence: String?
    private let offset: Int?
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
        table = Self.field(result, 116)
        column = Self.field(result, 99)
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
        let cause = Cause(state: state, constraint: constraint, sentence: sentence, table: table, column: column, offset: offset)
        func make(_ code: StorageError.Code, _ message: String) -> StorageError { StorageError(code, message, cause: cause) }
        if isFatal { return make(.connectionLost, "the connection to the server was lost") }
        switch state {
        case "23505": return unique(tables, cause)
        case "40001", "40P01": return make(.serializationFailure, "the server ended the transaction in favour of another; run it again")
        case "28P01", "28000": return make(.authenticationFailed, "the server refused the user or the password")
        case "3D000": return make(.notFound, "the server has no database of this name")
        // Without Polystore's metadata there is no store.
        case "42P01" where tables != nil && sentence?.contains("polystore_metadata") == false, "42703" where tables != nil:
            return SQLTables.changedByHand(sentence ?? state, cause)
        case "2BP01": return make(.unsupported, "something of another program depends on what is to be dropped; nothing was dropped")
        case "3F000", "42P01": return make(.notFound, "the server has no such schema or table")
        case "42501": return make(.permissionDenied, "the user may not do this on the server")
        // The name of a prepared statement is used only once on each connection.
        case "26000", "42P05": return make(.unsupported, Self.sharedBackend)
        case "2200H": return make(.limitExceeded, "no keys are left for objects of the entity")
        case "25006": return make(.readOnly, "the server or the session takes no changes")
        case "53100": return make(.diskFull, "the server has no room left; nothing was written")
        case "53200": return make(.limitExceeded, "the server ran out of memory")
        case "53300": return make(.busy, "the server takes no more connections; try again")
        case "57014": return make(.timeout, "the server interrupted the statement")
        case "55P03": return make(.busy, "the server could not get a lock in time; try again")
        case "08000", "08003", "08006", "": return make(.connectionLost, "the connection to the server was lost")
        case "22003": return make(.arithmeticOverflow, "a number leaves the range of its type")
        case "22012": return make(.divisionByZero, "a division by zero")
        case "22021": return make(.valueNotStorable, "a text has bytes that the server cannot store")
        case PostgreSQLForeign.refusalState:
            return make(
                .valueNotStorable,
                "\(sentence ?? "a column") holds a value that has no form here: NaN, an infinite or far date, too many digits")
        case RollingTriggers.refusalState:
            return make(
                .valueNotStorable,
                "as long as programs of the older version of the model run, \(sentence ?? "a property") takes only what that version can hold"
            )
        case RollingTriggers.denialState:
            return make(
                .deleteDenied,
                "an object cannot be deleted: others refer to it by \(sentence ?? "a property"), which only programs of the other version of the "
                    + "model know")
        case PostgreSQLStoring.refusalState:
            return make(.valueNotStorable, "\(sentence ?? "a column") cannot keep the value exactly in the type that it has on the server")
        case "54000": return make(.valueTooLarge, "a value is larger than the server's index allows")
        case "XX001", "XX002": return make(.corrupted, "the server's data is damaged")
        default: return make(.inputOutput, "the server refused the statement with SQLSTATE \(state)")
        }
    }

    private func unique(_ tables: SQLTables?, _ cause: Cause) -> StorageError {
        guard let tables, let constraint else { return StorageError(.uniqueConstraintViolated, "two objects agree", cause: cause) }
        if let rule = tables.constraint(ofIndex: constraint) {
            let name = tables.schema.entities[rule.declaredIn].name
            return StorageError(
                .uniqueConstraintViolated, "another object of \(name) has the same \(rule.name)",
                details: .init(entity: name, constraint: rule.name), cause: cause)
        }
        // The server names the constraints of primary keys.
        guard constraint.hasSuffix("_pkey") else {
            return StorageError(
                .uniqueConstraintViolated, "another object has the same values under \"\(constraint)\", a constraint of another version",
                cause: cause)
        }
        return StorageError(.alreadyExists, "an object with this key is already there", cause: cause)
    }
}
#endif
