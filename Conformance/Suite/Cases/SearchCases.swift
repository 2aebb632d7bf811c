internal import Foundation
internal import PolystoreStorage

/// Cases about searches over texts with a full-text index: the answers equal those of a scan, and the index follows every change.
enum SearchCases {
    /// The schema of the suite with a full-text index of things. Memos, which have no other index, can be long.
    private static let schema: Schema = {
        var entities = Fixture.schema.entities
        for index in entities.indices where entities[index].name == "Thing" {
            entities[index].indexes += [Index(["text"], kind: .fullText), Index(["memo"], kind: .fullText)]
        }
        do { return try Schema(entities: entities) } catch { return .empty }
    }()

    private static func search(_ query: String, _ path: PropertyPath = "text") -> QueryPredicate { .text(.path(path), .search, query) }

    private static func keys(
        _ scratch: Scratch, _ query: String, of path: PropertyPath = "text", _ reader: ReadSession? = nil
    ) throws -> [Int64] {
        let request = ObjectRequest("Thing", where: search(query, path))
        return try reader.map { try scratch.fetch(request, $0).map(\.key) } ?? scratch.keys(request)
    }

    private static func texts(_ texts: [Int64: String]) -> [(Int64, [String: Value])] {
        texts.sorted { $0.key < $1.key }.map { ($0.key, ["text": .string($0.value)]) }
    }

    static let all: [ConformanceCase] = answers + changes + explanations

    private static let answers: [ConformanceCase] = [
        ConformanceCase("P060.a-full-text-index-changes-no-answer", clause: "T4") { harness, check in
            try harness.withStore(schema) { scratch in
                try Fixture.fill(scratch)
                for fact in SearchFacts.all {
                    let predicate = try fact.predicate("")
                    let rest = (1...8).filter { !fact.keys.contains($0) }
                    check.equal(try scratch.keys(ObjectRequest("Thing", where: predicate)), fact.keys, fact.id)
                    check.equal(try scratch.keys(ObjectRequest("Thing", where: .not(predicate))), rest, "\(fact.id), negated")
                    let joined = ObjectRequest("Holder", where: try fact.predicate("thing."))
                    check.equal(try scratch.keys(joined), fact.keys.map { $0 + 100 }, "\(fact.id), joined")
                    let either = ObjectRequest("Thing", where: .or([predicate, .compare(.path("number"), .equal, .value(.int(-7)))]))
                    check.equal(try scratch.keys(either), Set(fact.keys + [4]).sorted(), "\(fact.id), or something else")
                    let count = try scratch.aggregate("Thing", .count, nil, where: predicate)
                    check.equal(count, .int(Int64(fact.keys.count)), "\(fact.id), counted")
                }
            }
        },
        ConformanceCase("P060.words-of-any-length", clause: "T4") { harness, check in
            try harness.withStore(schema) { scratch in
                let long = String(repeating: "a", count: 3_000), longer = String(repeating: "b", count: 40_000)
                try scratch.load("Thing", [(1, ["code": .string("1")])])
                let rows: [[String: Value]] = [long, long + "x", longer, longer + "é", "\(long) \(longer)"].map { ["memo": .string($0)] }
                let made = try scratch.insert("Thing", rows)
                func expect(_ query: String, _ places: [Int]) throws {
                    check.equal(try keys(scratch, query, of: "memo"), places.map { made[$0] }, "\(query.prefix(1)) of \(query.count)")
                }
                try expect(long, [0, 4])
                try expect(long + "X", [1])
                try expect(long + "*", [0, 1, 4])
                try expect(String(long.dropLast()), [])
                try expect(longer, [2, 4])
                try expect(longer + "e", [3])
                try expect("\(long) \(longer)", [4])
                try expect("b*", [2, 3, 4])
                try expect("\(longer)* -a*", [2, 3])
            }
        },
        ConformanceCase("P060.texts-of-many-words", clause: "T4") { harness, check in
            try harness.withStore(schema) { scratch in
                let many = (0..<120_000).map { "w\($0)" }.joined(separator: " ")
                let made = try scratch.insert("Thing", [["memo": .string(many)], ["memo": .string("w5 w7")]])
                check.equal(try keys(scratch, "w5", of: "memo"), made, "a word of both")
                check.equal(try keys(scratch, "w119999 w5", of: "memo"), [made[0]], "two words of one")
                check.equal(try keys(scratch, "\"w5 w7\"", of: "memo"), [made[1]], "a phrase")
                check.equal(try keys(scratch, "w120000", of: "memo"), [], "a word of none")
                try scratch.update("Thing", made[0], ["memo": .string("short")])
                check.equal(try keys(scratch, "w5", of: "memo"), [made[1]], "after a change")
            }
        },
    ]

