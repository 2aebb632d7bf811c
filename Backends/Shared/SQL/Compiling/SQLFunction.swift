internal import PolystoreStorage

/// The SQL of a function in which all engines agree with each other and with the contract. What they do not agree on is the dialect's
/// (`SQLDialect.function`); what neither has is computed above the store.
struct SQLFunction: Sendable {
    /// Returns a function of the given arguments, whose SQL is also given, with a result of a type; nil for arguments that it is not the same
    /// for.
    var standard: (@Sendable (_ arguments: [CheckedExpression], _ texts: [SQLText], _ type: ValueType) -> SQLText?)?
    /// Returns the function of whole numbers of 64 bits.
    var whole: (@Sendable (_ numbers: [SQLText]) -> SQLText)?
    /// Returns the function of whole numbers of any size, for one that can fail with 64 bits.
    var wide: (@Sendable (_ numbers: [SQLText]) -> SQLText)?
    /// Whether it fails for a second number that is zero.
    var divides = false

    /// Returns the SQL of a function, which is empty for one that is not in the table.
    static func of(_ function: Function) -> SQLFunction { all[function] ?? SQLFunction() }

    private static let all: [Function: SQLFunction] = [
        .add: arithmetic { "(\($0[0]) + \($0[1]))" },
        .subtract: arithmetic { "(\($0[0]) - \($0[1]))" },
        .multiply: arithmetic { "(\($0[0]) * \($0[1]))" },
        .divide: SQLFunction(
            whole: { "(\($0[0]) / \($0[1]))" }, wide: { "div(\($0[0]), NULLIF(\($0[1]), 0))" }, divides: true),
        .modulo: SQLFunction(
            whole: { "(\($0[0]) % \($0[1]))" }, wide: { "mod(\($0[0]), NULLIF(\($0[1]), 0))" }, divides: true),
        .negate: arithmetic { "(- \($0[0]))" },
        .absolute: arithmetic { "abs(\($0[0]))" },
        .floor: SQLFunction(whole: { $0[0] }),
        .ceiling: SQLFunction(whole: { $0[0] }),
        .round: SQLFunction(whole: { $0[0] }),
        .bitAnd: SQLFunction(whole: { "(\($0[0]) & \($0[1]))" }),
        .bitOr: SQLFunction(whole: { "(\($0[0]) | \($0[1]))" }),
        .length: SQLFunction(standard: { _, texts, _ in "length(\(texts[0]))" }),
        .concatenate: SQLFunction(standard: { _, texts, _ in "(\(SQLText.joinedChain(texts, " || ")))" }),
        .coalesce: SQLFunction(standard: { arguments, texts, type in
            // An engine computes only the values up to the first one that is not nil, and gives it in the type that it has.
            if arguments.contains(where: { $0.type != type || $0.canFail }) { return nil }
            // SQLite's takes two arguments or more.
            return texts.count == 1 ? texts[0] : "COALESCE(\(SQLText.joined(texts, ", ")))"
        }),
    ]

    /// Returns a function of numbers that is written alike for all sizes.
    private static func arithmetic(_ text: @escaping @Sendable (_ numbers: [SQLText]) -> SQLText) -> SQLFunction {
        SQLFunction(whole: text, wide: text)
    }
}
