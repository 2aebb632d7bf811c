internal import Foundation
internal import PolystoreStorage

/// Reduces a program that shows a difference, as long as it still shows one of the same kind.
struct ProgramShrinker {
    private let target: ProgramTarget
    /// The target with whose versions those of the others are compared.
    private let first: ProgramTarget?
    /// The maximum number of runs for one difference.
    private static let most = 4_000

    init(_ target: ProgramTarget, _ first: ProgramTarget?) {
        self.target = target
        self.first = first
    }

    func smallest(_ program: GraphProgram, _ difference: ProgramDifference) -> (GraphProgram, ProgramDifference) {
        var best = (program, difference), runs = 0
        shrink(&best, &runs, candidates)
        shrink(&best, &runs, Self.smallerModels)
        return best
    }

    /// Replaces the program by the first smaller one that shows the difference, until there is none. The search continues at its last
    /// position.
    private func shrink(
        _ best: inout (GraphProgram, ProgramDifference), _ runs: inout Int, _ candidates: (GraphProgram) -> [GraphProgram]
    ) {
        var start = 0
        while runs < Self.most {
            let all = candidates(best.0), order = Array(all[min(start, all.count)...] + all[..<min(start, all.count)])
            var found: Int?
            for (position, candidate) in order.enumerated() where runs < Self.most {
                runs += 1
                guard let difference = self.difference(candidate), kind(difference) == kind(best.1) else { continue }
                best = (candidate, difference)
                found = position
                break
            }
            guard let found else { return }
            start = (start + found) % max(all.count, 1)
        }
    }

    private func difference(_ program: GraphProgram) -> ProgramDifference? {
        let isAboutVersions = first != nil && first !== target
        let trace = isAboutVersions ? first.flatMap { try? ProgramRun.run(program, $0).trace } : nil
        return (try? ProgramRun.run(program, target, comparing: trace))?.difference
    }

    /// Returns the invariant of a reduction: the kinds of the expected and of the actual result.
    private func kind(_ difference: ProgramDifference) -> String {
        [difference.expected, difference.found].map { $0.prefix { $0.isLetter || $0 == " " } }.joined(separator: "/")
    }

    // MARK: Candidates

    private func candidates(_ program: GraphProgram) -> [GraphProgram] {
        ProgramShrinker.smaller(program.steps).map { steps in
            var copy = program
            copy.steps = steps
            return copy
        }
    }

    /// Returns lists without large parts first, then lists with single steps omitted or simplified.
    static func smaller(_ steps: [ProgramStep]) -> [[ProgramStep]] {
        var result: [[ProgramStep]] = [], size = steps.count / 2
        while size > 1 {
            for start in stride(from: 0, to: steps.count, by: size) {
                result.append(Array(steps[..<start] + steps[min(start + size, steps.count)...]))
            }
            size /= 2
        }
        for index in steps.indices.reversed() {
            result.append(Array(steps[..<index] + steps[(index + 1)...]))
        }
        for index in steps.indices {
            for simple in simpler(steps[index]) { result.append(Array(steps[..<index] + simple + steps[(index + 1)...])) }
        }
        return result
    }

