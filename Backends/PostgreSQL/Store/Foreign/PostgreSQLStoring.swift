#if PostgreSQL
internal import PolystoreSQL
internal import PolystoreStorage

/// The conversion of Polystore values to the columns of another program: the inverse of `PostgreSQLColumnType`.
///
/// The server rounds numbers and truncates instants to the precision of a type. A value that could not be read back unchanged is refused.
enum PostgreSQLStoring {
    /// The SQLSTATE of a refused value, in a class that neither the standard nor the server uses.
    static let refusalState = "PS002"

    /// The statement that creates the function that refuses a value.
    static let function = """
        CREATE FUNCTION pg_temp.polystore_misfit(value text, place text) RETURNS text LANGUAGE plpgsql STABLE AS $$
            BEGIN RAISE EXCEPTION USING ERRCODE = '\(refusalState)', MESSAGE = place; END $$
        """

    /// The types whose form is Polystore's own: bool, int2, int4, int8, float4, float8, uuid, bytea, text.
    private static let plain: Set<Int64> = [16, 21, 23, 20, 700, 701, 2950, 17, 25]

    /// Returns the SQL that converts a Polystore value to the form of a column; nil where the forms are the same.
    static func stored(_ column: PostgreSQLCatalogRows.Column, place: String) -> (@Sendable (String) -> String)? {
        let type = column.typeName, sentence = "'\(SQLText.doubling("'", in: place))'"
        /// - Parameters:
        ///   - zone: The SQL suffix that converts an instant to the base of the type.
        ///   - back: The SQL suffix that converts the value of the type back.
        func checked(zone: String = "", back: String) -> @Sendable (String) -> String {
            { value in
                let stored = "(\(value)\(zone))::\(type)"
                return "CASE WHEN \(value) IS NULL OR (\(stored)\(back)) = \(value) THEN \(stored) "
                    + "ELSE pg_temp.polystore_misfit(\(value)::text, \(sentence))::\(type) END"
            }
        }
        let cast: @Sendable (String) -> String = { "\($0)::\(type)" }
        switch column.type {
        case 1082: return checked(zone: " AT TIME ZONE 'UTC'", back: "::timestamp AT TIME ZONE 'UTC'")
        case 1114: return checked(zone: " AT TIME ZONE 'UTC'", back: " AT TIME ZONE 'UTC'")
        case 1184: return type == "timestamp with time zone" ? nil : checked(back: "::timestamptz")
        case 1700: return type == "numeric" ? nil : checked(back: "::numeric")
        // An explicit cast truncates a text that is too long; an assignment refuses it.
        case 1043: return column.isDomain ? checked(back: "::text") : nil
        case 1042: return checked(back: "::text")
        default: return plain.contains(column.type) && !column.isDomain ? nil : cast
        }
    }
}
#endif
