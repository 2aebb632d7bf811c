internal import Foundation
internal import PolystoreStorage

/// The naive reference: rows in an array, and requests answered by plain loops that follow the contract, without any part of the evaluator
/// that the stores use. Agreement is meaningful because the two implementations are so different.
struct ReferenceStore: Sendable {
    var rows: [Row]
    /// The pairs of things and tags of the fixture.
    var tagged: [(thing: Int64, tag: Int64)] = []
    var schema = Fixture.schema
    /// The destinations of relationships, by key and name, in a graph whose keys are unique across all entities; nil for the fixture, whose
    /// rows contain them.
    var related: [Int64: [String: [Int64]]]?
    /// The keys by which objects are compared, if they differ from the keys that identify rows here.
    var identities: [Int64: Int64] = [:]
    /// The positions of keys in the order of a store, if it differs from the order of the keys themselves.
    var positions: [Int64: Int] = [:]
    /// Whether a request needed a value that the reference cannot determine, such as an overflow.
    let isUnknown = SharedValue(false)

    /// The outer objects of the enclosing conditions on related objects, outermost first.
    var outer: [Row] = []

    /// The related row of the enclosing condition with a quantifier.
    var bound: Bound?

    /// The rows of the fixture.
    static let fixture = ReferenceStore(
        rows: Fixture.things.map { Row(key: $0.0, entity: "Thing", version: 1, values: $0.1) }
            + Fixture.holders.map { Row(key: $0.0, entity: "Holder", version: 1, values: $0.1) }
            + Fixture.tags.map { Row(key: $0.0, entity: "Tag", version: 1, values: $0.1) }, tagged: Fixture.tagged)

    /// Returns the rows of a request, in its order.
    func fetch(_ request: ObjectRequest) -> [Row] {
        let entities = request.includesSubentities ? family(request.entity) : [request.entity]
        let matching = rows.filter { row in entities.contains(row.entity) && (request.predicate.map { holds($0, row) } ?? true) }
        // The keys of a single row are computed too: they can fail.
        let keyed = matching.map { row in (row: row, keys: request.order.map { operand($0.expression, row) }) }
        let sorted = keyed.sorted { a, b in
            for (position, key) in request.order.enumerated() {
                let order = Self.order(a.keys[position], b.keys[position])
                if order != 0 { return key.ascending ? order < 0 : order > 0 }
            }
            return position(a.row) < position(b.row)
        }.map(\.row)
        let rest = sorted.dropFirst(request.offset)
        return Array(request.limit.map { rest.prefix($0) } ?? rest)
    }

    /// Returns the keys of a request.
    func keys(_ request: ObjectRequest) -> [Int64] { fetch(request).map(\.key) }

    /// Returns the value at the end of a key path, or nil if a relationship on the path is nil or has no destination.
    func value(_ path: PropertyPath, _ row: Row) -> Value {
        var (names, current) = place(path, row)
        if names.isEmpty { names = ["SELF"] }
        for (position, name) in names.enumerated() {
            if name == "SELF" { return .int(identities[current.key] ?? current.key) }
            if position == names.count - 1 { return current.values[name] ?? .null }
            guard let next = next(current, name).first else { return .null }
            current = next
        }
        return .null
    }

    private func position(_ row: Row) -> Int { positions[row.key] ?? Int(row.key) }

    /// Returns the names of an entity and all its subentities.
    func family(_ name: String) -> Set<String> {
        guard let index = schema.index(of: name) else { return [] }
        return Set(schema[index].family.map { schema.entities[$0].name })
    }

    /// Returns the type of the value at the end of a path; that of a key for an object.
    func type(_ path: PropertyPath, of entity: String) -> ValueType {
        guard var description = schema.index(of: entity).map({ schema[$0] }) else { return .int64 }
        for name in path.names {
            if let found = description.relationship(name) {
                description = schema[found.destination]
            } else if let slot = description.slot(name) {
                return description.slots[slot].type
            }
        }
        return .int64
    }

    /// Evaluates a predicate in two-valued logic, as in Swift.
    func holds(_ predicate: QueryPredicate, _ row: Row) -> Bool {
        switch predicate.node {
        case .constant(let value): return value
        case .compare(let a, let comparison, let b): return holds(operand(a, row), comparison, operand(b, row))
        case .isIn(let expression, let list):
            let found = operand(expression, row)
            return list.contains { Self.order(found, folded($0, like: expression)) == 0 }
        case .between(let expression, let low, let high):
            let found = operand(expression, row)
            return holds(found, .greaterOrEqual, operand(low, row)) && holds(found, .lessOrEqual, operand(high, row))
        case .text(let expression, let match, let needle):
            if match == .search, case .string(let text) = operand(expression, row) { return isFound(text, needle) }
            guard case .string(let text) = operand(expression, row), case .string(let wanted) = folded(.string(needle), like: expression)
            else { return false }
            return matches(text, match, wanted)
        case .related(let quantifier, let path, let inner):
            let seen = inside(row), found = members(path, row).map { seen.holds(inner, $0) }
            return Self.holds(quantifier, found)
        case .quantified(let quantifier, let inner):
            let relationship = relationship(inner)
            func isTrue(of member: Row) -> Bool {
                var seen = self
                seen.bound = Bound(relationship: relationship, object: row, member: member)
                return seen.holds(inner, row)
            }
            return Self.holds(quantifier, members(PropertyPath(relationship), row).map(isTrue))
        // A variable has no value until one is assigned.
        case .open: return false
        case .isEntity(let name): return family(name).contains(row.entity)
        case .and(let parts): return parts.allSatisfy { holds($0, row) }
        case .or(let parts): return parts.contains { holds($0, row) }
        case .not(let part): return !holds(part, row)
        }
    }

