internal import Foundation
internal import Polystore
internal import PolystoreStorage

/// The commit of a detached transaction: its author, which is unique, and the objects before it.
struct DetachedCommit {
    let author: String
    let before: NaiveGraph
}

/// Detached transactions: changes in memory with undo and redo, committed after concurrent commits.
extension ProgramRun {
    /// The states of undo and redo.
    private struct Undoing {
        struct State {
            let naive: NaiveGraph
            /// The number of changes that led to the state. States without a change between them have equal ones.
            let number: Int
        }

        var undo: [State]
        var redo: [State] = []
        /// The state after the last undo or redo, until the next undo point.
        var reached: State?
        /// Whether there was a change since then.
        var hasChanged = false
        /// The number of the present state, and the greatest one so far.
        private(set) var number = 0, last = 0

        mutating func change() {
            hasChanged = true
            last += 1
            number = last
        }

        mutating func reach(_ state: State) {
            (reached, hasChanged, number) = (state, false, state.number)
        }

        mutating func mark(_ naive: NaiveGraph) {
            undo.append(State(naive: naive, number: number))
            (redo, reached, hasChanged) = ([], nil, false)
        }
    }

    func detached(_ step: ProgramStep, _ interference: [ProgramStep], _ policy: ProgramPolicy) throws {
        let former = try committedVersions(), author = nextAuthor("detached"), base = state
        let transaction = stack.beginUnsafe(author: TransactionAuthor(author), supportsUndo: true)
        var work = DetachedWork()
        var undoing = Undoing(undo: [.init(naive: state.naive, number: 0)])
        held = [:]
        isDetached = true
        var isFinished = false
        defer {
            if !isFinished { state = base }
            isDetached = false
            held = [:]
        }
        for part in step.parts where means(part) {
            let before = state.naive
            switch part.kind {
            case .mark: try transaction.markUndoPoint()
            case .undo: try compare(part, .text("\(try goBack(&undoing))"), .text("\(try transaction.undo())"))
            case .redo: try compare(part, .text("\(try goForward(&undoing))"), .text("\(try transaction.redo())"))
            case .fetch(let request): try fetch(part, request, transaction)
            case .count(let request): try count(part, request, transaction)
            case .read: try change(part, transaction)
            case .create, .assign, .relate, .refer, .delete, .importAll:
                undoing.change()
                try change(part, transaction)
            case .transaction, .nested, .detached, .pages, .query, .updateAll, .deleteAll, .insertAll, .upsertAll, .watch, .follow,
                .publishCount, .reopen, .migrate:
                throw difference(part, "a part of a detached transaction", "another step")
            }
            work.note(part, before, state.naive)
            if case .mark = part.kind {
                try noteChange(&undoing)
                undoing.mark(state.naive)
            }
        }
        let mine = state
        isFinished = true
        state = base
        isDetached = false
        let handles = held
        for other in interference { try perform(other) }
        held = handles
        let now = try committedVersions()
        let merge = DetachedMerge(
            base: base.naive, mine: mine.naive, theirs: state.naive, work: work,
            newer: Set(base.naive.objects.keys.filter { former[$0] != now[$0] }), policy: policy)
        let others = state.naive
        try commit(step, transaction, merge, mine)
        detachedCommit = DetachedCommit(author: author, before: others)
    }

    /// Undoes to the newest undo point, or to the state of the last undo if there was a change since. The beginning is none without a change.
    private func goBack(_ undoing: inout Undoing) throws -> Bool {
        try noteChange(&undoing)
        if undoing.undo.count == 1, Self.isSame(undoing.undo[0].naive, state.naive) {
            if undoing.undo[0].number == undoing.number { return false }
            throw ProgramUndefined()
        }
        guard let newest = undoing.undo.popLast() else { return false }
        undoing.redo.append(.init(naive: state.naive, number: undoing.number))
        reach(newest, &undoing)
        return true
    }

    private func goForward(_ undoing: inout Undoing) throws -> Bool {
        if let reached = undoing.reached, undoing.hasChanged {
            if Self.isSame(reached.naive, state.naive) { throw ProgramUndefined() }
            undoing.redo.removeAll()
        }
        guard let newest = undoing.redo.popLast() else { return false }
        undoing.undo.append(.init(naive: state.naive, number: undoing.number))
        reach(newest, &undoing)
        return true
    }

    private func noteChange(_ undoing: inout Undoing) throws {
        guard let reached = undoing.reached, undoing.hasChanged else { return }
        // The contract does not specify whether an assignment of the same value is a change.
        if Self.isSame(reached.naive, state.naive) { throw ProgramUndefined() }
        undoing.redo.removeAll()
        undoing.undo.append(reached)
    }

    private func reach(_ target: Undoing.State, _ undoing: inout Undoing) {
        state.naive = target.naive
        undoing.reach(target)
        // Undo deletes objects created after the undo point and restores deleted ones.
        held = [:]
    }

    private static func isSame(_ a: NaiveGraph, _ b: NaiveGraph) -> Bool { changed(a, b).isEmpty }

    /// Returns the numbers of the objects that differ between two graphs.
    private static func changed(_ a: NaiveGraph, _ b: NaiveGraph) -> Set<Int> {
        Set(Set(a.objects.keys).union(b.objects.keys).filter { !a.isSame($0, in: b) })
    }

    // MARK: Committing

