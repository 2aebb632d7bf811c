internal import Foundation
internal import Polystore
internal import Synchronization

/// Cases about the end of an online migration: writes at the last moment, and references that one version requires.
enum RollingEndings {
    static let all: [ConformanceCase] = [
        RollingCases.rollingCase("M028.what-is-written-until-the-end-is-no-loss-without-a-word", "M14") { harness, check in
            let before = [Attribute("a", .int64), Attribute("mail", .string, isOptional: true)], after = [Attribute("a", .int64)]
            try RollingScene.run(harness, before, after, rows: [["a": .int(1)]]) { scene in
                let next = try scene.begin()
                defer { try? next.store.close() }
                let codes = Mutex<[StorageError.Code?]>([]), (old, phases) = (Held(scene.old), Held(scene.phases))
                Threads.run(2) { number in
                    do {
                        if number == 0 {
                            // The value is not visible before the commit, which happens while the other session waits.
                            try old.value.write { writer in
                                try writer.apply(ChangeSet(entities: [old.value.updates("Note", [(1, 0, ["mail": .string("m")])])]))
                                Thread.sleep(forTimeInterval: 1.5)
                            }
                        } else {
                            Thread.sleep(forTimeInterval: 0.5)
                            try phases.value.contract(timeout: 20)
                        }
                        codes.withLock { $0.append(nil) }
                    } catch { codes.withLock { $0.append((error as? StorageError)?.code ?? .corrupted) } }
                }
                check.equal(Set(codes.withLock { $0 }), [nil, .dataLossRefused], "the end of the step")
                check.equal(try scene.old.values("Note", "mail"), [.string("m")], "the value")
                try scene.phases.contract(acceptingLosses: ["Note.mail"], timeout: 10)
            }
        },
        RollingCases.rollingCase("M028.a-required-reference-of-one-version-keeps-its-object", "M14") { harness, check in
            let person = Entity("Person", attributes: [Attribute("name", .string)])
            func schema(_ version: String, _ other: String) throws -> Schema {
                let base = Entity(other + "Base", isAbstract: true),
                    ticket = Entity(
                        other, parent: base.name, relationships: [Relationship("holder", to: "Person", isOptional: false)])
                return try Schema(
                    version: version,
                    entities: [
                        person, base, ticket, Entity(other + "Copy", parent: base.name, relationships: [Relationship("of", to: "Person")]),
                    ])
            }
            let before = try schema("V1", "Letter"), after = try schema("V2", "Ticket")
            try RollingScene.run(
                harness, before, after,
                fill: { old in
                    try old.insert("Person", ["a", "b", "c", "d"].map { ["name": .string($0)] })
                    try old.insert("Letter", [["holder": .int(1)]])
                    try old.insert("LetterCopy", [["of": .int(3)]])
                }
            ) { scene in
                let next = try scene.begin()
                defer { try? next.store.close() }
                try next.insert("Ticket", [["holder": .int(2)]])
                try next.insert("TicketCopy", [["of": .int(4)]])
                func denied(_ scratch: Scratch, _ key: Int64, _ path: String) {
                    check.throwing(.deleteDenied, "an object that only the other version needs") {
                        do { try scratch.delete("Person", [key]) } catch let error as StorageError {
                            check.isTrue(error.message.contains(path), error.message)
                            throw error
                        }
                    }
                }
                denied(scene.old, 2, "Ticket.holder")
                denied(next, 1, "Letter.holder")
                try scene.old.delete("Person", [4])
                try next.delete("Person", [3])
                check.equal(try next.values("Ticket", "holder"), [.int(2)], "the newer reference")
                check.equal(try next.values("TicketCopy", "of"), [.null], "one that can be without")
                check.equal(try scene.old.values("Letter", "holder"), [.int(1)], "the older reference")
                check.equal(try scene.old.values("LetterCopy", "of"), [.null], "one that can be without")
                try scene.phases.contract(acceptingLosses: ["LetterBase", "Letter", "LetterCopy"], timeout: 10)
                try next.delete("Person", [1])
                try Integrity.check(next.store, after, check)
            }
        },
        RollingCases.rollingCase("M028.abandoned-before-anything-is-filled", "M14") { harness, check in
            func schema(_ version: String, _ dog: [Attribute]) throws -> Schema {
                try Schema(
                    version: version,
                    entities: [Entity("Animal", attributes: [Attribute("age", .int16)]), Entity("Dog", parent: "Animal", attributes: dog)])
            }
            let before = try schema("V1", []), after = try schema("V2", [Attribute("legs", .int16, defaultValue: .int(4))])
            try RollingScene.run(harness, before, after, fill: { try $0.insert("Dog", [["age": .int(1)], ["age": .int(2)]]) }) { scene in
                try scene.expand()
                try scene.phases.abandon(timeout: 10)
                check.isTrue(try scene.phases.current() == nil, "no step is under way")
                check.equal(try scene.old.values("Dog", "age"), [.int(1), .int(2)], "values")
            }
        },
        RollingCases.rollingCase("M028.the-history-goes-on-over-several-steps", "M14") { harness, check in
            try RollingScene.run(harness, [Attribute("a", .int16)], [Attribute("a", .int32)], rows: [["a": .int(1)]]) { scene in
                try scene.old.update("Note", 1, ["a": .int(2)])
                let first = try scene.old.token()
                let next = try scene.begin()
                defer { try? next.store.close() }
                try scene.old.update("Note", 1, ["a": .int(3)])
                try next.update("Note", 1, ["a": .int(4)])
                func kinds(_ scratch: Scratch, since token: HistoryToken? = nil) throws -> [HistoryChange.Kind] {
                    try scratch.history(since: token).flatMap { $0.changes.map(\.kind) }
                }
                var mask = SlotMask()
                mask.insert(0)
                let all = [HistoryChange.Kind.insert] + Array(repeating: .update(mask), count: 3)
                _ = try next.token()
                check.equal(try kinds(next), all, "while both are used")
                try scene.phases.contract(timeout: 10)
                check.equal(try kinds(next), all, "behind the first step")
                check.equal(try kinds(next, since: first), Array(all.suffix(2)), "since a token of the version before")
                let third = try Schema(version: "V3", entities: [Entity("Note", attributes: [Attribute("a", .int64)])])
                let desk = try next.another(OpenRequest(schema: nil, createIfMissing: false)), phases = try RollingMigration(desk)
                defer { try? desk.close() }
                try phases.expand(to: SchemaHistory(schemas: [scene.after, third]), timeout: 10)
                try phases.backfill()
                let newest = try Scratch(beside: next, third)
                defer { try? newest.store.close() }
                try newest.update("Note", 1, ["a": .int(5)])
                _ = try newest.token()
                check.equal(try kinds(newest), all + [.update(mask)], "while the next two are used")
                check.equal(try kinds(next), all + [.update(mask)], "as the older version reports it")
                try phases.contract(timeout: 10)
                check.equal(try kinds(newest), all + [.update(mask)], "behind the second step")
                check.equal(try newest.values("Note", "a"), [.int(5)], "the value")
            }
        },
    ]
}
