/// A regular expression that matches a whole text in time proportional to the length of the text times that of the pattern.
///
/// It supports literals, `.`, classes (`[a-z]`, `[^…]`, `\d`, `\w`, `\s` and their negations), groups, alternation, and repetition (`*`,
/// `+`, `?`, `{m}`, `{m,}`, `{m,n}`) over Unicode scalars. Back-references, assertions, possessive quantifiers and sets of classes are
/// refused, so that no pattern can make a match slow. Unlike in some other libraries, `.` also matches line breaks, `^` and `$` only the
/// ends of the text, and `\d` and `\w` only characters of ASCII. The matcher
/// follows all states at once, as Thompson described in "Regular Expression Search Algorithm" (1968).
public struct Pattern: Sendable {
    enum Step: Sendable {
        case scalar(ScalarClass)
        case split(Int, Int)
        case jump(Int)
        case start
        case end
    }

    /// The text of the pattern.
    public let text: String
    /// The parsed pattern.
    package let root: PatternNode
    private let steps: [Step]

    /// Compiles a pattern.
    ///
    /// - Throws: `QueryError` with the position and the expected element. Patterns of more than 10,000 steps are too complex.
    public init(_ text: String) throws(QueryError) {
        self.text = text
        var parser = PatternParser(text)
        root = try parser.parse()
        steps = root.compiled()
    }

    /// Returns whether the pattern matches the whole text.
    public func matches(_ text: String) -> Bool {
        var current = StateSet(steps.count + 1), next = StateSet(steps.count + 1)
        var scalars = text.unicodeScalars.makeIterator()
        var scalar = scalars.next()
        follow(0, into: &current, isStart: true, isEnd: scalar == nil)
        while let present = scalar {
            scalar = scalars.next()
            next.removeAll()
            for state in current.members {
                if state < steps.count, case .scalar(let accepted) = steps[state], accepted.contains(present) {
                    follow(state + 1, into: &next, isStart: false, isEnd: scalar == nil)
                }
            }
            if next.members.isEmpty { return false }
            swap(&current, &next)
        }
        return current.contains(steps.count)
    }

    /// Adds a state and the states reachable from it without reading a scalar.
    private func follow(_ first: Int, into set: inout StateSet, isStart: Bool, isEnd: Bool) {
        var pending = [first]
        while let state = pending.popLast() {
            guard set.insert(state), state < steps.count else { continue }
            switch steps[state] {
            case .scalar: break
            case .jump(let target): pending.append(target)
            case .split(let a, let b): pending += [b, a]
            case .start: if isStart { pending.append(state + 1) }
            case .end: if isEnd { pending.append(state + 1) }
            }
        }
    }

    /// A set of small numbers that is cleared in constant time.
    private struct StateSet {
        private(set) var members: [Int] = []
        private var marks: [Bool]

        init(_ count: Int) { marks = Array(repeating: false, count: count) }

        func contains(_ state: Int) -> Bool { marks[state] }

        mutating func insert(_ state: Int) -> Bool {
            if marks[state] { return false }
            marks[state] = true
            members.append(state)
            return true
        }

        mutating func removeAll() {
            for state in members { marks[state] = false }
            members.removeAll(keepingCapacity: true)
        }
    }
}