    private func commit(_ step: ProgramStep, _ transaction: UnsafeTransaction, _ merge: DetachedMerge, _ mine: State) throws {
        let theirs = state
        let found = try answer {
            try transaction.commit(merging: merge.policy.policy)
            return .done
        }
        if merge.policy != .error, case .refused(.staleObject) = found {
            throw difference(step, "the resolution of the conflict", found.description)
        }
        // Concurrent assignments of equal values also change versions: without a concurrent commit no object is certainly newer.
        switch theirs.naive.commits == merge.base.commits ? merge.alone() : merge.outcome() {
        case .open:
            if case .done = found {
                take(mine)
                try compareMemory(step, transaction, merge)
            }
            let dangling = try stack.checkReferences().filter(\.isCertain).map(\.description).sorted()
            try compare(step, .text("no reference without a destination"), .text(dangling.first ?? "no reference without a destination"))
            try learn(step)
            guard case .done = found, merge.policy == .theirs || merge.policy == .byAttribute else { return }
            let wrong = merge.wrongObject(in: state.naive)
            return try compare(step, .text("the values of the policy"), .text(wrong ?? "the values of the policy"))
        case .refused(let codes):
            if case .refused(let code) = found, codes.contains(code) { return }
            throw difference(step, "error \(codes.map { "\($0)" }.sorted().joined(separator: " or "))", found.description)
        case .committed(let naive):
            if case .done = found {
                take(mine)
                state.naive = naive
            }
            try compare(step, .done, found)
            try compareMemory(step, transaction, merge)
            committed = state
        }
    }

    /// Compares the objects of a committed transaction with the stored ones. What it has only read keeps its state.
    private func compareMemory(_ step: ProgramStep, _ transaction: UnsafeTransaction, _ merge: DetachedMerge) throws {
        try compare(step, .text("no changes"), .text(transaction.hasChanges ? "changes" : "no changes"))
        var stored: [Int: ProgramAnswer] = [:]
        try stack.read(synchronous: { source in
            for root in schema.roots {
                for object in try source.fetchAll(From<DynamicObject>(entity: schema.entities[root].name)) {
                    stored[number(object)] = merge.changes(number(object), in: try seen(object))
                }
            }
        })
        for root in schema.roots {
            for object in try transaction.fetchAll(From<DynamicObject>(entity: schema.entities[root].name)) {
                let expected = stored.removeValue(forKey: number(object)) ?? .text("nothing")
                try compare(step, expected, merge.changes(number(object), in: try seen(object)))
            }
        }
        try compare(step, .text("no other objects"), .text(stored.isEmpty ? "no other objects" : "objects \(stored.keys.sorted())"))
    }

    /// Returns the versions of the committed objects.
    private func committedVersions() throws -> [Int: Int64] {
        var versions: [Int: Int64] = [:]
        try stack.read(synchronous: { source in
            for root in schema.roots {
                for object in try source.fetchAll(From<DynamicObject>(entity: schema.entities[root].name)) {
                    versions[number(object)] = object.version
                }
            }
        })
        return versions
    }

    /// Adopts the names of the objects that another state has created.
    private func take(_ other: State) {
        // The key of an object that was never committed may have been assigned to another one meanwhile.
        for (number, key) in other.keys where state.keys[number] == nil {
            state.keys[number] = key
            state.numbers[key] = number
        }
    }

    /// Adopts the stored objects if the naive model does not specify them. For every result of two merged changes, the rules of the model
    /// must hold.
    private func learn(_ step: ProgramStep) throws {
        var naive = NaiveGraph(schema)
        naive.commits = state.naive.commits + 1
        try stack.read(synchronous: { source in
            for root in schema.roots {
                for object in try source.fetchAll(From<DynamicObject>(entity: schema.entities[root].name)) {
                    guard case .object(let entity, let values, let related) = try seen(object) else { continue }
                    let home = state.naive.objects[number(object)]?.home ?? home(of: object.objectID.key)
                    naive.objects[number(object)] = NaiveGraph.Object(
                        number: number(object), entity: entity, home: home, values: values, related: related)
                }
            }
        })
        let broken = naive.violatesRules ? "broken rules" : (naive.violatesUnique ? "equal unique values" : naive.brokenRelationship)
        let problem = try broken ?? stack.storages.flatMap { try Integrity.problems(OpenStore(opened: $0, schema), schema) }.first
        try compare(step, .text("whole objects"), .text(problem ?? "whole objects"))
        state.naive = naive
        committed = state
    }
}

extension NaiveGraph {
    /// A relationship whose inverse does not match, or that is dangling.
    var brokenRelationship: String? {
        for object in objects.values.sorted(by: { $0.number < $1.number }) {
            for item in schema.description(object.entity).relationships {
                let relationship = item.relationship
                for member in members(object.number, relationship.name) {
                    let back = relationship.inverse.map { members(member, $0) } ?? [object.number]
                    if objects[member] == nil || !back.contains(object.number) {
                        return "a broken \(relationship.name) of \(object.number)"
                    }
                }
            }
        }
        return nil
    }

    /// Returns whether an object is equal in another graph, or missing in both.
    func isSame(_ number: Int, in other: NaiveGraph) -> Bool {
        guard let a = objects[number], let b = other.objects[number] else { return objects[number] == nil && other.objects[number] == nil }
        let names = Set(a.related.keys).union(b.related.keys)
        return a.values.allSatisfy { ReferenceStore.order($1, b.values[$0] ?? .null) == 0 }
            && names.allSatisfy { name in
                let (mine, others) = (a.related[name] ?? [], b.related[name] ?? [])
                let isOrdered = relationship(name, of: number)?.cardinality == .toManyOrdered
                return isOrdered ? mine == others : Set(mine) == Set(others)
            }
    }
}