    private static let changes: [ConformanceCase] = [
        ConformanceCase("P061.a-full-text-index-follows-changes", clause: "T4") { harness, check in
            try harness.withStore(schema) { scratch in
                try scratch.load("Thing", texts([1: "red apple", 2: "green pear", 3: "Red pear red"]))
                check.equal(try keys(scratch, "red"), [1, 3], "loaded")
                let new = try scratch.insert("Thing", [["text": .string("rêd plum")], ["number": .int(1)]])
                check.equal(try keys(scratch, "red"), [1, 3, new[0]], "inserted")
                try scratch.update("Thing", 1, ["text": .string("green apple")])
                try scratch.update("Thing", 2, ["number": .int(5)])
                check.equal(try keys(scratch, "red"), [3, new[0]], "changed: the old word")
                check.equal(try keys(scratch, "green"), [1, 2], "changed: the new word")
                try scratch.update("Thing", 3, ["text": .null])
                try scratch.update("Thing", new[1], ["text": .string("red")])
                check.equal(try keys(scratch, "red"), new, "to nil and from nil")
                try scratch.delete("Thing", [1, new[0]])
                check.equal(try keys(scratch, "red OR apple"), [new[1]], "deleted")
                try scratch.load("Thing", texts([9: "red cherry", 10: "cherry"]))
                check.equal(try keys(scratch, "red"), [new[1], 9].sorted(), "loaded next to existing rows")
                if harness.capabilities.contains(.persistent) { try scratch.reopen() }
                check.equal(try keys(scratch, "cherry"), [9, 10], "opened again")
                check.equal(try keys(scratch, "pear"), [2], "opened again")
            }
        },
        ConformanceCase("P061.a-full-text-index-follows-changes-of-many", clause: "T4") { harness, check in
            try harness.withStore(schema) { scratch in
                let thing = try scratch.entity("Thing"), description = scratch.schema[thing]
                guard let text = description.slot("text"), let constraint = description.uniqueConstraints.first else {
                    return check.isTrue(false, "the model has a text and a unique constraint")
                }
                try scratch.load("Thing", (1...5).map { ($0, ["text": .string("old \($0)"), "code": .string("c\($0)")]) })
                func plan(_ query: String) throws -> FetchPlan { try ObjectRequest("Thing", where: search(query)).plan(in: scratch.schema) }
                try scratch.write { writer in
                    let update = BatchUpdate(fetch: try plan("1 OR 2"), assignments: [(text, .value(.string("New one"), .string))])
                    if try writer.updateAll(update) == nil {
                        let rows = [1, 2].map { (key: Int64($0), version: Int64(1), values: ["text": Value.string("New one")]) }
                        try writer.apply(ChangeSet(entities: [scratch.updates("Thing", rows)]))
                    }
                }
                check.equal(try keys(scratch, "new"), [1, 2], "a change of all that a search finds")
                try scratch.write { writer in
                    var mask = SlotMask()
                    mask.insert(text)
                    let rows: [(Int64, Int64, [String: Value])] = [
                        (20, 1, ["code": .string("c3"), "text": .string("upserted")]),
                        (21, 1, ["code": .string("c9"), "text": .string("upserted")]),
                    ]
                    _ = try writer.upsert(RowUpsert(entity: thing, constraint: constraint, mask: mask, rows: scratch.source(thing, rows)))
                }
                check.equal(try keys(scratch, "upserted"), [3, 21], "an upsert")
                check.equal(try keys(scratch, "old"), [4, 5], "remaining objects")
                try scratch.write { writer in
                    if try writer.deleteAll(plan("old")) == nil {
                        try writer.apply(ChangeSet(entities: [EntityChanges(entity: thing, deletes: [4, 5].map { RowDeletion(key: $0) })]))
                    }
                }
                check.equal(try keys(scratch, "old"), [], "a deletion of all that a search finds")
                check.equal(try keys(scratch, "new OR upserted"), [1, 2, 3, 21], "the others")
            }
        },
        ConformanceCase("P061.a-full-text-index-rolls-back", clause: "T4, W5", needs: [.savepoints]) { harness, check in
            try harness.withStore(schema) { scratch in
                try scratch.load("Thing", texts([1: "red apple", 2: "green pear"]))
                let writer = try scratch.store.beginWrite(WriteOptions(timeout: 10))
                func change(_ key: Int64, _ text: String) throws {
                    try writer.apply(ChangeSet(entities: [scratch.updates("Thing", [(key, 1, ["text": .string(text)])])]))
                }
                try change(1, "blue apple")
                let mark = try writer.savepoint()
                try change(2, "blue pear")
                check.equal(try keys(scratch, "blue", writer), [1, 2], "the transaction sees its changes")
                try writer.rollback(to: mark)
                check.equal(try keys(scratch, "blue", writer), [1], "back at the savepoint")
                check.equal(try keys(scratch, "green", writer), [2], "back at the savepoint")
                check.equal(try keys(scratch, "red", writer), [], "before the savepoint")
                check.throwing(.uniqueConstraintViolated, "rows of which one violates a constraint") {
                    let rows: [[String: Value]] = (0..<120).map { ["text": .string("blue \($0)"), "code": .string("\(min($0, 90))")] }
                    try scratch.insert("Thing", rows, writer)
                }
                try writer.rollback(to: mark)
                check.equal(try keys(scratch, "blue", writer), [1], "back at the savepoint once more")
                writer.end()
                check.equal(try keys(scratch, "blue"), [], "rolled back")
                check.equal(try keys(scratch, "red"), [1], "rolled back")
            }
        },
        ConformanceCase("P062.random-searches", clause: "T4") { harness, check in
            try harness.withStore(schema) { scratch in
                var random = RandomSearches(seed: RandomCases.seed &+ 5)
                var reference = ReferenceStore(rows: random.rows(1...60))
                try scratch.load("Thing", reference.rows.map { ($0.key, $0.values) })
                for round in 0..<(IsolationCases.isThorough ? 200 : 6) {
                    for number in 0..<50 {
                        let request = random.request(), found = try scratch.keys(request), expected = reference.keys(request)
                        check.equal(found, expected, "seed \(RandomCases.seed), round \(round), search \(number): \(request)")
                        if !check.failures.isEmpty { return }
                    }
                    try random.change(&reference, scratch)
                }
            }
        },
    ]

