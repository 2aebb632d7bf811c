internal import PolystoreQuery

/// A regular expression in the server's syntax ("advanced regular expressions", PostgreSQL's documentation, section 9.7.3).
///
/// Scalars are written by their numbers and groups without captures, so that the server needs no back-references: its matcher then follows
/// all states at once as well.
struct PostgreSQLPattern {
    /// The greatest number of steps of a pattern that is left to the server. Its compiler takes a time that grows with the third power of
    /// the number: 50 ms for 200 optional parts in a row, 7 seconds for 800 nested ones.
    private static let mostSteps = 200
    /// The greatest number of repetitions that the server accepts (`DUPMAX`).
    private static let mostRepetitions = 255

    /// The pattern in the server's syntax.
    let text: String

    /// Translates a pattern; returns nil if the server cannot evaluate it.
    init?(_ pattern: String) {
        guard let root = try? Pattern(pattern).root, root.steps <= Self.mostSteps, let text = Self.text(root) else { return nil }
        self.text = "^\(text)$"
    }

    private static func text(_ node: PatternNode) -> String? {
        switch node {
        case .scalar(let accepted): text(accepted.sortedRanges)
        case .start: "(?:^)"
        case .end: "(?:$)"
        case .sequence(let parts): group(parts, "")
        case .alternation(let branches): group(branches, "|")
        case .repeated(_, _, let most?) where most > mostRepetitions: nil
        case .repeated(_, let least, _) where least > mostRepetitions: nil
        case .repeated(let part, let least, let most):
            text(part).map { "(?:\($0){\(least),\(most.map(String.init) ?? "")})" }
        }
    }

    private static func group(_ parts: [PatternNode], _ separator: String) -> String? {
        let texts = parts.compactMap(text)
        return texts.count == parts.count ? "(?:\(texts.joined(separator: separator)))" : nil
    }

    private static func text(_ ranges: [ClosedRange<UInt32>]) -> String? {
        // A text of the server has no scalar with the number zero, and its syntax no class without members.
        let ranges = ranges.filter { $0.upperBound > 0 }.map { max($0.lowerBound, 1)...$0.upperBound }
        if ranges.isEmpty { return nil }
        return "[\(ranges.map { "\(scalar($0.lowerBound))-\(scalar($0.upperBound))" }.joined())]"
    }

    private static func scalar(_ number: UInt32) -> String {
        let digits = String(number, radix: 16)
        return "\\U" + String(repeating: "0", count: 8 - digits.count) + digits
    }
}
