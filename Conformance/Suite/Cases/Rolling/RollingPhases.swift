internal import Foundation
internal import Polystore
internal import Synchronization

/// Cases about the phases of an online migration: their results, their order, and how they end.
enum RollingPhases {
    static let all: [ConformanceCase] = [
        RollingCases.rollingCase("M024.the-history-is-read-in-the-terms-of-each-version", "M12") { harness, check in
            let before = try Schema(
                version: "V1", entities: [Entity("Zoo"), Entity("Note", attributes: [Attribute("a", .int64), Attribute("b", .int64)])])
            let after = try Schema(
                version: "V2",
                entities: [
                    Entity("Alpha", attributes: [Attribute("x", .int64)]),
                    Entity(
                        "Note", attributes: [Attribute("c", .int64, defaultValue: .int(0)), Attribute("b", .int64), Attribute("a", .int64)]),
                    Entity("Zoo"),
                ])
            func delivered(_ scratch: Scratch, since token: HistoryToken?) throws -> [[String]] {
                try scratch.history(since: token).map { entry in
                    entry.changes.map { change in
                        let entity = scratch.schema[change.entity]
                        switch change.kind {
                        case .insert: return "+\(entity.name) \(change.key)"
                        case .delete: return "-\(entity.name) \(change.key)"
                        case .update(let mask): return "\(entity.name) \(change.key) \(mask.slots.map { entity.slots[$0].name })"
                        case .links: return "links"
                        }
                    }
                }
            }
            try RollingScene.run(harness, before, after, fill: { try $0.insert("Note", [["a": .int(1), "b": .int(1)]]) }) { scene in
                try scene.expand()
                try scene.old.update("Note", 1, ["b": .int(2)])
                try scene.phases.backfill()
                let next = try Scratch(beside: scene.old, after)
                defer { try? next.store.close() }
                try next.update("Note", 1, ["a": .int(3), "c": .int(3)])
                try next.insert("Alpha", [["x": .int(1)]])
                try scene.old.insert("Zoo", [[:]])
                let token = try next.token()
                try next.update("Note", 1, ["c": .int(4)])
                try scene.old.delete("Note", [1])
                let older = [["+Note 1"], [#"Note 1 ["b"]"#], [#"Note 1 ["a"]"#], [], ["+Zoo 1"], ["Note 1 []"], ["-Note 1"]]
                let newer = [
                    ["+Note 1"], [#"Note 1 ["b"]"#], [#"Note 1 ["c", "a"]"#], ["+Alpha 1"], ["+Zoo 1"], [#"Note 1 ["c"]"#], ["-Note 1"],
                ]
                _ = try next.token()
                _ = try scene.old.token()
                check.equal(try delivered(scene.old, since: nil), older, "the older version")
                check.equal(try delivered(next, since: nil), newer, "the newer version")
                try scene.phases.contract(timeout: 10)
                check.equal(try delivered(next, since: nil), newer, "afterwards")
                check.equal(try delivered(next, since: token), Array(newer.suffix(2)), "since a token from before the end")
                let key = try next.insert("Alpha", [["x": .int(2)]])[0]
                check.equal(try delivered(next, since: token).last, ["+Alpha \(key)"], "it continues")
            }
        },
        RollingCases.rollingCase("M025.filling-goes-on-where-it-stopped", "M14") { harness, check in
            try RollingScene.run(
                harness, RollingCases.before, RollingCases.after, rows: (0..<20).map { RollingCases.row("\($0)", $0, nil) }
            ) { scene in
                try scene.expand()
                let progress = MigrationProgress()
                progress.cancel()
                check.throwing(.cancelled, "stopped") { try scene.phases.backfill(BackfillPace(batchSize: 5), progress: progress) }
                check.equal(try scene.phases.current()?.phase, .filling, "the phase")
                let second = MigrationProgress()
                try scene.phases.backfill(BackfillPace(batchSize: 5), progress: second)
                check.equal(second.current.completedObjects, 15, "remaining rows to fill")
                check.equal(try scene.phases.current()?.phase, .ready, "the phase when it is filled")
                let next = try Scratch(beside: scene.old, scene.after)
                defer { try? next.store.close() }
                check.equal(try next.values("Note", "count"), (0..<20).map { .int($0) }, "values")
                try scene.phases.backfill()
            }
        },
        RollingCases.rollingCase("M025.programs-go-on-through-all-phases", "M14") { harness, check in
            let attributes = [Attribute("a", .int32), Attribute("b", .string, isOptional: true)]
            let wide = [Attribute("a", .int64), Attribute("b", .string, defaultValue: .string("-"))]
            try RollingScene.run(harness, attributes, wide, rows: (0..<200).map { ["a": .int($0)] }) { scene in
                let failures = Mutex<[String]>([]), written = Mutex(0), isDone = Mutex(false), isRefused = Mutex(false)
                @Sendable func work(_ scratch: Scratch, _ values: [String: Value]) throws {
                    do {
                        let key = try scratch.insert("Note", [values])[0]
                        written.withLock { $0 += 1 }
                        try scratch.update("Note", key % 200 + 1, ["a": .int(key)])
                        _ = try scratch.fetch(ObjectRequest("Note", where: QueryPredicate(parsing: "a < 10")))
                    } catch let error as StorageError where error.code == .serializationFailure {}
                }
                let (old, after) = (Held(scene.old), scene.after)
                let phases = Held(scene.phases)
                Threads.run(3) { number in
                    do {
                        switch number {
                        case 0:
                            while !isDone.withLock({ $0 }) { try work(old.value, ["a": .int(1)]) }
                        case 1:
                            Thread.sleep(forTimeInterval: 0.05)
                            try phases.value.expand(
                                to: SchemaHistory(schemas: [old.value.schema, after]), timeout: 20)
                            try phases.value.backfill(BackfillPace(batchSize: 20, pause: 0.005))
                            Thread.sleep(forTimeInterval: 0.3)
                            try phases.value.contract(timeout: 20)
                            for _ in 0..<2000 where !isRefused.withLock({ $0 }) { Thread.sleep(forTimeInterval: 0.01) }
                            isDone.withLock { $0 = true }
                        default:
                            var next: Scratch?
                            while next == nil, !isDone.withLock({ $0 }) {
                                next = try? Scratch(beside: old.value, after)
                                Thread.sleep(forTimeInterval: 0.01)
                            }
                            while !isDone.withLock({ $0 }), let next { try work(next, ["a": .int(1), "b": .string("n")]) }
                            try next?.store.close()
                        }
                    } catch let error as StorageError where error.code == .schemaMismatch && number == 0 {
                        isRefused.withLock { $0 = true }
                    } catch {
                        failures.withLock { $0.append("\(number): \(error)") }
                        isDone.withLock { $0 = true }
                    }
                }
                check.equal(failures.withLock { $0 }, [], "failures")
                check.isTrue(isRefused.withLock { $0 }, "the older version is refused at last")
                let next = try Scratch(beside: scene.old, scene.after)
                defer { try? next.store.close() }
                check.equal(try next.fetch(ObjectRequest("Note")).count, 200 + written.withLock { $0 }, "objects")
                check.isTrue(try !next.values("Note", "b").contains(.null), "none is without a value")
            }
        },
        RollingCases.rollingCase("M026.abandoned-and-begun-again", "M14") { harness, check in
            try RollingScene.run(
                harness, RollingCases.before, RollingCases.after, rows: [RollingCases.row("a", 1, nil), RollingCases.row("b", 2, "x")]
            ) { scene in
                let contents = try scene.old.fetch(ObjectRequest("Note"))
                let next = try scene.begin()
                defer { try? next.store.close() }
                try scene.phases.abandon(timeout: 10)
                check.throwing(.schemaMismatch, "the newer version") { _ = try next.fetch(ObjectRequest("Note")) }
                check.equal(try scene.old.fetch(ObjectRequest("Note")), contents, "the older version is unchanged")
                check.equal(try scene.phases.current() == nil, true, "no step is under way")
                check.throwing(.notFound, "nothing to end") { try scene.phases.abandon(timeout: 1) }

                let again = try scene.begin()
                defer { try? again.store.close() }
                try again.update("Note", 1, ["rank": .int(9)])
                check.throwing(.dataLossRefused, "data of the newer version alone") {
                    do { try scene.phases.abandon(timeout: 10) } catch let error as StorageError {
                        check.isTrue(error.message.contains("Note.rank"), error.message)
                        throw error
                    }
                }
                check.equal(try again.values("Note", "rank"), [.int(9), .int(7)], "nothing happened")
                try scene.phases.abandon(acceptingLosses: true, timeout: 10)
                let third = try scene.begin()
                defer { try? third.store.close() }
                check.equal(try third.values("Note", "rank"), [.int(7), .int(7)], "begun a third time")
                try scene.phases.contract(acceptingLosses: ["Note.mail"], timeout: 10)
                check.equal(try third.values("Note", "title"), [.string("a"), .string("b")], "and ended")
            }
        },
        RollingCases.rollingCase("M026.abandoned-while-it-is-filled", "M14") { harness, check in
            let rows = (0..<10).map { RollingCases.row("\($0)", $0, nil) }
            try RollingScene.run(harness, RollingCases.before, RollingCases.after, rows: rows) { scene in
                try scene.expand()
                let other = try scene.old.another(OpenRequest(schema: nil, createIfMissing: false))
                defer { try? other.close() }
                let phases = try RollingMigration(other)
                check.throwing(.notFound, "the filling") {
                    try scene.desk.storage.ability((any RollingStorage).self)?.backfill(BackfillPace(batchSize: 3)) {
                        progress throws(StorageError) in
                        check.equal([progress.completed, progress.total], [3, 10], "progress")
                        try phases.abandon(timeout: 10)
                    }
                }
                check.equal(try scene.old.values("Note", "count"), (0..<10).map { .int($0) }, "values")
            }
        },
        RollingCases.rollingCase("M026.one-step-at-a-time", "M14") { harness, check in
            try RollingScene.run(harness, RollingCases.before, RollingCases.after, rows: [RollingCases.row("a", 1, nil)]) { scene in
                check.throwing(.notFound, "backfill before expand") { try scene.phases.backfill() }
                check.throwing(.notFound, "contract before expand") { try scene.phases.contract(timeout: 1) }
                try scene.expand()
                check.throwing(.busy, "a second one") { try scene.expand() }
                check.throwing(.busy, "an ordinary migration") {
                    var other = MigrationScene(scene.before, scene.after)
                    other.losses = ["Note.mail"]
                    try other.migrate(scene.old)
                }
                try scene.phases.backfill()
                try scene.phases.contract(acceptingLosses: ["Note.mail"], timeout: 10)
                // An ordinary migration afterwards.
                let next = try Scratch(beside: scene.old, scene.after)
                defer { try? next.store.close() }
                let third = try Schema(
                    version: "V3", entities: [Entity("Note", attributes: RollingCases.after + [Attribute("z", .bool, isOptional: true)])])
                try MigrationScene(scene.after, third).migrate(next)
                let migrated = Scratch(migrated: next, to: third)
                check.equal(try migrated.values("Note", "title"), [.string("a")], "values")
                check.equal(try migrated.history().count, 1, "history")
            }
        },
    ]
}

/// A value that a case passes to threads, which use it at the same time, as the contract permits for stores.
///
/// Unchecked: a scratch only stores its own newest token, which no thread of these cases reads.
struct Held<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
}
