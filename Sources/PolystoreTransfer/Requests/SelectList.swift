package import PolystoreStorage

/// A list of expressions with names, as in `name, age * 2 AS double, @sum(price) AS total`.
package enum SelectList {
    /// Parses a list.
    package static func outputs(_ text: String) throws(QueryError) -> [QueryOutput] {
        var outputs: [QueryOutput] = []
        for part in parts(text) { outputs.append(try output(part)) }
        return outputs
    }

    /// Parses an expression, with a name after `AS` or without one.
    package static func output(_ text: String) throws(QueryError) -> QueryOutput {
        let (expression, alias) = split(text)
        return QueryOutput(try QueryExpression(parsing: expression), as: alias)
    }

    /// Parses a list of expressions without names.
    package static func expressions(_ text: String) throws(QueryError) -> [QueryExpression] {
        var expressions: [QueryExpression] = []
        for part in parts(text) { expressions.append(try QueryExpression(parsing: part)) }
        return expressions
    }

    /// Parses the terms of an order.
    package static func order(_ text: String) throws(QueryError) -> [OrderTerm] {
        var terms: [OrderTerm] = []
        for part in parts(text) { terms.append(try orderTerm(part)) }
        return terms
    }

    /// Parses a term of an order. A minus sign before it sorts in descending order.
    package static func orderTerm(_ text: String) throws(QueryError) -> OrderTerm {
        let isDescending = text.hasPrefix("-")
        return OrderTerm(try QueryExpression(parsing: isDescending ? String(text.dropFirst()) : text), ascending: !isDescending)
    }

    /// Splits a text at the commas outside of parentheses and quotes.
    package static func parts(_ text: String) -> [String] {
        var parts: [String] = [], part = "", depth = 0, quote: Unicode.Scalar?, isEscaped = false
        for character in text.unicodeScalars {
            if let open = quote {
                if character == open, !isEscaped { quote = nil }
                isEscaped = character == "\\" && !isEscaped
            } else if character == "'" || character == "\"" {
                quote = character
            } else if character == "(" || character == "{" {
                depth += 1
            } else if character == ")" || character == "}" {
                depth -= 1
            } else if character == ",", depth == 0 {
                parts.append(part)
                part = ""
                continue
            }
            part.unicodeScalars.append(character)
        }
        return (parts + [part]).map { String($0.trimming(while: \.isWhitespace)) }
    }

    /// Splits an expression from the name after its last `AS`.
    private static func split(_ text: String) -> (String, String?) {
        guard let match = text.wholeMatch(of: /(.*\S)\s+[aA][sS]\s+([\p{L}_][\p{L}\p{N}_]*)/.dotMatchesNewlines()) else {
            return (text, nil)
        }
        return (String(match.1), String(match.2))
    }
}

extension String {
    /// Returns the string without the characters at both ends that satisfy a condition.
    fileprivate func trimming(while condition: (Character) -> Bool) -> Substring {
        let start = drop(while: condition)
        guard let last = start.lastIndex(where: { !condition($0) }) else { return "" }
        return start[...last]
    }
}
