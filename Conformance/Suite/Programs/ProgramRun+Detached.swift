internal import Foundation
internal import Polystore
internal import PolystoreStorage

/// Detached transactions: changes in memory, undone and done again, and committed beside what others committed meanwhile.
extension ProgramRun {
    /// The states between which undo and redo go.
    private struct Undoing {
        var undo: [NaiveGraph]
        var redo: [NaiveGraph] = []
        /// Where the last undo or redo led, until the next mark.
        var reached: NaiveGraph?
        /// Whether something was changed since then.
        var hasChanged = false
    }

    func detached(_ step: ProgramStep, _ interference: [ProgramStep], _ policy: ProgramPolicy) throws {
        let transaction = stack.beginUnsafe(supportsUndo: true), base = state
        var undoing = Undoing(undo: [state.naive]), assigned: [(number: Int, name: String)] = []
        held = [:]
        isDetached = true
        defer {
            isDetached = false
            held = [:]
        }
        for part in step.parts {
            switch part.kind {
            case .mark: try transaction.markUndoPoint()
            case .undo: try compare(part, .text("\(try goBack(&undoing))"), .text("\(try transaction.undo())"))
            case .redo: try compare(part, .text("\(try goForward(&undoing))"), .text("\(try transaction.redo())"))
            case .fetch(let request): try fetch(part, request, transaction)
            case .count(let request): try count(part, request, transaction)
            default:
                if case .assign(let number, let name, _) = part.kind { assigned.append((number, name)) }
                if case .read = part.kind {} else { undoing.hasChanged = true }
                try change(part, transaction)
            }
            if case .mark = part.kind { undoing = Undoing(undo: undoing.undo + [state.naive]) }
        }
        let mine = state
        state = base
        isDetached = false
        let handles = held
        for other in interference { try perform(other) }
        held = handles
        try commit(step, transaction, policy, base: base, mine: mine, assigned)
    }

    /// Goes to the newest mark; to where the last undo led, if something was changed since.
    private func goBack(_ undoing: inout Undoing) throws -> Bool {
        try noteChange(&undoing)
        guard let newest = undoing.undo.popLast() else { return false }
        undoing.redo.append(state.naive)
        reach(newest, &undoing)
        return true
    }

    private func goForward(_ undoing: inout Undoing) throws -> Bool {
        if let reached = undoing.reached, undoing.hasChanged {
            if Self.isSame(reached, state.naive) { throw ProgramUndefined() }
            undoing.redo.removeAll()
        }
        guard let newest = undoing.redo.popLast() else { return false }
        undoing.undo.append(state.naive)
        reach(newest, &undoing)
        return true
    }

    private func noteChange(_ undoing: inout Undoing) throws {
        guard let reached = undoing.reached, undoing.hasChanged else { return }
        // Whether the same value assigned again is a change is not said.
        if Self.isSame(reached, state.naive) { throw ProgramUndefined() }
        undoing.redo.removeAll()
        undoing.undo.append(reached)
    }

    private func reach(_ naive: NaiveGraph, _ undoing: inout Undoing) {
        state.naive = naive
        undoing.reached = naive
        undoing.hasChanged = false
        // What was made after the mark is deleted, what was deleted is there again.
        held = [:]
    }

    private static func isSame(_ a: NaiveGraph, _ b: NaiveGraph) -> Bool { changed(a, b).isEmpty }

    /// The numbers of the objects that are different in two graphs.
    private static func changed(_ a: NaiveGraph, _ b: NaiveGraph) -> Set<Int> {
        Set(Set(a.objects.keys).union(b.objects.keys).filter { !a.isSame($0, in: b) })
    }

    // MARK: Committing

    private func commit(
        _ step: ProgramStep, _ transaction: UnsafeTransaction, _ policy: ProgramPolicy, base: State, mine: State,
        _ assigned: [(number: Int, name: String)]
    ) throws {
        let theirs = state
        let found = try answer {
            try transaction.commit(merging: policy == .mine ? .mine : .error)
            return .done
        }
        guard let merged = merged(base, mine, theirs, assigned, policy) else { throw ProgramUndefined() }
        switch merged {
        case .failure(let refused):
            state = theirs
            try compare(step, .refused(refused.code), found)
        case .success(let naive):
            var both = theirs
            both.naive = naive
            both.keys.merge(mine.keys) { $1 }
            both.numbers.merge(mine.numbers) { $1 }
            if case .done = found { state = both }
            try compare(step, .done, found)
            committed = state
        }
    }

    /// What the commit leads to; nil where the naive model does not say it.
    private func merged(
        _ base: State, _ mine: State, _ theirs: State, _ assigned: [(number: Int, name: String)], _ policy: ProgramPolicy
    ) -> Result<NaiveGraph, NaiveGraph.Refused>? {
        let here = Self.changed(base.naive, mine.naive).union(assigned.map(\.number)), there = Self.changed(base.naive, theirs.naive)
        // Others changed versions also by what they assigned again; only a pause without any commit is sure.
        let isQuiet = theirs.naive.commits == base.naive.commits
        if mine.naive.violatesRules { return isQuiet ? .failure(NaiveGraph.Refused(code: .validationFailed)) : nil }
        if isQuiet {
            return mine.naive.violatesUnique ? .failure(NaiveGraph.Refused(code: .uniqueConstraintViolated)) : .success(mine.naive)
        }
        let both = here.intersection(there)
        let isMine = assigned.contains { item in
            both.contains(item.number) && base.naive.objects[item.number] != nil && mine.naive.objects[item.number] != nil
                && theirs.naive.objects[item.number].map { object in object.values != base.naive.objects[item.number]?.values } == true
        }
        if isMine, policy == .error { return .failure(NaiveGraph.Refused(code: .staleObject)) }
        return nil
    }
}

extension NaiveGraph {
    /// Whether an object is the same in another graph, or in neither.
    func isSame(_ number: Int, in other: NaiveGraph) -> Bool {
        guard let a = objects[number], let b = other.objects[number] else { return objects[number] == nil && other.objects[number] == nil }
        let names = Set(a.related.keys).union(b.related.keys)
        return a.values.allSatisfy { ReferenceStore.order($1, b.values[$0] ?? .null) == 0 }
            && names.allSatisfy { (a.related[$0] ?? []) == (b.related[$0] ?? []) }
    }
}
