internal import Foundation
internal import Polystore
internal import PolystoreStorage

/// Cases about entities with more attributes than a word has bits, and with relationships after these attributes.
enum WideCases {
    static let all: [ConformanceCase] = [62, 63, 64, 65, 200].flatMap(cases)

    private static func cases(_ count: Int) -> [ConformanceCase] {
        [
            wide("G080.\(count)-attributes-through-undo-and-rollback", count, undone),
            wide("G080.\(count)-attributes-through-nested-parts", count, nested),
            wide("G080.\(count)-attributes-through-conflicts", count, merged),
            wide("G080.\(count)-attributes-and-a-deletion-that-is-given-up", count, needs: [.history], givenUp),
            wide("G080.\(count)-attributes-read-in-part", count, readInPart),
        ]
    }

    private static func wide(
        _ id: String, _ count: Int, needs: Set<StorageCapabilities.Capability> = [],
        _ body: @escaping @Sendable (DataStack, [String], Check) throws -> Void
    ) -> ConformanceCase {
        ConformanceCase(id, clause: "W19", needs: needs) { harness, check in
            let names = (0..<count).map { "a\($0)" }
            let schema = try Schema(
                version: "1",
                entities: [
                    Entity(
                        "Wide", attributes: names.map { Attribute($0, .int64, defaultValue: .int(0)) },
                        relationships: ["left", "right"].map { Relationship($0, to: "Target", inverse: "\($0)s") }),
                    Entity(
                        "Target", attributes: [Attribute("name", .string, defaultValue: .string(""))],
                        relationships: ["left", "right"].map { (name: String) in
                            Relationship("\(name)s", to: "Wide", .toMany, inverse: name)
                        }),
                ])
            let place = try harness.place(), stack = try DataStack(schema: schema)
            defer { place.remove() }
            try stack.addStorageAndWait(try place.store(nil))
            defer { for store in stack.storages { try? store.close() } }
            try stack.write { transaction in
                let wide = try transaction.create(Into<DynamicObject>(entity: "Wide"))
                for (number, name) in names.enumerated() { try wide.setValue(.int(Int64(number)), for: name) }
                let target = try transaction.create(Into<DynamicObject>(entity: "Target"))
                try wide.setObject(target, for: "left")
                try wide.setObject(target, for: "right")
            }
            try body(stack, names, check)
        }
    }

    /// Returns random assignments of some attributes: their names and numbers.
    private static func some(_ names: [String], _ random: inout SplitMix, _ most: Int = 3) -> [(String, Int64)] {
        (0..<Int(random.next() % UInt64(most) + 1)).map { _ in
            // Attributes at the ends of words are drawn as often as all others together.
            let edges = names.indices.filter { [62, 63, 64, 65].contains($0) || $0 == names.count - 1 }
            let index = random.next() % 2 == 0 ? edges[Int(random.next() % UInt64(edges.count))] : Int(random.next() % UInt64(names.count))
            return (names[index], Int64(random.next() % 1_000_000))
        }
    }

    private static func assign(_ changes: [(String, Int64)], to object: DynamicObject, _ model: inout [String: Int64]) throws {
        for (name, value) in changes {
            try object.setValue(.int(value), for: name)
            model[name] = value
        }
    }

    private static func values(_ object: DynamicObject, _ names: [String]) throws -> [String: Int64] {
        try Dictionary(
            uniqueKeysWithValues: names.map { name in
                guard case .int(let value) = try object.value(name) else { throw StorageError(.corrupted, "no number in \(name)") }
                return (name, value)
            })
    }

    /// Checks that values are equal. The failure contains only the differences, because hundreds of values would be unreadable.
    private static func same(_ found: [String: Int64], _ expected: [String: Int64], _ check: Check, _ what: String) {
        check.equal(found.filter { expected[$0.key] != $0.value }, expected.filter { found[$0.key] != $0.value }, what)
    }

    private static func wide(_ source: some FetchSource) throws -> DynamicObject {
        guard let object = try source.fetchOne(From<DynamicObject>(entity: "Wide")) else { throw StorageError(.notFound, "no object") }
        return object
    }

    private static func stored(_ stack: DataStack, _ names: [String]) throws -> [String: Int64] {
        try stack.read(synchronous: { try values(wide($0), names) })
    }

    @Sendable private static func undone(_ stack: DataStack, _ names: [String], _ check: Check) throws {
        var random = SplitMix(seed: 7)
        let work = stack.beginUnsafe(supportsUndo: true), object = try wide(work)
        // States have numbers: an assignment makes a new one, and undoing to the only state left, which is the present one, undoes nothing.
        var model = try values(object, names), committed = model, state = 0, states = 0
        var marks = [(values: model, state: state)], reached: (values: [String: Int64], state: Int)?
        // The state after an undo becomes an undo target when an assignment follows it.
        func keepReached() { if let found = reached, found.state != state { marks.append(found) } }
        func begin() {
            states += 1
            state = states
            (marks, reached) = ([(model, state)], nil)
        }
        for round in 0..<60 {
            switch random.next() % 6 {
            case 0, 1:
                try assign(some(names, &random), to: object, &model)
                states += 1
                state = states
            case 2:
                try work.markUndoPoint()
                keepReached()
                marks.append((model, state))
                reached = nil
            case 3:
                keepReached()
                let isUndone = marks.count > 1 || marks.count == 1 && marks[0].state != state
                check.equal(try work.undo(), isUndone, "whether something is undone in round \(round)")
                if !isUndone { continue }
                let mark = marks.removeLast()
                (model, state, reached) = (mark.values, mark.state, mark)
            case 4:
                try work.rollback()
                model = committed
                begin()
            default:
                // An empty commit writes nothing.
                if !work.hasChanges { continue }
                let keys = Set(names.filter { model[$0] != committed[$0] })
                check.isTrue(work.changedKeys(of: object).isSuperset(of: keys), "values assigned in round \(round)")
                try work.commit()
                committed = model
                begin()
                same(try stored(stack, names), model, check, "stored values after round \(round)")
            }
            same(try values(object, names), model, check, "values after round \(round)")
        }
    }