    private static func holds(_ quantifier: Quantifier, _ found: [Bool]) -> Bool {
        switch quantifier {
        case .any: found.contains(true)
        case .all: !found.contains(false)
        case .none: !found.contains(true)
        }
    }

    func holds(_ a: Value, _ comparison: Comparison, _ b: Value) -> Bool {
        let hasNil = a == .null || b == .null
        switch comparison {
        case .equal: return Self.order(a, b) == 0
        case .notEqual: return Self.order(a, b) != 0
        case .less: return !hasNil && Self.order(a, b) < 0
        case .lessOrEqual: return !hasNil && Self.order(a, b) <= 0
        case .greater: return !hasNil && Self.order(a, b) > 0
        case .greaterOrEqual: return !hasNil && Self.order(a, b) >= 0
        }
    }

    /// Compares two values. Nil is the smallest; numbers of different types are compared as exact fractions.
    static func order(_ a: Value, _ b: Value) -> Int {
        switch (a, b) {
        case (.null, .null): return 0
        case (.null, _): return -1
        case (_, .null): return 1
        case (.string(let x), .string(let y)): return lexical(Array(x.utf8), Array(y.utf8))
        case (.data(let x), .data(let y)): return lexical(Array(x), Array(y))
        case (.uuid(let x), .uuid(let y)): return lexical(bytes(x), bytes(y))
        case (.bool(let x), .bool(let y)): return x == y ? 0 : (y ? -1 : 1)
        case (.date(let x), .date(let y)), (.int(let x), .int(let y)): return x == y ? 0 : (x < y ? -1 : 1)
        case (.double(let x), .double(let y)): return x == y ? 0 : (x < y ? -1 : 1)
        case (.int, _), (.double, _), (.decimal, _): return ReferenceNumber.order(a, b)
        // Values of different types are never compared.
        case (.bool, _), (.string, _), (.date, _), (.uuid, _), (.data, _): return -2
        }
    }

    private static func bytes(_ uuid: UUID) -> [UInt8] { withUnsafeBytes(of: uuid.uuid) { Array($0) } }

    private static func lexical(_ a: [UInt8], _ b: [UInt8]) -> Int {
        for (x, y) in zip(a, b) where x != y { return x < y ? -1 : 1 }
        return a.count == b.count ? 0 : (a.count < b.count ? -1 : 1)
    }
}

/// A number as decimal digits: sign, digits, exponent. Every value of the contract has an exact form of this kind.
struct ReferenceNumber {
    private var isNegative = false
    private var isInfinite = false
    /// The digits without leading zeros; the value is 0.d1d2d3… × 10^exponent.
    private var digits: [UInt8] = []
    private var exponent = 0

    static func order(_ a: Value, _ b: Value) -> Int {
        guard let x = ReferenceNumber(a), let y = ReferenceNumber(b) else { return -2 }
        return x.order(y)
    }

    private init?(_ value: Value) {
        switch value {
        case .int(let number): self.init(text: String(number))
        case .decimal(let number): self.init(text: number.description)
        case .double(let number):
            if number.isInfinite {
                self.init(text: number < 0 ? "-" : "")
                isInfinite = true
                isNegative = number < 0
            } else {
                self.init(text: String(format: "%.1100f", number))
            }
        case .null, .bool, .string, .date, .uuid, .data: return nil
        }
    }

    private init(text: String) {
        isNegative = text.hasPrefix("-")
        let parts = text.drop { $0 == "-" }.split(separator: ".", omittingEmptySubsequences: false)
        let whole = parts[0].drop { $0 == "0" }, fraction = parts.count > 1 ? parts[1] : ""
        digits = (whole + fraction).utf8.map { $0 - 0x30 }
        exponent = whole.count
        while digits.first == 0 {
            digits.removeFirst()
            exponent -= 1
        }
        while digits.last == 0 { digits.removeLast() }
        if digits.isEmpty {
            isNegative = false
            exponent = 0
        }
    }

    private func order(_ other: ReferenceNumber) -> Int {
        if isNegative != other.isNegative { return isNegative ? -1 : 1 }
        let order = magnitude(other)
        return isNegative ? -order : order
    }

    private func magnitude(_ other: ReferenceNumber) -> Int {
        if isInfinite || other.isInfinite { return isInfinite == other.isInfinite ? 0 : (isInfinite ? 1 : -1) }
        if digits.isEmpty || other.digits.isEmpty { return digits.isEmpty ? (other.digits.isEmpty ? 0 : -1) : 1 }
        if exponent != other.exponent { return exponent < other.exponent ? -1 : 1 }
        for (x, y) in zip(digits, other.digits) where x != y { return x < y ? -1 : 1 }
        return digits.count == other.digits.count ? 0 : (digits.count < other.digits.count ? -1 : 1)
    }
}
