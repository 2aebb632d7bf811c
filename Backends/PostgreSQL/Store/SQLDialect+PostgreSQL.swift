#if PostgreSQL
internal import PolystoreFoundation
internal import PolystoreSQL
internal import PolystoreStorage

extension SQLDialect {
    private static func type(_ type: ValueType) -> String { PostgreSQLCodec.column(type).name }

    /// Returns an aggregate over numbers. For floating-point numbers beyond a certain size the server fails during the computation, even if
    /// the final result would not overflow. NaN is greater than all of them.
    private static func numberAggregate(_ function: AggregateFunction, _ column: SQLText) -> SQLNumberAggregate {
        func within(_ name: String, _ most: String) -> SQLNumberAggregate {
            let real: SQLText = "(\(column))::float8"
            return SQLNumberAggregate(
                "\(raw: name)(\(real)) FILTER (WHERE abs(\(real)) < \(raw: most))",
                beyond: "count(*) FILTER (WHERE abs(\(real)) >= \(raw: most))")
        }
        switch function {
        case .standardDeviation: return within("stddev_pop", "1e144")
        case .sampleStandardDeviation: return within("stddev_samp", "1e144")
        case .median:
            return SQLNumberAggregate(
                "percentile_disc(0.5) WITHIN GROUP (ORDER BY \(column))", "percentile_disc(0.5) WITHIN GROUP (ORDER BY \(column) DESC)")
        case .sum, .average, .count, .countDistinct, .minimum, .maximum: return SQLNumberAggregate("sum(\(column))")
        }
    }

    /// Returns a function of arguments for which it cannot fail, with a result of a type.
    private typealias Call = @Sendable (_ arguments: [SQLArgument], _ result: ValueType) -> SQLText?

    /// The functions that the server computes as the contract requires. All others are computed above the store:
    ///
    /// - Upper and lower case and folding: the server's tables of letters depend on its own Unicode version or that of the machine.
    /// - Arithmetic with floating-point numbers, which fails on the server for an underflow, and with decimals, which keeps more digits.
    private static let functions: [Function: Call] = {
        var functions: [Function: Call] = [
            .floor: { whole("floor", number($0[0], $1)) },
            .ceiling: { whole("ceil", number($0[0], $1)) },
            // The server rounds the half of a floating-point number to the even neighbour.
            .round: { $1 == .double ? nil : whole("round", number($0[0], $1)) },
            .trim: { arguments, _ in "btrim(\(arguments[0].text), \(raw: whiteSpace))" },
            .coalesce: { arguments, result in
                let isConvertible = arguments.allSatisfy { $0.type == result || $0.type.isNumeric && result.isNumeric }
                return isConvertible ? "COALESCE(\(SQLText.joined(arguments.map { number($0, result) }, ", ")))" : nil
            },
        ]
        // The rules of other time zones are those of the machine of the server.
        for part in DatePart.allCases {
            let call: Call = { arguments, _ in datePart(part, arguments[0].text) }
            for zone in ["UTC", "GMT"] { functions[.datePart(part, timeZone: zone)] = call }
        }
        return functions
    }()

    /// Returns a number in the type of a result.
    private static func number(_ argument: SQLArgument, _ result: ValueType) -> SQLText { "(\(argument.text))::\(raw: type(result))" }

    /// Returns a whole number near a number. The sum with zero has no negative zero.
    private static func whole(_ name: String, _ number: SQLText) -> SQLText { "(\(raw: name)(\(number)) + 0)" }

    private static func datePart(_ part: DatePart, _ date: SQLText) -> SQLText {
        let (field, base): (String, Int) =
            switch part {
            case .weekday: ("dow", 1)
            case .dayOfYear: ("doy", 0)
            case .year, .month, .day, .hour, .minute, .second: (part.rawValue, 0)
            }
        return "(floor(extract(\(raw: field) FROM (\(date)) AT TIME ZONE 'UTC'))::int8 + \(raw: String(base)))"
    }

    /// The scalars with the property White_Space, which Unicode has not changed since 2013.
    private static let whiteSpace: String = {
        let scalars = (0..<0x3001).compactMap(Unicode.Scalar.init).filter(\.properties.isWhitespace)
        return "E'" + scalars.map { "\\u" + String(String($0.value + 0x10000, radix: 16).dropFirst()) }.joined() + "'"
    }()

