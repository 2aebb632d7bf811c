internal import PolystoreQuery

/// A regular expression in the server's syntax ("advanced regular expressions", PostgreSQL's documentation, section 9.7.3).
///
/// Scalars are written by their numbers and groups without captures, so that the server needs no back-references: its matcher then follows
/// all states at once as well.
struct PostgreSQLPattern {
    /// The greatest number of steps of a pattern that is left to the server. Its compiler takes a time that grows with the third power of
    /// the number: 50 ms for 200 optional parts in a row, 7 seconds for 800 nested ones.
    private static let mostSteps = 200
    /// The greatest number of transitions of a pattern that is left to the server. Its compiler takes up to 200 ms for 500 of them, and 23
    /// seconds for the 10,000 of a hundred optional parts that exclude a different scalar each.
    private static let mostTransitions = 500
    /// The greatest number of repetitions that the server accepts (`DUPMAX`).
    private static let mostRepetitions = 255

    /// The pattern in the server's syntax.
    let text: String

    /// Translates a pattern; returns nil if the server cannot evaluate it.
    init?(_ pattern: String) {
        guard let root = try? Pattern(pattern).root, root.steps <= Self.mostSteps, Self.hasFewTransitions(root) else { return nil }
        guard let text = Self.text(root, isFirst: true, isLast: true) else { return nil }
        self.text = "^\(text)$"
    }

    /// Returns a part in the server's syntax; nil if the server cannot evaluate it.
    ///
    /// - Parameters:
    ///   - isFirst: Whether the part begins where the text begins, so that it needs no anchor for the start.
    ///   - isLast: Whether the part ends where the text ends.
    private static func text(_ node: PatternNode, isFirst: Bool = false, isLast: Bool = false) -> String? {
        // It matches the empty text alone.
        if node.steps == 0 { return "(?:)" }
        switch node {
        case .scalar(let accepted): return text(accepted.sortedRanges)
        // Anchors at other positions, above all repeated ones, make some automatons of the server too large for it.
        case .start: return isFirst ? "(?:)" : nil
        case .end: return isLast ? "(?:)" : nil
        case .sequence(let parts): return sequence(parts, isFirst, isLast)
        case .alternation(let branches):
            let texts = branches.compactMap { text($0, isFirst: isFirst, isLast: isLast) }
            return texts.count == branches.count ? "(?:\(texts.joined(separator: "|")))" : nil
        case .repeated(let part, let least, let most):
            if max(least, most ?? 0) > mostRepetitions { return nil }
            return text(part, isFirst: isFirst && most == 1, isLast: isLast && most == 1).map {
                "(?:\($0){\(least),\(most.map(String.init) ?? "")})"
            }
        }
    }

    private static func sequence(_ parts: [PatternNode], _ isFirst: Bool, _ isLast: Bool) -> String? {
        // The server's parser calls itself for each part.
        let parts = parts.filter { $0.steps > 0 }
        let start = parts.prefix { if case .start = $0 { true } else { false } }.count
        let end = parts.count - parts.reversed().prefix { if case .end = $0 { true } else { false } }.count
        let texts = parts.enumerated().compactMap { text($1, isFirst: isFirst && $0 <= start, isLast: isLast && $0 >= end - 1) }
        return texts.count == parts.count ? "(?:\(texts.joined()))" : nil
    }

    private static func text(_ ranges: [ClosedRange<UInt32>]) -> String? {
        // A text of the server has no scalar with the number zero, and its syntax no class without members.
        let ranges = ranges.filter { $0.upperBound > 0 }.map { max($0.lowerBound, 1)...$0.upperBound }
        if ranges.isEmpty { return nil }
        return "[\(ranges.map { "\(scalar($0.lowerBound))-\(scalar($0.upperBound))" }.joined())]"
    }

    /// Whether the server's automaton stays small. Scalars that the same parts accept form a group, and each part has a transition for each
    /// group that it accepts.
    private static func hasFewTransitions(_ root: PatternNode) -> Bool {
        var counts: [[ClosedRange<UInt32>]: Int] = [:]
        count(root, 1, &counts)
        let classes = Array(counts)
        var edges: [(scalar: UInt32, index: Int)] = []
        for (index, accepted) in classes.enumerated() {
            for range in accepted.key { edges += [(range.lowerBound, index), (range.upperBound + 1, index)] }
        }
        edges.sort { $0.scalar < $1.scalar }
        var accepting: Set<Int> = [], groups: Set<Set<Int>> = [], transitions = 0
        for (position, edge) in edges.enumerated() {
            accepting.formSymmetricDifference([edge.index])
            if position + 1 < edges.count, edges[position + 1].scalar == edge.scalar { continue }
            if groups.insert(accepting).inserted { transitions += accepting.reduce(0) { $0 + classes[$1].value } }
            if transitions > mostTransitions { return false }
        }
        return true
    }

    /// Counts the occurrences of each class in a part that is repeated a number of times.
    private static func count(_ node: PatternNode, _ times: Int, _ counts: inout [[ClosedRange<UInt32>]: Int]) {
        // Nested repetitions of nothing can have any number.
        if node.steps == 0 { return }
        switch node {
        case .scalar(let accepted): counts[accepted.sortedRanges, default: 0] += times
        case .start, .end: break
        case .sequence(let parts), .alternation(let parts): for part in parts { count(part, times, &counts) }
        case .repeated(let part, let least, let most): count(part, times * (most ?? (least + 1)), &counts)
        }
    }

    private static func scalar(_ number: UInt32) -> String {
        let digits = String(number, radix: 16)
        return "\\U" + String(repeating: "0", count: 8 - digits.count) + digits
    }
}
