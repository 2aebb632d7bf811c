internal import Foundation
internal import PolystoreStorage

/// Transactions with random changes of a few objects, and rollbacks to savepoints. The expected history follows from the state before and
/// after, and from the attributes that were set in between.
struct RandomTransactions {
    private struct State {
        var there: Set<Int64>
        var touched: [Int64: Set<String>] = [:]
        /// The keys that were deleted and inserted again: every attribute may differ.
        var renewed: Set<Int64> = []
    }

    private let scratch: Scratch
    private let check: Check
    private var random: SplitMix
    private let names = ["name", "size"]

    init(_ scratch: Scratch, _ check: Check, seed: UInt64) {
        self.scratch = scratch
        self.check = check
        random = SplitMix(seed: seed)
    }

    mutating func run(_ count: Int) throws {
        var there: Set<Int64> = []
        var token: HistoryToken?
        for round in 0..<count {
            let before = there
            var state = State(there: before)
            let written = try scratch.write { writer in try fill(&state, before, writer) }
            there = state.there
            let expected = try changes(before, state)
            check.equal(written == nil, expected.isEmpty, "round \(round): existence of a token")
            let entries = try scratch.history(since: token)
            check.equal(Set(entries.flatMap { Array($0.changes) }), expected, "round \(round)")
            check.equal(entries.flatMap { Array($0.changes) }.count, expected.count, "round \(round): number of changes")
            token = written ?? token
        }
    }

    private mutating func fill(_ state: inout State, _ before: Set<Int64>, _ writer: WriteSession) throws {
        var marks: [(Int, State)] = []
        for _ in 0..<Int.random(in: 1...12, using: &random) {
            let key = Int64.random(in: 1...8, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0: marks.append((try writer.savepoint(), state))
            case 1:
                guard let (mark, then) = marks.popLast() else { continue }
                try writer.rollback(to: mark)
                try writer.release(mark)
                state = then
            case 2...5 where state.there.contains(key):
                guard let name = names.randomElement(using: &random) else { continue }
                let value: Value = name == "size" ? .int(key) : .string("n")
                try writer.apply(ChangeSet(entities: [scratch.updates("Tag", [(key, 0, [name: value])])]))
                state.touched[key, default: []].insert(name)
            default: try comeOrGo(key, &state, before, writer)
            }
        }
    }

    private func comeOrGo(_ key: Int64, _ state: inout State, _ before: Set<Int64>, _ writer: WriteSession) throws {
        if state.there.remove(key) != nil { return try writer.apply(ChangeSet(entities: [scratch.deletes("Tag", [key])])) }
        let index = try scratch.entity("Tag"), rows = scratch.source(index, [(key, 1, [:])])
        try writer.apply(ChangeSet(entities: [EntityChanges(entity: index, inserts: rows)]))
        state.there.insert(key)
        if before.contains(key) { state.renewed.insert(key) }
    }

    private func changes(_ before: Set<Int64>, _ state: State) throws -> Set<HistoryChange> {
        var changes: Set<HistoryChange> = []
        for key in before.union(state.there) {
            switch (before.contains(key), state.there.contains(key)) {
            case (false, true): changes.insert(try scratch.change("Tag", key, .insert))
            case (true, false): changes.insert(try scratch.change("Tag", key, .delete))
            default:
                let touched = state.renewed.contains(key) ? Set(names) : state.touched[key] ?? []
                if touched.isEmpty { continue }
                var mask = SlotMask()
                for name in touched { mask.formUnion(try scratch.mask("Tag", name)) }
                changes.insert(try scratch.change("Tag", key, .update(mask)))
            }
        }
        return changes
    }
}
