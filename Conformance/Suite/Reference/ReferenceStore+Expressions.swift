internal import Foundation
internal import PolystoreStorage

/// Expressions and related objects, in plain loops. An error is nil here, because cases about errors do not use the reference.
extension ReferenceStore {
    /// Returns the value of an expression.
    func operand(_ expression: QueryExpression, _ row: Row) -> Value {
        switch expression.node {
        case .path(let path): return value(path, row)
        // There is no object outside of the outermost one.
        case .outer(let level, let path): return level <= outer.count ? value(path, outer[outer.count - level]) : .null
        case .value(let value): return value
        // In random programs `$o12` is the object 12; elsewhere there are no variables.
        case .variable(let name): return .int(Int64(name.dropFirst()).flatMap { identities[$0] } ?? -1)
        case .aggregate: return .null
        case .conditional(let condition, let a, let b): return operand(holds(condition, row) ? a : b, row)
        case .related(let aggregate): return related(aggregate, row)
        case .function(.coalesce, let arguments): return arguments.map { operand($0, row) }.first { $0 != .null } ?? .null
        case .function(let function, let arguments):
            let values = arguments.map { operand($0, row) }
            return values.contains(.null) ? .null : apply(function, values)
        }
    }

    /// Returns the destination rows of relationships, once for each path to them.
    func members(_ path: PropertyPath, _ row: Row) -> [Row] {
        path.names.reduce([row]) { rows, name in rows.flatMap { next($0, name) } }
    }

    func next(_ row: Row, _ name: String) -> [Row] {
        if let related {
            let keys = related[row.key]?[name] ?? []
            return keys.compactMap { key in rows.first { $0.key == key } }
        }
        return switch name {
        case "children": rows.filter { $0.entity == "Thing" && $0.values["parent"] == .int(row.key) }
        case "holders": rows.filter { $0.entity == "Holder" && $0.values["thing"] == .int(row.key) }
        case "tags": tagged.filter { $0.thing == row.key }.flatMap { pair in rows.filter { $0.entity == "Tag" && $0.key == pair.tag } }
        case "things": tagged.filter { $0.tag == row.key }.flatMap { pair in rows.filter { $0.entity == "Thing" && $0.key == pair.thing } }
        default: rows.filter { $0.entity == "Thing" && .int($0.key) == row.values[name] }
        }
    }

    /// Returns the same store for the conditions on the objects related to a row.
    func inside(_ row: Row) -> ReferenceStore {
        var store = self
        store.outer.append(row)
        return store
    }

    private func related(_ aggregate: RelatedAggregate, _ row: Row) -> Value {
        let seen = inside(row)
        let found = members(aggregate.relationship, row).filter { member in aggregate.predicate.map { seen.holds($0, member) } ?? true }
        guard let property = aggregate.property else { return .int(Int64(found.count)) }
        let type = type(PropertyPath(aggregate.relationship.names + property.names), of: row.entity)
        if let result = self.aggregate(aggregate.function, found.map { value(property, $0) }, type) { return result }
        isUnknown.withLock { $0 = true }
        return .null
    }

    /// Returns a needle folded like the text of an expression.
    func folded(_ value: Value, like expression: QueryExpression) -> Value {
        guard case .function(.folded(let options), _) = expression.node, value != .null else { return value }
        return apply(.folded(options), [value])
    }

    private func apply(_ function: Function, _ values: [Value]) -> Value {
        switch (function, values[0]) {
        case (.folded(let options), .string(let text)):
            var text = text
            if options.contains(.diacriticInsensitive) {
                // Foundation's folding keeps a combining mark that stands alone.
                let decomposed = text.decomposedStringWithCanonicalMapping.unicodeScalars
                text = String(String.UnicodeScalarView(decomposed.filter { $0.properties.generalCategory != .nonspacingMark }))
            }
            // Foundation's folding tables: the cases use only letters that Polystore folds in the same way.
            if options.contains(.caseInsensitive) { text = text.lowercased() }
            return .string(text)
        case (.uppercase, .string(let text)): return .string(text.uppercased())
        case (.lowercase, .string(let text)): return .string(text.lowercased())
        case (.trim, .string(let text)): return .string(text.trimmingCharacters(in: .whitespacesAndNewlines))
        case (.length, .string(let text)): return .int(Int64(text.unicodeScalars.count))
        case (.concatenate, _): return .string(values.map { if case .string(let text) = $0 { text } else { "" } }.joined())
        case (.floor, .double(let number)): return .double(number.rounded(.down))
        case (.ceiling, .double(let number)): return .double(number.rounded(.up))
        case (.round, .double(let number)): return .double(number.rounded())
        case (.floor, _), (.ceiling, _), (.round, _): return values[0]
        case (.negate, .int(let number)): return number == .min ? unknown() : .int(-number)
        case (.negate, .double(let number)): return .double(-number)
        default: return values.count == 2 ? arithmetic(function, values[0], values[1]) : .null
        }
    }

