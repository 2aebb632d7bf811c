#if PostgreSQL
internal import PolystoreSQL
internal import PolystoreStorage

/// The conversion of a column from a type of the server.
struct PostgreSQLColumnType {
    /// The type of the values; text for types without an equivalent.
    let type: ValueType
    /// The converted value, as SQL over the table `t`.
    let value: String
    /// Whether the value is the server's text form, because there is no equivalent type.
    let isText: Bool

    /// The type numbers of `pg_type`, which never change (https://www.postgresql.org/docs/current/catalog-pg-type.html).
    private static let texts: Set<Int64> = [18, 19, 25, 114, 142, 1042, 1043, 3802]

    /// - Parameters:
    ///   - oid: The type, with domains resolved.
    ///   - column: The name of the column.
    ///   - place: The name of the column in errors.
    init(oid: Int64, column: String, place: String) {
        let plain = "t.\(SQLText.quoted(column))"
        func checked(_ value: String, _ type: String, _ condition: String) -> String {
            // The argument is not a constant, so the planner never evaluates the refusal in advance.
            let sentence = "'\(SQLText.doubling("'", in: place))'"
            return
                "CASE WHEN \(plain) IS NULL OR (\(condition)) THEN \(value) ELSE pg_temp.polystore_refuse(\(plain)::text, \(sentence))::\(type) END"
        }
        func date(_ instant: String) -> String {
            checked(
                instant, "timestamptz",
                "isfinite(\(plain)) AND \(plain) >= '0001-01-01'::date AND \(plain) < '10000-01-01'::date")
        }
        var isText = false
        switch oid {
        case 16: (type, value) = (.bool, plain)
        case 21: (type, value) = (.int16, plain)
        case 23: (type, value) = (.int32, plain)
        case 20: (type, value) = (.int64, plain)
        case 26: (type, value) = (.int64, "\(plain)::int8")
        // Adding zero converts negative zero to zero.
        case 700: (type, value) = (.float, checked("\(plain) + 0::float4", "float4", "\(plain) <> 'NaN'"))
        case 701: (type, value) = (.double, checked("\(plain) + 0::float8", "float8", "\(plain) <> 'NaN'"))
        case 1700:
            let digits = "length(trim(both '0' from replace(abs(\(plain))::text, '.', '')))"
            let fits = "abs(\(plain)) < 1e127 AND scale(trim_scale(\(plain))) <= 127 AND \(digits) <= \(DecimalKey.maximumDigits)"
            (type, value) = (.decimal, checked(plain, "numeric", fits))
        case 1082: (type, value) = (.date, date("\(plain)::timestamp AT TIME ZONE 'UTC'"))
        case 1114: (type, value) = (.date, date("\(plain) AT TIME ZONE 'UTC'"))
        case 1184: (type, value) = (.date, date(plain))
        case 2950: (type, value) = (.uuid, plain)
        case 17: (type, value) = (.data, plain)
        default:
            isText = !Self.texts.contains(oid)
            (type, value) = (.string, "\(plain)::text COLLATE \"C\"")
        }
        self.isText = isText
    }
}
#endif
