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
        let (names, start) = place(path, row)
        return names.reduce([start]) { rows, name in rows.flatMap { next($0, name) } }
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

    /// The related row that a relationship of an object means within a condition with a quantifier.
    struct Bound {
        let relationship: [String]
        let object: Row
        let member: Row
    }

    /// Returns the names of a key path and the row at which it begins.
    func place(_ path: PropertyPath, _ row: Row) -> ([String], Row) {
        let names = path == .object ? [] : path.names
        guard let bound, bound.object.key == row.key, bound.object.entity == row.entity, names.starts(with: bound.relationship) else {
            return (names, row)
        }
        return (Array(names.dropFirst(bound.relationship.count)), bound.member)
    }

    /// Returns the relationship of `ANY children.children.number == 2`: all names up to the last one that means several rows of the fixture.
    /// Random programs have no such conditions.
    func relationship(_ condition: QueryPredicate) -> [String] {
        func isMany(_ name: String) -> Bool { ["children", "holders", "tags", "things"].contains(name) }
        // In `ANY parent IN tags.things` the last one is that of the list.
        if case .related(_, let path, _) = condition.node {
            return path.names.dropLast().lastIndex(where: isMany).map { Array(path.names[...$0]) } ?? []
        }
        var found: [String] = []
        _ = condition.changingPaths { own in
            if found.isEmpty, let last = own.names.lastIndex(where: isMany) { found = Array(own.names[...last]) }
            return own
        }
        return found
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

    /// Returns the placeholder for a value that the reference cannot determine, or that is an error.
    func unknown() -> Value {
        isUnknown.withLock { $0 = true }
        return .null
    }

    func matches(_ text: String, _ match: TextMatch, _ needle: String) -> Bool {
        let bytes = Array(text.utf8), wanted = Array(needle.utf8)
        switch match {
        case .beginsWith: return bytes.prefix(wanted.count) == wanted[...]
        case .endsWith: return bytes.suffix(wanted.count) == wanted[...]
        case .contains:
            if wanted.count > bytes.count { return false }
            return (0...(bytes.count - wanted.count)).contains { start in wanted.indices.allSatisfy { bytes[start + $0] == wanted[$0] } }
        case .search: return isFound(text, needle)
        case .like: return isLike(Array(text.unicodeScalars), Array(needle.unicodeScalars))
        case .matches:
            // Foundation's regular expressions, matched against the complete text.
            guard let expression = try? NSRegularExpression(pattern: "\\A(?:\(needle))\\z", options: .dotMatchesLineSeparators) else {
                return false
            }
            return expression.firstMatch(in: text, range: NSRange(text.startIndex..., in: text)) != nil
        }
    }

    /// Compares from left to right. After a difference the newest star takes one more scalar.
    private func isLike(_ text: [Unicode.Scalar], _ pattern: [Unicode.Scalar]) -> Bool {
        var t = 0, p = 0, star: (pattern: Int, text: Int)?
        while t < text.count || p < pattern.count {
            if p < pattern.count, pattern[p] == "*" {
                star = (p, t)
                p += 1
                continue
            }
            let isEscaped = p + 1 < pattern.count && pattern[p] == "\\"
            if t < text.count, p < pattern.count, isEscaped ? pattern[p + 1] == text[t] : pattern[p] == "?" || pattern[p] == text[t] {
                p += isEscaped ? 2 : 1
                t += 1
                continue
            }
            guard let last = star, last.text < text.count else { return false }
            star = (last.pattern, last.text + 1)
            (p, t) = (last.pattern + 1, last.text + 1)
        }
        return true
    }
}