    private func arithmetic(_ function: Function, _ a: Value, _ b: Value) -> Value {
        switch (a, b) {
        case (.int(let x), .int(let y)):
            let (x, y) = (Int128(x), Int128(y))
            let result: Int128? =
                switch function {
                case .add: x + y
                case .subtract: x - y
                case .multiply: x * y
                case .divide: y == 0 ? nil : x / y
                case .modulo: y == 0 ? nil : x % y
                case .bitAnd: x & y
                case .bitOr: x | y
                default: nil
                }
            return result.flatMap(Int64.init(exactly:)).map(Value.int) ?? unknown()
        case (.decimal(let x), .decimal(let y)):
            // Foundation rounds numbers with more digits differently from the contract.
            if [x, y].contains(where: { $0.significand.description.count > 15 }) || abs(x) > 1_000_000 || abs(y) > 1_000_000 {
                return unknown()
            }
            switch function {
            case .add: return .decimal(Self.rounded(x + y))
            case .subtract: return .decimal(Self.rounded(x - y))
            case .multiply: return .decimal(Self.rounded(x * y))
            default: return function == .divide && y != 0 ? .decimal(Self.rounded(x / y)) : unknown()
            }
        case (.decimal, .int(let y)): return arithmetic(function, a, .decimal(Decimal(y)))
        case (.int(let x), .decimal): return arithmetic(function, .decimal(Decimal(x)), b)
        default:
            guard let x = real(a), let y = real(b) else { return .null }
            let result =
                switch function {
                case .add: x + y
                case .subtract: x - y
                case .multiply: x * y
                case .divide: x / y
                default: fmod(x, y)
                }
            return result.isFinite || !result.isNaN && !(x.isFinite && y.isFinite) ? .double(result) : unknown()
        }
    }

    /// Returns the placeholder for a value that the reference cannot determine, or that is an error.
    func unknown() -> Value {
        isUnknown.withLock { $0 = true }
        return .null
    }

    private func real(_ value: Value) -> Double? {
        switch value {
        case .double(let number): number
        case .int(let number): Double(number)
        case .decimal(let number): Double("\(number)")
        default: nil
        }
    }

    func matches(_ text: String, _ match: TextMatch, _ needle: String) -> Bool {
        let bytes = Array(text.utf8), wanted = Array(needle.utf8)
        switch match {
        case .beginsWith: return bytes.prefix(wanted.count) == wanted[...]
        case .endsWith: return bytes.suffix(wanted.count) == wanted[...]
        case .contains:
            if wanted.count > bytes.count { return false }
            return (0...(bytes.count - wanted.count)).contains { Array(bytes[$0..<($0 + wanted.count)]) == wanted }
        case .search: return isFound(text, needle)
        case .like: return isLike(Array(text.unicodeScalars)[...], Array(needle.unicodeScalars)[...])
        case .matches:
            // Foundation's regular expressions, matched against the complete text.
            guard let expression = try? NSRegularExpression(pattern: "\\A(?:\(needle))\\z", options: .dotMatchesLineSeparators) else {
                return false
            }
            return expression.firstMatch(in: text, range: NSRange(text.startIndex..., in: text)) != nil
        }
    }

    private func isLike(_ text: ArraySlice<Unicode.Scalar>, _ pattern: ArraySlice<Unicode.Scalar>) -> Bool {
        guard let first = pattern.first else { return text.isEmpty }
        let rest = pattern.dropFirst()
        switch first {
        case "*": return isLike(text, rest) || (!text.isEmpty && isLike(text.dropFirst(), pattern))
        case "?": return !text.isEmpty && isLike(text.dropFirst(), rest)
        case "\\":
            guard let literal = rest.first else { return text.count == 1 && text.first == "\\" }
            return text.first == literal && isLike(text.dropFirst(), rest.dropFirst())
        default: return text.first == first && isLike(text.dropFirst(), rest)
        }
    }
}
