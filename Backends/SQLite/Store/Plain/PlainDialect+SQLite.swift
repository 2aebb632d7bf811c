#if SQLite
internal import PolystoreFoundation
internal import PolystoreSQL
internal import PolystoreStorage

extension PlainDialect {
    /// The dialect of SQLite.
    static let sqlite = PlainDialect(
        names: SQLDialect.sqlite.names, key: "INTEGER PRIMARY KEY", reference: "INTEGER", type: type,
        constant: constant, stores: { $0 == .decimal ? SQLiteStoring.isExact : nil }, altersTables: false, namesIndexes: true)

    /// Returns a constant as SQL; nil for one that the engine would not read exactly.
    @Sendable private static func constant(_ value: Value, _ type: ValueType) -> String? {
        switch value {
        case .null: "NULL"
        case .bool(let isTrue): isTrue ? "1" : "0"
        case .int(let number): "\(number)"
        // The engine reads at most fifteen digits exactly, and no great powers of ten.
        case .double(let number):
            (number == 0 || (1e-7...1e22).contains(abs(number))) && "\(number)".filter(\.isNumber).count <= 15 ? "\(number)" : nil
        case .decimal: exact(value)
        case .string(let text): "'\(SQLText.doubling("'", in: text))'"
        case .date(let date): "'\(SQLiteStoring.text(date))'"
        case .uuid(let id): "'\(id.uuidString.lowercased())'"
        case .data: SQLDialect.sqlite.constant(value, type)
        }
    }

    /// Returns the declared type of an attribute, one that `SQLiteDeclaredType` recognises.
    @Sendable static func type(_ type: ValueType) -> String {
        switch type {
        case .bool: "BOOLEAN"
        case .int16, .int32, .int64: "INTEGER"
        case .float, .double: "REAL"
        case .decimal: "DECIMAL"
        case .string, .url: "TEXT"
        case .date: "DATETIME"
        case .uuid: "UUID"
        case .data: "BLOB"
        }
    }

    /// Returns a decimal that a number represents exactly.
    private static func exact(_ value: Value) -> String? {
        guard value.withCell(SQLiteStoring.isExact), case .string(let text) = ValueText.json(value) else { return nil }
        return text.filter(\.isNumber).count <= 15 ? text : nil
    }
}
#endif
