internal import PolystoreFoundation
internal import PolystoreStorage

/// The form that plans have in common which differ only in constants that are bindings of their statements, and the constants of one plan.
///
/// In the form each such constant is replaced by a mark: a random value of its kind that no program uses, the same for the constants at one
/// position. The statement of the form is that of all these plans, and the marks among its bindings show which constants they get. The
/// constants that remain are those by which statements differ: nil and Booleans, those of partial indexes and of functions, patterns, searches
/// and needles that are folded in another way by the engine, and the lists that are several bindings, by their lengths.
struct SQLTemplate {
    private let tables: SQLTables
    private(set) var constants: [Constant] = []

    /// A constant of a plan.
    enum Constant {
        case value(Value)
        case list([Value])
    }

    init(_ tables: SQLTables) { self.tables = tables }

    // MARK: Marks

    /// The maximum number of constants that are replaced.
    private static let mostConstants = 64
    private static let numbers: [Int64] = {
        let first = Int64.random(in: 1 << 60..<1 << 61)
        return (0..<Int64(mostConstants)).map { first + $0 }
    }()
    private static let doubles = numbers.map { Double($0 % (1 << 50)) + 0.5 }
    // What follows the texts that begin with a mark is no mark.
    private static let texts = numbers.map { "mark \($0)." }
    private static let decimals = numbers.map { Decimal($0) }
    private static let uuids = numbers.map { _ in UUID() }
    // Data of up to 14 bytes holds them itself; the leak sanitizer does not see what a static of longer ones refers to.
    private static let bytes = numbers.map { Data(withUnsafeBytes(of: $0, Array.init)) }
    /// The positions of all marks, and of the texts after those that begin with one.
    private static let positions: [Value: Int] = {
        var positions: [Value: Int] = [:]
        for position in 0..<mostConstants {
            for type in ValueType.allCases { if let mark = mark(position, type) { positions[mark] = position } }
        }
        return positions
    }()
    private static let ends: [String: Int] = {
        var ends: [String: Int] = [:]
        for (position, text) in texts.enumerated() { if let end = ExactText.end(of: text) { ends[end] = position } }
        return ends
    }()

    /// Returns the mark of a position; nil for a type with so few values that a constant could be equal to one.
    private static func mark(_ position: Int, _ type: ValueType?) -> Value? {
        switch type {
        case nil, .bool: nil
        case .int16, .int32, .int64: .int(numbers[position])
        case .float, .double: .double(doubles[position])
        case .decimal: .decimal(decimals[position])
        case .string, .url: .string(texts[position])
        case .date: .date(numbers[position])
        case .uuid: .uuid(uuids[position])
        case .data: .data(bytes[position])
        }
    }

    private mutating func replaced(_ value: Value) -> Value {
        guard constants.count < Self.mostConstants, isReplaceable(value), let mark = Self.mark(constants.count, value.type) else {
            return value
        }
        constants.append(.value(value))
        return mark
    }

    /// Whether the engine computes with a constant as with others of its type.
    private func isReplaceable(_ value: Value) -> Bool { SQLPredicates(tables: tables).takes(value) }

    private mutating func replaced(_ needle: ExactText) -> ExactText { ExactText(replaced(.string(needle.text)).text) }

    private mutating func replaced(_ values: [Value], _ type: ValueType) -> [Value] {
        // One binding for each value, or one for all of them.
        guard tables.dialect.variables(2, type) == 1 else { return values.map { replaced($0) } }
        guard constants.count < Self.mostConstants, values.allSatisfy(isReplaceable), let first = values.first,
            let mark = Self.mark(constants.count, first.type)
        else { return values }
        constants.append(.list(values))
        return [mark]
    }

    // MARK: Forms

    /// Returns the form of a fetch.
    mutating func form(_ plan: FetchPlan) -> FetchPlan {
        var form = plan
        form.predicate = self.form(plan.predicate)
        if let limit = plan.limit { form.limit = replaced(limit) }
        if plan.offset > 0 { form.offset = replaced(plan.offset) }
        return form
    }

