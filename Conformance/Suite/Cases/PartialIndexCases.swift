internal import Foundation
internal import PolystoreStorage

/// Cases about partial indexes: no answer depends on them, and stores that support them index only the objects that satisfy their
/// conditions.
enum PartialIndexCases {
    private static let conditions = [
        "isActive == TRUE", "state != 'it\\'s done'", "closed == NIL OR closed > 990", "age <= -5", "age != 3",
    ]

    private static func schema(_ conditions: [String]) throws -> Schema {
        try Schema(entities: [
            Entity(
                "Task",
                attributes: [
                    Attribute("age", .int32), Attribute("isActive", .bool), Attribute("state", .string),
                    Attribute("closed", .int64, isOptional: true),
                ], indexes: conditions.map { Index(["age"], where: $0) })
        ])
    }

    private struct Task {
        var age: Int64, isActive: Bool, state: String, closed: Int64?

        init(_ number: Int64) {
            age = number % 50 - 10
            isActive = number % 100 == 7
            state = number % 100 == 8 ? "open" : "it's done"
            closed = number % 100 == 9 ? nil : number % 1_000
        }

        var values: [String: Value] {
            [
                "age": .int(age), "isActive": .bool(isActive), "state": .string(state), "closed": closed.map(Value.int) ?? .null,
            ]
        }
    }

    private static func keys(_ scratch: Scratch, _ text: String) throws -> [Int64] {
        try scratch.keys(ObjectRequest("Task", where: QueryPredicate(parsing: text)))
    }

    private static func explanation(_ scratch: Scratch, _ text: String) throws -> String {
        let plan = try ObjectRequest("Task", where: QueryPredicate(parsing: text)).plan(in: scratch.schema)
        return try scratch.read { try $0.explanation(of: plan) }.joined(separator: "\n")
    }

    static let all: [ConformanceCase] = answers + explanations

    private static let answers: [ConformanceCase] = [
        ConformanceCase("P065.partial-indexes-change-no-answer", clause: "S8") { harness, check in
            try harness.withStore(schema(conditions)) { scratch in
                let tasks = (1...2_000).map { (key: Int64($0), task: Task(Int64($0))) }
                try scratch.load("Task", tasks.map { ($0.key, $0.task.values) })
                func expect(_ text: String, _ holds: (Task) -> Bool) throws {
                    check.equal(try keys(scratch, text), tasks.filter { holds($0.task) }.map(\.key), text)
                }
                try expect("isActive == TRUE") { $0.isActive }
                try expect("isActive == TRUE AND age == 7") { $0.isActive && $0.age == 7 }
                try expect("isActive == FALSE AND age == -3") { !$0.isActive && $0.age == -3 }
                try expect("NOT (isActive == TRUE) AND age < -5") { !$0.isActive && $0.age < -5 }
                try expect("state != 'it\\'s done' AND age == -2") { $0.state != "it's done" && $0.age == -2 }
                try expect("state == 'it\\'s done' AND age == -2") { $0.state == "it's done" && $0.age == -2 }
                try expect("(closed == NIL OR closed > 990) AND age >= -1") { ($0.closed.map { $0 > 990 } ?? true) && $0.age >= -1 }
                try expect("closed > 990 AND age == 31") { $0.closed.map { $0 > 990 } ?? false && $0.age == 31 }
                try expect("closed == NIL AND age == -1") { $0.closed == nil && $0.age == -1 }
                try expect("age <= -5") { $0.age <= -5 }
                try expect("age <= -4") { $0.age <= -4 }
                try expect("age != 3 AND age < 5") { $0.age != 3 && $0.age < 5 }
                try expect("age == 3") { $0.age == 3 }
            }
        },
        ConformanceCase("P066.objects-come-into-a-partial-index-and-leave-it", clause: "S8") { harness, check in
            try harness.withStore(schema(conditions)) { scratch in
                let made = try scratch.insert("Task", (1...20).map { Task($0).values })
                let text = "isActive == TRUE AND age >= -10"
                check.equal(try keys(scratch, text), [made[6]], "in the beginning")
                try scratch.update("Task", made[0], ["isActive": .bool(true)])
                try scratch.update("Task", made[6], ["isActive": .bool(false)])
                try scratch.update("Task", made[1], ["isActive": .bool(true), "age": .int(40)])
                check.equal(try keys(scratch, text), [made[0], made[1]], "after changes")
                try scratch.update("Task", made[1], ["age": .int(-20)])
                try scratch.delete("Task", [made[2]])
                check.equal(try keys(scratch, text), [made[0]], "of another value")
                check.equal(try keys(scratch, "isActive == TRUE AND age < -10"), [made[1]], "of another value")
                try scratch.delete("Task", [made[0]])
                check.equal(try keys(scratch, "isActive == TRUE"), [made[1]], "after a deletion")
                if harness.capabilities.contains(.savepoints) {
                    let writer = try scratch.store.beginWrite(WriteOptions(timeout: 10))
                    defer { writer.end() }
                    let mark = try writer.savepoint()
                    let rows = [(key: made[1], version: Int64(1), values: ["isActive": Value.bool(false)])]
                    try writer.apply(ChangeSet(entities: [scratch.updates("Task", rows)]))
                    try writer.rollback(to: mark)
                    let found = try scratch.fetch(ObjectRequest("Task", where: QueryPredicate(parsing: "isActive == TRUE")), writer)
                    check.equal(found.map(\.key), [made[1]], "after a rollback")
                }
            }
        },
    ]

    private static let explanations: [ConformanceCase] = [
        ConformanceCase("P067.a-partial-index-holds-its-objects", clause: "S8", needs: [.partialIndexes]) { harness, check in
            for condition in conditions.dropLast(2) {
                try harness.withStore(schema([condition])) { scratch in
                    try scratch.load("Task", (1...2_000).map { ($0, Task($0).values) })
                    let used = try explanation(scratch, "(\(condition)) AND age == 12")
                    check.isTrue(used.contains("Task.index.age"), "\(condition): the plan names the index: \(used)")
                    let other = try explanation(scratch, "age == 12")
                    check.isTrue(!other.contains("Task.index.age"), "\(condition): the plan for other objects does not: \(other)")
                }
            }
        },
        ConformanceCase("P067.a-partial-index-that-holds-all-objects", clause: "S8", needsAbsent: [.partialIndexes]) {
            harness, check in
            try harness.withStore(schema([conditions[0]])) { scratch in
                try scratch.load("Task", (1...2_000).map { ($0, Task($0).values) })
                let used = try explanation(scratch, "age == 12")
                if used.isEmpty { throw NothingToCheck("the store explains no plans") }
                check.isTrue(used.contains("Task.index.age"), "the plan for any objects names the index: \(used)")
            }
        },
    ]
}