    private static func simpler(_ step: ProgramStep) -> [[ProgramStep]] {
        var result: [[ProgramStep]] = []
        func with(_ kind: ProgramStep.Kind) { result.append([ProgramStep(kind, step.parts)]) }
        switch step.kind {
        case .transaction(let author, let fails):
            if fails { with(.transaction(author: author, fails: false)) }
            if !author.isEmpty { with(.transaction(author: "", fails: fails)) }
        case .nested(let fails): if !fails { result.append(step.parts) }
        case .detached(let interference, let policy):
            for others in smaller(interference) where !interference.isEmpty { with(.detached(interference: others, policy: policy)) }
        case .migrate(let changes):
            for index in changes.indices where changes.count > 1 { with(.migrate(Array(changes[..<index] + changes[(index + 1)...]))) }
        case .watch(let request, let section):
            // Sections need the order of the list.
            for small in smaller(request) where section == nil || small.fetch.order == request.fetch.order {
                with(.watch(small, section: section))
            }
            if section != nil { with(.watch(request, section: nil)) }
        case .publishCount(let request): for small in smaller(request) { with(.publishCount(small)) }
        case .fetch(let request): for small in smaller(request) { with(.fetch(small)) }
        case .count(let request): for small in smaller(request) { with(.count(small)) }
        case .pages(let request, let size): for small in smaller(request) { with(.pages(small, size: size)) }
        case .query(let query): for small in smaller(query) { with(.query(small)) }
        case .updateAll(let request, let name, let value): for small in smaller(request) { with(.updateAll(small, name, value)) }
        case .deleteAll(let request): for small in smaller(request) { with(.deleteAll(small)) }
        case .relate(let number, let name, let members):
            for member in members where members.count > 1 { with(.relate(number, name, members.filter { $0 != member })) }
        case .delete(let numbers): for number in numbers where numbers.count > 1 { with(.delete([number])) }
        case .insertAll(let entity, let home, let first, let rows):
            for rows in smaller(rows) { with(.insertAll(entity: entity, home: home, first: first, rows: rows)) }
        case .upsertAll(let entity, let home, let unique, let first, let rows):
            for rows in smaller(rows) where rows.allSatisfy({ row in unique.allSatisfy { name in row.contains { $0.name == name } } }) {
                with(.upsertAll(entity: entity, home: home, unique: unique, first: first, rows: rows))
            }
        case .importAll(let kind, let entity, let home, let first, let sources):
            if kind.isNested {
                with(.importAll(ProgramImportKind(unique: kind.unique), entity: entity, home: home, first: first, sources: sources))
            }
            for sources in smaller(sources) {
                with(.importAll(kind, entity: entity, home: home, first: first, sources: sources))
            }
        case .create, .assign, .refer, .read, .follow, .mark, .undo, .redo, .reopen: break
        }
        for parts in smaller(step.parts) where !step.parts.isEmpty { result.append([ProgramStep(step.kind, parts)]) }
        return result
    }

    private static func smaller(_ sources: [ProgramSource]) -> [[ProgramSource]] {
        var result: [[ProgramSource]] = []
        for index in sources.indices {
            func add(_ change: (inout ProgramSource) -> Void) {
                var copy = sources
                change(&copy[index])
                result.append(copy)
            }
            if sources.count > 1 { result.append(Array(sources[..<index] + sources[(index + 1)...])) }
            if sources[index].isSkipped { add { $0.isSkipped = false } }
            if sources[index].fails { add { $0.fails = false } }
            for position in sources[index].row.indices { add { $0.row.remove(at: position) } }
        }
        return result
    }

    private static func smaller(_ rows: [[ProgramAssignment]]) -> [[[ProgramAssignment]]] {
        var result: [[[ProgramAssignment]]] = []
        if rows.count > 1 { for index in rows.indices { result.append(Array(rows[..<index] + rows[(index + 1)...])) } }
        for index in rows.indices {
            for position in rows[index].indices {
                var copy = rows
                copy[index].remove(at: position)
                result.append(copy)
            }
        }
        return result
    }

    private static func smaller(_ request: ProgramRequest) -> [ProgramRequest] {
        var result: [ProgramRequest] = []
        func add(_ change: (inout ProgramRequest) -> Void) {
            var copy = request
            change(&copy)
            result.append(copy)
        }
        if !request.fetch.order.isEmpty { add { $0.fetch.order = [] } }
        if request.fetch.order.count > 1 { add { $0.fetch.order.removeFirst() } }
        if request.fetch.limit != nil { add { $0.fetch.limit = nil } }
        if request.fetch.offset > 0 { add { $0.fetch.offset = 0 } }
        if !request.fetch.includesSubentities { add { $0.fetch.includesSubentities = true } }
        if request.home != nil { add { $0.home = nil } }
        if request.isText { add { $0.isText = false } }
        if request.isCommitted { add { $0.isCommitted = false } }
        guard let predicate = request.fetch.predicate else { return result }
        add { $0.fetch.predicate = nil }
        for part in Shrinking.parts(predicate) { add { $0.fetch.predicate = part } }
        return result
    }

    private static func smaller(_ query: ProgramQuery) -> [ProgramQuery] {
        var result = smaller(query.request).map { request in
            var copy = query
            copy.request = request
            return copy
        }
        func add(_ change: (inout ProgramQuery) -> Void) {
            var copy = query
            change(&copy)
            result.append(copy)
        }
        if query.having != nil { add { $0.having = nil } }
        for index in query.outputs.indices where query.outputs.count > 1 {
            let expression = query.outputs[index].expression
            add {
                $0.outputs.remove(at: index)
                $0.keys.removeAll { $0 == expression }
                $0.request.fetch.order.removeAll { $0.expression == expression }
            }
        }
        return result
    }
}