    private mutating func replaced(_ number: Int) -> Int {
        if case .int(let mark) = replaced(.int(Int64(number))) { Int(mark) } else { number }
    }

    /// Returns the form of a value query. What is done with the groups above the engine is no part of it.
    mutating func form(_ plan: QueryPlan) -> QueryPlan {
        var form = plan
        form.fetch = self.form(plan.fetch)
        if case .groups(let grouping) = plan.kind {
            form.kind = .groups(QueryPlan.Grouping(keys: grouping.keys, aggregates: grouping.aggregates, outputs: []))
        }
        return form
    }

    /// Returns the form of an update.
    mutating func form(_ update: BatchUpdate) -> BatchUpdate {
        var assignments: [(slot: Int, value: CheckedExpression)] = []
        for (slot, value) in update.assignments { assignments.append((slot, side(value))) }
        return BatchUpdate(fetch: form(update.fetch), assignments: assignments)
    }

    private mutating func form(_ predicate: CheckedPredicate) -> CheckedPredicate {
        switch predicate {
        case .constant, .isNil, .isEntity: return predicate
        case .compare(.path(let path), let comparison, .value(let value, _)):
            return tables.partialIndexes.contains(path, comparison, value) ? predicate : .compare(path, comparison, replaced(value))
        case .compare(let a, let comparison, let b):
            return isFolded(a) || isFolded(b) ? predicate : .compare(side(a), comparison, side(b))
        case .isIn(let expression, let values):
            return isFolded(expression) ? predicate : .isIn(expression, replaced(values, expression.type))
        case .text(let expression, let match, let needle):
            return isFolded(expression) || !canReplace(needle, match) ? predicate : .text(expression, match, replaced(needle))
        case .related(let members):
            return .related(
                CheckedMembers(
                    hops: members.hops, destination: members.destination, predicate: form(members.predicate), text: members.text))
        case .and(let parts): return .and(forms(parts))
        case .or(let parts): return .or(forms(parts))
        case .not(let part): return .not(form(part))
        }
    }

    private mutating func forms(_ parts: [CheckedPredicate]) -> [CheckedPredicate] {
        var forms: [CheckedPredicate] = []
        for part in parts { forms.append(form(part)) }
        return forms
    }

    /// Returns the form of a side of a comparison. A constant within an expression can decide how it is computed.
    private mutating func side(_ expression: CheckedExpression) -> CheckedExpression {
        if case .value(let value, let type) = expression { .value(replaced(value), type) } else { expression }
    }

    private func canReplace(_ needle: ExactText, _ match: TextMatch) -> Bool {
        switch match {
        case .beginsWith: ExactText.end(of: needle.text) != nil
        case .endsWith, .contains: true
        case .like, .matches, .search: false
        }
    }

    /// Whether an expression folds a text, and the engine evaluates only what follows from the condition: a pattern made of the constant.
    private func isFolded(_ expression: CheckedExpression) -> Bool {
        if case .function(.folded, _, _) = expression { tables.dialect.foldASCII != nil } else { false }
    }

    // MARK: Bindings

    /// Returns the binding of a plan for a binding of the statement of its form.
    func binding(_ binding: SQLBinding) -> SQLBinding {
        switch binding {
        case .value(let value, let type):
            if case .value(let constant)? = Self.positions[value].map({ constants[$0] }) { return .value(constant, type) }
            if case .string(let text) = value, case .value(let prefix)? = Self.ends[text].map({ constants[$0] }) {
                return .value(.string(ExactText.end(of: prefix.text) ?? ""), type)
            }
            return binding
        case .list(let values, let type):
            guard values.count == 1, case .list(let constants)? = Self.positions[values[0]].map({ constants[$0] }) else { return binding }
            return .list(constants, type)
        }
    }
}
