internal import PolystoreFoundation
internal import PolystoreSchema

/// Expressions: arithmetic, constants, properties, functions, subqueries.
extension PredicateParser {
    mutating func expression() throws(QueryError) -> QueryExpression {
        try enter()
        defer { depth -= 1 }
        var result = try product()
        while true {
            if take(symbol: "+") {
                result = .function(.add, [result, try product()])
            } else if take(symbol: "-") {
                result = .function(.subtract, [result, try product()])
            } else if take(symbol: "&") {
                result = .function(.bitAnd, [result, try product()])
            } else if take(symbol: "|") {
                result = .function(.bitOr, [result, try product()])
            } else {
                return result
            }
        }
    }

    mutating func product() throws(QueryError) -> QueryExpression {
        var result = try factor()
        while true {
            if take(symbol: "*") {
                result = .function(.multiply, [result, try factor()])
            } else if take(symbol: "/") {
                result = .function(.divide, [result, try factor()])
            } else {
                return result
            }
        }
    }

    mutating func factor() throws(QueryError) -> QueryExpression {
        if take(symbol: "-") {
            if case .number(let text) = current.kind { return .value(try number("-" + text)) }
            if isWord("INFINITY") {
                position += 1
                return .value(.double(-.infinity))
            }
            try enter()
            defer { depth -= 1 }
            return .function(.negate, [try factor()])
        }
        if take(symbol: "(") {
            let inner = try expression()
            try need(symbol: ")")
            return inner
        }
        switch current.kind {
        case .number(let text): return .value(try number(text))
        case .text(let text):
            position += 1
            return .value(.string(text))
        case .placeholder(let kind): return try placeholder(kind)
        case .variable:
            guard let name = openVariable else { return try pathOrAggregate() }
            position += 1
            return .variable(name)
        case .name(let name, isQuoted: false): return try named(name)
        case .name: return try pathOrAggregate()
        case .operation(let name):
            guard let function = Self.operation(name), function == .count || isSymbol("(", ahead: 1) else {
                throw expected("a property or a constant")
            }
            position += 1
            // `@count` alone is the number of objects.
            guard take(symbol: "(") else { return .aggregate(Aggregate(function)) }
            if take(symbol: ")") { return .aggregate(Aggregate(function)) }
            let argument = try expression()
            try need(symbol: ")")
            return .aggregate(Aggregate(function, of: argument))
        case .symbol, .end: throw expected("a property or a constant")
        }
    }

    mutating func number(_ text: String) throws(QueryError) -> Value {
        var value: Value?
        if let hex = text.firstRange(of: "0x") {
            value = Int64((text.hasPrefix("-") ? "-" : "") + text[hex.upperBound...], radix: 16).map(Value.int)
        } else {
            value = Int64(text).map(Value.int) ?? Double(text).flatMap { $0.isFinite ? Value.double($0) : nil }
        }
        guard let value else { throw expected("a number in range") }
        position += 1
        return value
    }

    mutating func placeholder(_ kind: String) throws(QueryError) -> QueryExpression {
        if kind == "K" { return try pathOrAggregate(beginning: try keyPathArgument()) }
        guard let argument = arguments.first else { throw expected("an argument for the placeholder") }
        switch (kind, argument) {
        case (_, .value(let value)):
            position += 1
            arguments.removeFirst()
            return .value(value)
        case ("@", .path(let path)):
            position += 1
            arguments.removeFirst()
            return .outer(plainLevel, path)
        case (_, .list), (_, .path): throw expected("an argument of another kind for the placeholder")
        }
    }

    mutating func named(_ name: String) throws(QueryError) -> QueryExpression {
        let word = name.uppercased()
        switch word {
        case "TRUE", "YES": return constant(.bool(true))
        case "FALSE", "NO": return constant(.bool(false))
        case "NIL", "NULL": return constant(.null)
        case "INFINITY": return constant(.double(.infinity))
        case "SUBQUERY" where isSymbol("(", ahead: 1): return try subquery()
        case "TERNARY" where isSymbol("(", ahead: 1): return try ternary()
        default:
            if let type = Self.literals[word] { return try literal(type, name) }
            if isSymbol("(", ahead: 1) || isSymbol("[", ahead: 1) && FunctionName.takesOptions(name) { return try function(name) }
            return try pathOrAggregate()
        }
    }

    /// The types of constants that are written as a text after a keyword.
    private static let literals = Dictionary(
        uniqueKeysWithValues: ValueType.allCases.compactMap { type in type.keyword.map { ($0, type) } })

    private mutating func literal(_ type: ValueType, _ name: String) throws(QueryError) -> QueryExpression {
        guard position + 1 < tokens.count, case .text(let text) = tokens[position + 1].kind else { return try pathOrAggregate() }
        position += 1
        guard let value = ValueText.value(text, as: type) else { throw expected("the text form of a \(name.lowercased())") }
        return constant(value)
    }

    mutating func constant(_ value: Value) -> QueryExpression {
        position += 1
        return .value(value)
    }

    mutating func subquery() throws(QueryError) -> QueryExpression {
        position += 2
        let path = try relationship()
        try need(symbol: ",")
        guard case .variable(let name) = current.kind else { throw expected("a variable such as $x") }
        position += 1
        try need(symbol: ",")
        let condition = try within(name)
        try need(symbol: ")")
        try need(symbol: ".")
        return try aggregate(path, condition)
    }

    mutating func ternary() throws(QueryError) -> QueryExpression {
        position += 2
        let condition = try disjunction()
        try need(symbol: ",")
        let a = try expression()
        try need(symbol: ",")
        let b = try expression()
        try need(symbol: ")")
        return .conditional(condition, a, b)
    }

    mutating func function(_ name: String) throws(QueryError) -> QueryExpression {
        let place = current.position
        position += 1
        let options = try options()
        try need(symbol: "(")
        var arguments: [QueryExpression] = []
        if !take(symbol: ")") {
            repeat { arguments.append(try expression()) } while take(symbol: ",")
            try need(symbol: ")")
        }
        guard let result = try FunctionName.expression(name, options, arguments) else {
            let isAggregate = Self.operation(name) != nil
            let near = isAggregate ? "; an aggregate begins with @: @\(name)(…)" : Suggestion.nearest(name, in: FunctionName.all)
            throw QueryError("at character \(place): there is no function named \"\(name.excerpt())\"\(near)")
        }
        return result
    }
}
