#if SQLite
internal import PolystoreFoundation
internal import PolystoreSQL
internal import PolystoreStorage

extension SQLDialect {
    /// The dialect of SQLite.
    static let sqlite = SQLDialect(
        placeholder: { position, _ in "?\(position)" },
        typeName: { type in
            switch type.cellKind {
            case .null, .int: "INTEGER"
            case .real: "REAL"
            case .text: "TEXT"
            case .blob: "BLOB"
            }
        },
        isSame: "IS", isNotSame: "IS NOT",
        match: { text, match, needle in
            let part: SQLText = "\(bind: .string(needle), .string)"
            switch match {
            case .beginsWith: return "substr(\(text), 1, length(\(part))) = \(part)"
            case .endsWith: return "substr(\(text), -length(\(part))) = \(part)"
            case .contains: return "instr(\(text), \(part)) > 0"
            case .like: return "polystore_match(\(text), 1, \(part))"
            case .matches: return "polystore_match(\(text), 2, \(part))"
            case .search: return "polystore_match(\(text), 3, \(part))"
            }
        },
        beginsWith: { column, prefix in
            // By bytes, whatever the collation of another program's column is.
            let low: SQLText = "\(column) COLLATE BINARY >= \(bind: .string(prefix), .string)"
            guard let end = ExactText.end(of: prefix) else { return low }
            return "(\(low) AND \(column) COLLATE BINARY < \(bind: .string(end), .string))"
        },
        foldASCII: nil,
        isIn: { column, values, type in
            if values.count > 100, isOneBinding(type) {
                return "\(column) IN (SELECT value FROM json_each(\(list: values.map(plain), type)))"
            }
            return "\(column) IN (\(SQLText.joined(values.map { "\(bind: $0, type)" }, ", ")))"
        },
        ascending: " ASC", descending: " DESC", noLimit: "LIMIT -1", yes: "1", no: "0",
        literal: { value, _ in
            [.bool, .int64, .string].contains(value.type) ? constant(value) : nil
        },
        // A whole number of a type with other numbers has another form.
        constant: { value, type in value.type == .int64 && type.cellKind != .int ? nil : constant(value) },
        convertsColumn: { before, after in before.cellKind == after.cellKind && before != .decimal && after != .decimal ? "" : nil },
        dropsDefaults: false,
        names: SQLNameRules(limit: 1000, foldsCase: true, reservedPrefix: "sqlite_"),
        tableOptions: " STRICT", linkOptions: " STRICT, WITHOUT ROWID", indexKey: { $0 },
        comparesExactly: { a, b in a.isInteger && b.isInteger || (a != .decimal && b != .decimal) },
        aggregates: { function, type in
            switch function {
            case .count, .countDistinct, .minimum, .maximum: true
            // Before 3.43 the engine adds doubles without compensation, and loses small ones between large ones.
            case .sum, .average: type.isInteger
            // The engine has none of its own.
            case .standardDeviation, .sampleStandardDeviation, .median: false
            }
        },
        function: { function, arguments, type in
            if case .folded(let options) = function { return "polystore_fold(\(arguments[0].text), \(raw: String(options.rawValue)))" }
            // https://sqlite.org/limits.html: a function takes 127 arguments.
            guard arguments.count < 100 else { return nil }
            let call = FunctionCall(function, arguments.map(\.type), type).description
            return "polystore_call(\(SQLText.joined(["'\(raw: SQLText.doubling("'", in: call))'"] + arguments.map(\.text), ", ")))"
        },
        total: { function, argument in SQLiteFunctions.total(function, argument.type).map { "\(raw: $0)(\(argument.text))" } },
        failsAlone: true, wideType: nil,
        extreme: { isLeast, column, _ in "\(raw: isLeast ? "min" : "max")(\(column))" },
        number: { _, column, _ in SQLNumberAggregate("sum(\(column))") },
        variables: { count, type in isOneBinding(type) ? min(count, 100) : count },
        // The parser holds 99 symbols unless the library was built for more. Up to 27 stand before the condition of a subquery that selects
        // the rows of a change.
        mostDepth: 72,
        // The engine's own sum or product that overflows becomes a float.
        checksOverflow: false, seesOwnChanges: true, fullText: SQLFullText.sqlite)

    /// A value as it lies in a column, in SQL; nil for one that the engine would not read exactly.
    private static func constant(_ value: Value) -> String? {
        value.withCell { cell in
            switch cell.kind {
            case .null: "NULL"
            case .int: String(cell.int)
            // The engine's reading of decimal digits is not exact to the last bit; small whole numbers are.
            case .real: Int32(exactly: cell.real).map { "\($0).0" }
            case .text: "'\(SQLText.doubling("'", in: String(decoding: cell.bytes, as: UTF8.self)))'"
            case .blob: hexadecimal(cell.bytes)
            }
        }
    }

    /// Whether a long list of values of a type is one binding, of JSON.
    private static func isOneBinding(_ type: ValueType) -> Bool {
        type.isText || type.cellKind == .int && type != .bool
    }

    private static func hexadecimal(_ bytes: UnsafeRawBufferPointer) -> String {
        let digits = Array("0123456789ABCDEF")
        return "X'" + String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }) + "'"
    }

    /// Returns the value for JSON. A list of values that are stored as numbers, such as dates, contains numbers.
    private static func plain(_ value: Value) -> Value { value.withCell { $0.kind == .int ? .int($0.int) : value } }
}
#endif