    /// Returns an aggregate that cannot fail as one value.
    private static func total(_ function: AggregateFunction, _ argument: SQLArgument) -> SQLText? {
        let column = argument.text
        guard argument.type.isInteger else { return nil }
        switch function {
        case .sum: return argument.type == .int64 ? nil : "COALESCE(sum(\(column)), 0)::int8"
        case .average: return "(sum(\(column))::float8 / count(\(column))::float8)"
        case .median:
            func middle(_ order: String) -> SQLText { "percentile_disc(0.5) WITHIN GROUP (ORDER BY \(column)\(raw: order))::float8 / 2" }
            return "(\(middle("")) + \(middle(" DESC")))"
        // The server computes deviations in another way than the contract, and their last digits differ.
        case .standardDeviation, .sampleStandardDeviation, .count, .countDistinct, .minimum, .maximum: return nil
        }
    }

    /// The dialect of PostgreSQL.
    static let postgreSQL = SQLDialect(
        placeholder: { position, binding in
            switch binding {
            // A float is compared as the double that its values are widened to.
            case .value(_, .float): "$\(position)::float8"
            // An expression of constants alone would otherwise be compared by the collation of the database.
            case .value(_, let valueType) where valueType.isText: "($\(position)::text COLLATE \"C\")"
            case .value(_, let valueType): "$\(position)::\(type(valueType))"
            case .list(_, let valueType): "$\(position)::\(type(valueType))[]"
            }
        },
        typeName: { $0.isText ? "text COLLATE \"C\"" : type($0) },
        isSame: "IS NOT DISTINCT FROM", isNotSame: "IS DISTINCT FROM",
        match: { text, match, needle in
            let part: SQLText = "\(bind: .string(needle), .string)"
            switch match {
            case .beginsWith: return "starts_with(\(text), \(part))"
            case .endsWith: return "right(\(text), length(\(part))) = \(part)"
            case .contains: return "strpos(\(text), \(part)) > 0"
            case .like: return "\(text) LIKE \(bind: .string(SQLText.likePattern(LikePattern(needle).parts)), .string)"
            case .matches: return PostgreSQLPattern(needle).map { "\(text) ~ \(bind: .string($0.text), .string)" }
            // The server splits texts into words differently from the contract.
            case .search: return nil
            }
        },
        beginsWith: { _, _ in nil },
        // A text of ASCII has no marks to remove.
        foldASCII: { text, options in
            let folded: SQLText = options.contains(.caseInsensitive) ? "lower(\(text) COLLATE \"C\")" : "(\(text)) COLLATE \"C\""
            return (folded, "octet_length(\(text)) = char_length(\(text))")
        },
        isIn: { column, values, type in "\(column) = ANY(\(list: values, type == .float ? .double : type))" },
        ascending: " ASC NULLS FIRST", descending: " DESC NULLS LAST", noLimit: "LIMIT ALL", yes: "true", no: "false",
        literal: { value, type in
            [.bool, .int64, .string].contains(value.type) ? PostgreSQLCodec.constant(value, type) : nil
        },
        constant: PostgreSQLCodec.constant,
        convertsColumn: { before, after in
            if before.isText && after.isText { return "" }
            return before.isNumeric && after.isNumeric && before != .float || (before == .float && after == .double) ? type(after) : nil
        },
        dropsDefaults: true,
        names: SQLNameRules(
            limit: 63, foldsCase: false, reservedColumns: ["tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"],
            // The server searches the system catalog before the store's schema, whatever the search path is.
            reservedPrefix: "pg_"), tableOptions: " WITH (fillfactor = 75)",
        linkOptions: "", indexKey: { "\($0) ASC NULLS FIRST" },
        // A cast from float8 to numeric keeps 15 digits, and one from int8 to float8 53 bits: neither is exact.
        comparesExactly: { a, b in
            (a.isInteger || a == .decimal) && (b.isInteger || b == .decimal)
                || (a == .float || a == .double) && (b == .float || b == .double)
        },
        aggregates: { function, type in
            // The server adds floating-point numbers without compensation.
            (function != .sum && function != .average) || (type != .float && type != .double)
        },
        function: { function, arguments, result in functions[function]?(arguments, result) }, total: total,
        failsAlone: false, wideType: "numeric",
        extreme: { isLeast, column, type in
            switch PostgreSQLCodec.column(type).extremes {
            case .booleans: "\(raw: isLeast ? "bool_and" : "bool_or")(\(column))"
            case .percentiles: "percentile_disc(0) WITHIN GROUP (ORDER BY \(column)\(raw: isLeast ? "" : " DESC"))"
            case .functions: "\(raw: isLeast ? "min" : "max")(\(column))"
            }
        },
        number: { function, column, _ in numberAggregate(function, column) },
        variables: { _, _ in 1 }, mostDepth: 400, checksOverflow: true, seesOwnChanges: false, fullText: .postgreSQL)
}
#endif