    private static func explain(_ scratch: Scratch) throws -> String {
        try scratch.load("Thing", (1...3_000).map { ($0, ["text": .string($0 % 500 == 0 ? "rare word" : "word number \($0)")]) })
        let plan = try ObjectRequest("Thing", where: search("rare")).plan(in: scratch.schema)
        return try scratch.read { try $0.explanation(of: plan) }.joined(separator: "\n")
    }

    private static let explanations: [ConformanceCase] = [
        ConformanceCase("P063.a-full-text-index-is-used", clause: "S8", needs: [.fullTextIndexes]) { harness, check in
            try harness.withStore(schema) { scratch in
                let explanation = try explain(scratch)
                check.isTrue(explanation.contains("fullText"), "the plan names the index: \(explanation)")
                check.equal(try keys(scratch, "rare"), [500, 1_000, 1_500, 2_000, 2_500, 3_000], "keys")
            }
        },
        ConformanceCase("P063.without-a-full-text-index-texts-are-read", clause: "S8", needsAbsent: [.fullTextIndexes]) {
            harness, check in
            try harness.withStore(schema) { scratch in
                let explanation = try explain(scratch)
                check.isTrue(!explanation.contains("fullText"), "the plan names no index: \(explanation)")
                check.equal(try keys(scratch, "rare"), [500, 1_000, 1_500, 2_000, 2_500, 3_000], "keys")
            }
        },
    ]
}

