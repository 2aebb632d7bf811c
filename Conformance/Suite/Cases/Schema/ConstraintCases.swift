internal import Foundation
internal import PolystoreStorage

/// Cases of group S: the objects that a unique constraint covers, and the values that it considers equal.
enum ConstraintCases {
    static let all: [ConformanceCase] = [lengths, loads, families]

    private static let long = String(repeating: "x", count: 600)

    private static func attribute(_ name: String, _ type: ValueType = .string) -> Attribute { Attribute(name, type, isOptional: true) }

    private static func schema() throws -> Schema {
        let label = Entity(
            "Label", attributes: [attribute("a"), attribute("b"), attribute("c", .data), attribute("n", .int64)],
            uniqueConstraints: [UniqueConstraint(["a", "b"]), UniqueConstraint(["a", "c"]), UniqueConstraint(["a", "n"])])
        let base = Entity("Base", attributes: [attribute("tag"), attribute("n", .int64)])
        let sub = Entity(
            "Sub", parent: "Base", attributes: [attribute("k")],
            uniqueConstraints: [UniqueConstraint(["tag"]), UniqueConstraint(["n", "k"])])
        return try Schema(entities: [label, base, Entity("Other", parent: "Base"), sub, Entity("Below", parent: "Sub")])
    }

    private static func upsert(
        _ scratch: Scratch, _ name: String, _ constraint: Int, _ rows: [[String: Value]], changing: String
    ) throws -> [UpsertedRow] {
        let entity = try scratch.entity(name), description = scratch.schema[entity]
        var mask = SlotMask(), result: [UpsertedRow] = []
        if let slot = description.slot(changing) { mask.insert(slot) }
        try scratch.write { writer in
            var keys: [Int64] = []
            while keys.count < rows.count { keys += Array(try writer.reserveKeys(entity, count: rows.count - keys.count)) }
            let source = scratch.source(entity, zip(keys, rows).map { ($0, 1, $1) })
            result = try writer.upsert(
                RowUpsert(entity: entity, constraint: description.uniqueConstraints[constraint], mask: mask, rows: source))
        }
        return result
    }

    private static let lengths = ConformanceCase("S017.long-values-of-a-compound-constraint", clause: "V4") { harness, check in
        try harness.withStore(schema()) { scratch in
            func label(_ suffix: String, _ name: String, _ value: Value) -> [String: Value] { ["a": .string(long + suffix), name: value] }
            let texts = ["", "z", "zz"].map { label("", "b", .string($0)) }
            let data = [Data(), Data([0]), Data([0, 0])].map { label("q", "c", .data($0)) }
            let numbers = [0, 1, -1].map { label("r", "n", .int($0)) }
            for row in texts + data + numbers {
                try scratch.insert("Label", [row])
                check.throwing(.uniqueConstraintViolated, "again") { try scratch.insert("Label", [row]) }
            }
            check.throwing(.uniqueConstraintViolated, "in one change set") {
                try scratch.insert("Label", [label("s", "b", .string("")), label("s", "b", .string(""))])
            }
            try scratch.insert("Label", [label("s", "b", .null), label("s", "b", .null)])
            check.equal(try scratch.keys(ObjectRequest("Label")).count, 11, "objects")
            let upserted = try upsert(scratch, "Label", 0, [texts[0], label("t", "b", .string(""))], changing: "n")
            check.equal(upserted.map(\.isInserted), [false, true], "an upsert finds the existing object")
        }
    }

    private static let loads = ConformanceCase("S018.a-load-checks-long-unique-values", clause: "V4, S4") { harness, check in
        try harness.withStore { scratch in
            func rows(_ codes: [String], from key: Int64 = 1) -> [(Int64, [String: Value])] {
                codes.enumerated().map { (key + Int64($0), ["code": .string($1)]) }
            }
            for length in [1, 400, 499, 500, 501, 502, 503, 600, 1_024] {
                let equal = String(repeating: "y", count: length)
                for codes in [[equal, equal], [long, equal, "a", "zz", equal, "b"]] {
                    check.throwing(.uniqueConstraintViolated, "equal in \(length) bytes") { try scratch.load("Thing", rows(codes)) }
                }
            }
            check.equal(try scratch.keys(ObjectRequest("Thing")), [], "nothing is loaded")
            let codes = ["b", long + "2", "z", long, long + "1", "a", String(repeating: "x", count: 499), "xx"]
            try scratch.load("Thing", rows(codes))
            let order = ObjectRequest("Thing", orderBy: [OrderTerm("code")])
            check.equal(try scratch.keys(order), [6, 1, 8, 7, 4, 5, 2, 3], "in their order")
            for (index, code) in codes.enumerated() {
                let request = ObjectRequest("Thing", where: .compare(.path("code"), .equal, .value(.string(code))))
                check.equal(try scratch.keys(request), [Int64(index + 1)], "found")
                check.throwing(.uniqueConstraintViolated, "loaded again") { try scratch.load("Thing", rows([code], from: 20)) }
                check.throwing(.uniqueConstraintViolated, "added again") { try scratch.insert("Thing", [["code": .string(code)]]) }
            }
            try scratch.load("Thing", rows([long + "3", "c"], from: 20))
            check.equal(try scratch.keys(ObjectRequest("Thing")).count, 10, "objects")
        }
    }

    private static let families = ConformanceCase(
        "S019.a-constraint-binds-the-entity-that-declares-it-and-those-below", clause: "W14"
    ) { harness, check in
        try harness.withStore(schema()) { scratch in
            func row(_ tag: String) -> [String: Value] { ["tag": .string(tag)] }
            try scratch.insert("Other", [row("x"), row("x")])
            try scratch.insert("Base", [row("x"), row("x")])
            try scratch.insert("Sub", [row("x")])
            for name in ["Sub", "Below"] {
                do {
                    try scratch.insert(name, [row("x")])
                    check.isTrue(false, "another \(name) is refused")
                } catch let error as StorageError {
                    check.equal(error.code, .uniqueConstraintViolated, "code")
                    check.equal(error.details.constraint, "Sub(tag)", "constraint")
                    check.equal(error.details.property, "tag", "property")
                }
            }
            check.throwing(.uniqueConstraintViolated, "two attributes, one of them inherited") {
                try scratch.insert("Sub", (0..<2).map { _ in ["n": .int(1), "k": .string("k")] })
            }
            try scratch.insert("Other", [["n": .int(1)], ["n": .int(1)]])
            // Objects of another entity have the same values.
            try scratch.insert("Other", [row("y")])
            let upserted = try upsert(scratch, "Sub", 0, [row("x"), row("y")], changing: "n")
            check.equal(upserted.map(\.isInserted), [false, true], "an upsert finds objects that the constraint covers")
            check.throwing(.uniqueConstraintViolated, "an update") { try scratch.update("Sub", upserted[1].key, row("x")) }
            try scratch.update("Sub", upserted[1].key, row("w"))
            check.equal(try scratch.keys(ObjectRequest("Base", where: .compare(.path("tag"), .equal, .value(.string("x"))))).count, 5, "x")
        }
    }
}
