#if PostgreSQL
internal import PolystoreSQL
internal import PolystoreStorage

/// A column of the newer version in a table that both versions share.
struct RollingColumn {
    /// The source of the column's values.
    enum Source {
        /// The column exists in the older version.
        case kept
        /// The column is a converted form of a column of the older version.
        case converted(Conversion)
        /// The older version has no equivalent. The constant is the value for its objects, nil for none.
        case added(constant: String?, scope: Scope)
    }

    /// The name of the column while both versions are live.
    let name: String
    /// The name of the column afterwards.
    let finalName: String
    /// The type of the column.
    let type: ValueType
    /// The source of the column's values.
    let source: Source
    /// The property, for people to read.
    let path: String
    /// The rows for which the older version requires a value and the newer one does not; nil if there are none.
    let guardedRows: Scope?

    /// The entities whose rows have a property.
    struct Scope {
        /// The entity numbers; nil for all rows of the table.
        let numbers: [Int16]?

        /// Returns the condition on a row, with the given prefix of its columns.
        func condition(_ row: String) -> String? {
            numbers.map { "\(row)\"_entity\" IN (\($0.map(String.init).joined(separator: ", ")))" }
        }
    }

    /// The conversion of values from a column of the older version, and back.
    struct Conversion {
        let old: String
        let before: ValueType
        let after: ValueType
        /// The value in the newer version for nil in the older one.
        let ifNil: String?
        let scope: Scope

        /// Returns the newer value, with the given prefix of the columns.
        func forward(_ row: String) -> String {
            let value = "\(row)\(SQLText.quoted(old))" + (before == after ? "" : "::\(PostgreSQLCodec.column(after).name)")
            guard let ifNil else { return value }
            let fallback = scope.condition(row).map { "CASE WHEN \($0) THEN \(ifNil) END" } ?? ifNil
            return "COALESCE(\(value), \(fallback))"
        }

        /// Returns the condition that a newer value, given as SQL, has an older form; nil if all have.
        func fits(_ value: String) -> String? {
            if before == after { return nil }
            if before == .float {
                return "CASE WHEN abs(\(value)) <= '3.4028234663852886e38'::float8 THEN \(value)::float4::float8 = \(value) ELSE false END"
            }
            let isWhole = after.isInteger ? "" : " AND \(value) = trunc(\(value))"
            return "\(value) BETWEEN \(before.range.lowerBound) AND \(before.range.upperBound)\(isWhole)"
        }
    }
}
#endif
