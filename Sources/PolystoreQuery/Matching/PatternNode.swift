/// A part of a regular expression.
package indirect enum PatternNode: Sendable {
    /// One scalar of a class.
    case scalar(ScalarClass)
    /// The start of the text.
    case start
    /// The end of the text.
    case end
    /// All parts, one after the other.
    case sequence([PatternNode])
    /// One of the branches.
    case alternation([PatternNode])
    /// A part that occurs a number of times, from the least to the most; without a limit if that is nil.
    case repeated(PatternNode, Int, Int?)

    /// The number of steps of the matcher.
    package var steps: Int {
        switch self {
        case .scalar, .start, .end: 1
        case .sequence(let parts): parts.reduce(0) { $0 + $1.steps }
        case .alternation(let branches): branches.reduce(2 * (branches.count - 1)) { $0 + $1.steps }
        case .repeated(let part, let least, nil): (least + 1) * part.steps + 2
        case .repeated(let part, let least, let most?): most * part.steps + most - least
        }
    }

    /// Returns the steps of a matcher.
    func compiled() -> [Pattern.Step] {
        var steps: [Pattern.Step] = []
        compile(into: &steps)
        return steps
    }

    private func compile(into steps: inout [Pattern.Step]) {
        // Nested repetitions of nothing would be counted one by one.
        if self.steps == 0 { return }
        switch self {
        case .scalar(let accepted): steps.append(.scalar(accepted))
        case .start: steps.append(.start)
        case .end: steps.append(.end)
        case .sequence(let parts): for part in parts { part.compile(into: &steps) }
        case .alternation(let branches):
            var exits: [Int] = []
            for branch in branches.dropLast() {
                branch.compileOptional(into: &steps, exit: 0)
                exits.append(steps.count - 1)
            }
            branches.last?.compile(into: &steps)
            for exit in exits { steps[exit] = .jump(steps.count) }
        case .repeated(let part, let least, let most):
            for _ in 0..<least { part.compile(into: &steps) }
            guard let most else { return part.compileOptional(into: &steps, exit: steps.count) }
            // Each further repetition may be the last.
            for _ in least..<most { part.compileOptional(into: &steps, exit: nil) }
        }
    }

    /// Appends the steps of a part that the matcher takes or passes over, and a jump after them to an exit if there is one.
    private func compileOptional(into steps: inout [Pattern.Step], exit: Int?) {
        let split = steps.count
        steps.append(.split(split + 1, 0))
        compile(into: &steps)
        if let exit { steps.append(.jump(exit)) }
        steps[split] = .split(split + 1, steps.count)
    }
}
