#if PostgreSQL
internal import PolystoreSQL
internal import PolystoreStorage

/// A value of ours as a column of another program keeps it: the way back of `PostgreSQLColumnType`.
///
/// The server rounds numbers and cuts instants to what a type can hold. What would not be read as the same value is refused.
enum PostgreSQLStoring {
    /// What a value is refused with; a class of errors that neither the standard nor the server uses.
    static let refusalState = "PS002"

    /// The function that refuses a value.
    static let function = """
        CREATE FUNCTION pg_temp.polystore_misfit(value text, place text) RETURNS text LANGUAGE plpgsql STABLE AS $$
            BEGIN RAISE EXCEPTION USING ERRCODE = '\(refusalState)', MESSAGE = place; END $$
        """

    /// Types whose form is our own: bool, int2, int4, int8, float4, float8, uuid, bytea, text.
    private static let plain: Set<Int64> = [16, 21, 23, 20, 700, 701, 2950, 17, 25]

    /// The SQL that turns a value of ours into the form of a column; nil where that is our own.
    static func stored(_ column: PostgreSQLCatalogRows.Column, place: String) -> (@Sendable (String) -> String)? {
        let type = column.typeName, sentence = "'\(SQLText.doubling("'", in: place))'"
        /// - Parameters:
        ///   - zone: What turns an instant into what the type is made of.
        ///   - back: What turns the value of the type into ours.
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
        // A cast of one's own cuts a text that is too long; an assignment refuses it.
        case 1043: return column.isDomain ? checked(back: "::text") : nil
        case 1042: return checked(back: "::text")
        default: return plain.contains(column.type) && !column.isDomain ? nil : cast
        }
    }
}
#endif