    @Sendable private static func nested(_ stack: DataStack, _ names: [String], _ check: Check) throws {
        struct GivenUp: Error {}
        var random = SplitMix(seed: 8), model = try stored(stack, names)
        for round in 0..<12 {
            try stack.write { transaction in
                let object = try wide(transaction)
                var assigned: Set<String> = []
                for _ in 0..<4 {
                    let changes = some(names, &random), isKept = random.next() % 2 == 0
                    var inner = model
                    do {
                        try transaction.nested {
                            try assign(changes, to: object, &inner)
                            if !isKept { throw GivenUp() }
                        }
                        model = inner
                        assigned.formUnion(changes.map(\.0))
                    } catch is GivenUp {}
                    same(try values(object, names), model, check, "values in round \(round)")
                    check.equal(transaction.changedKeys(of: object), assigned, "values assigned in round \(round)")
                }
            }
            same(try stored(stack, names), model, check, "stored values after round \(round)")
        }
    }

    @Sendable private static func merged(_ stack: DataStack, _ names: [String], _ check: Check) throws {
        var random = SplitMix(seed: 9)
        for round in 0..<12 {
            let work = stack.beginUnsafe(), object = try wide(work)
            var model = try values(object, names)
            let mine = some(names, &random), theirs = some(names, &random), later = some(names, &random)
            let winsMine = round % 2 == 0
            var forgotten = model
            try other(stack, theirs, &model)
            if winsMine { try assign(mine, to: object, &model) } else { try assign(mine, to: object, &forgotten) }
            try work.commit(merging: winsMine ? .mine : .theirs)
            same(try values(object, names), model, check, "values after round \(round)")
            same(try stored(stack, names), model, check, "stored values after round \(round)")
            try assign(later, to: object, &model)
            check.equal(work.changedKeys(of: object), Set(later.map(\.0)), "assigned values after round \(round)")
            try work.commit()
            same(try stored(stack, names), model, check, "stored values after the commit of round \(round)")
        }
    }

    /// Commits assignments in another transaction.
    private static func other(_ stack: DataStack, _ changes: [(String, Int64)], _ model: inout [String: Int64]) throws {
        try stack.write { try assign(changes, to: wide($0), &model) }
    }

    /// Checks a deletion of an object that another transaction changes: the deletion is withdrawn, and its effects on other objects are
    /// reverted.
    @Sendable private static func givenUp(_ stack: DataStack, _ names: [String], _ check: Check) throws {
        var random = SplitMix(seed: 10)
        for round in 0..<4 {
            let work = stack.beginUnsafe(author: TransactionAuthor("round \(round)")), object = try wide(work)
            guard let target = try work.fetchOne(From<DynamicObject>(entity: "Target")) else { return check.isTrue(false, "a target") }
            var model = try values(object, names)
            let before = some(names, &random), after = some(names, &random)
            if round % 2 == 0 { try assign(before, to: object, &model) }
            try work.delete(target)
            try assign(after, to: object, &model)
            try stack.write { try $0.fetchOne(From<DynamicObject>(entity: "Target"))?.setValue(.string("\(round)"), for: "name") }
            try work.commit(merging: MergePolicy.theirs)
            check.isTrue(!target.isDeleted, "the target in round \(round)")
            same(try values(object, names), model, check, "values after round \(round)")
            same(try stored(stack, names), model, check, "stored values after round \(round)")
            try stack.read(synchronous: { source in
                let object = try wide(source)
                check.isTrue(try object.object("left") != nil && object.object("right") != nil, "both references in round \(round)")
            })
            let assigned = Set(after.map(\.0) + (round % 2 == 0 ? before.map(\.0) : []))
            check.equal(try changed(stack, by: "round \(round)"), assigned, "history of round \(round)")
        }
    }

    /// Returns the attributes of the wide object that a transaction assigned according to the history.
    private static func changed(_ stack: DataStack, by author: String) throws -> Set<String>? {
        guard let entry = try stack.storages[0].entry(by: author) else { return nil }
        for change in entry.changes where stack.schema.entities[change.entity].name == "Wide" {
            if case .update(let mask) = change.kind { return Set(mask.slots.map { stack.schema[change.entity].slots[$0].name }) }
        }
        return []
    }

    @Sendable private static func readInPart(_ stack: DataStack, _ names: [String], _ check: Check) throws {
        var random = SplitMix(seed: 11), model = try stored(stack, names)
        for round in 0..<12 {
            let some = some(names, &random), read = names[Int(random.next() % UInt64(names.count))]
            try stack.write { transaction in
                let request = From<DynamicObject>(entity: "Wide").properties(named: [read])
                guard let object = try transaction.fetchOne(request) else { return check.isTrue(false, "an object") }
                try assign(some, to: object, &model)
                same(try values(object, names), model, check, "values in round \(round)")
            }
            same(try stored(stack, names), model, check, "stored values after round \(round)")
        }
    }
}