/// A generator of random texts, changes and searches. Foundation and Polystore fold its letters in the same way.
struct RandomSearches {
    private static let words = [
        "a", "ab", "abc", "b", "B", "É", "e", "éa", "ea", "Ångström", "angstrom", "ΑΒΓ", "Жук", "жу", "7", "70", "日本",
    ]
    private static let gaps = [" ", " ", " ", ", ", "-", "…", "\n", "'", "😀"]

    private var random: SplitMix

    init(seed: UInt64) { random = SplitMix(seed: seed) }

    private mutating func below(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }
    private mutating func pick<T>(_ list: [T]) -> T { list[below(list.count)] }

    private mutating func text() -> Value {
        if below(8) == 0 { return .null }
        return .string((0..<below(6)).map { _ in pick(Self.words) + pick(Self.gaps) }.joined())
    }

    mutating func rows(_ keys: ClosedRange<Int64>) -> [Row] {
        keys.map { key in
            Row(key: key, entity: "Thing", version: 1, values: ["text": text(), "number": .int(Int64(below(10)))])
        }
    }

    private mutating func term() -> String {
        switch below(5) {
        case 0: "\(pick(Self.words))*"
        case 1: "\"\(pick(Self.words)) \(pick(Self.words))\(below(3) == 0 ? "*" : "")\""
        default: pick(Self.words)
        }
    }

    private mutating func query() -> String {
        var parts = [term()]
        for _ in 0..<below(3) { parts.append(below(3) == 0 ? "OR \(term())" : term()) }
        for _ in 0..<(below(4) == 0 ? 1 + below(2) : 0) { parts.append("-\(term())") }
        return parts.joined(separator: " ")
    }

    mutating func request() -> ObjectRequest {
        let search = QueryPredicate.text(.path("text"), .search, query())
        let number = QueryPredicate.compare(.path("number"), .less, .value(.int(Int64(below(10)))))
        switch below(5) {
        case 0: return ObjectRequest("Thing", where: .not(search))
        case 1: return ObjectRequest("Thing", where: .and([number, search]))
        case 2: return ObjectRequest("Thing", where: .or([search, number]))
        case 3: return ObjectRequest("Thing", where: search, orderBy: [OrderTerm("number", ascending: false)], limit: 1 + below(5))
        default: return ObjectRequest("Thing", where: search)
        }
    }

    /// Inserts, changes and deletes some rows in one transaction, in a store and its reference.
    mutating func change(_ reference: inout ReferenceStore, _ scratch: Scratch) throws {
        let thing = try scratch.entity("Thing"), changed = reference.rows.indices.filter { _ in below(4) == 0 }
        for index in changed { reference.rows[index].values["text"] = text() }
        let updates = changed.map { index in
            (key: reference.rows[index].key, version: Int64(1), values: ["text": reference.rows[index].values["text"] ?? .null])
        }
        let deleted = reference.rows.indices.filter { index in !changed.contains(index) && below(8) == 0 }.map { reference.rows[$0].key }
        reference.rows.removeAll { deleted.contains($0.key) }
        let last = (reference.rows.map(\.key).max() ?? 0) + 100, inserted = rows((last + 1)...(last + 8))
        reference.rows += inserted
        try scratch.write { writer in
            var changes = try scratch.updates("Thing", updates)
            changes.deletes = deleted.map { RowDeletion(key: $0) }
            changes.inserts = scratch.source(thing, inserted.map { ($0.key, 1, $0.values) })
            try writer.apply(ChangeSet(entities: [changes]))
        }
    }
}
