internal import Foundation
internal import PolystoreStorage

/// Cases of group T: the operations that a session still permits, and the requests that are refused before a store receives them.
enum SessionCases {
    static let all: [ConformanceCase] = [
        ConformanceCase("T030.a-failed-change-dooms-until-it-is-undone", clause: "W5", needs: [.savepoints]) { harness, check in
            try harness.withStore { scratch in
                try scratch.insert("Thing", [["code": .string("x")]])
                let writer = try scratch.store.beginWrite()
                defer { writer.end() }
                try scratch.insert("Thing", [["code": .string("a")]], writer)
                let mark = try writer.savepoint()
                check.throwing(.uniqueConstraintViolated, "the change") {
                    try scratch.insert("Thing", [["code": .string("b")], ["code": .string("x")]], writer)
                }
                for (name, verb) in verbs(writer) { check.throwing(.uniqueConstraintViolated, name, verb) }
                try writer.rollback(to: mark)
                try scratch.insert("Thing", [["code": .string("c")]], writer)
                _ = try writer.commit(CommitRecord())
                let codes = try scratch.fetch(ObjectRequest("Thing")).compactMap { $0.values["code"] }
                check.equal(codes, [.string("x"), .string("a"), .string("c")], "existing objects")
            }
        },
        ConformanceCase("T031.a-doomed-session-commits-nothing", clause: "W5") { harness, check in
            try harness.withStore { scratch in
                try scratch.insert("Thing", [["code": .string("x")]])
                let writer = try scratch.store.beginWrite()
                try scratch.insert("Thing", [["code": .string("a")]], writer)
                check.throwing(.uniqueConstraintViolated, "the change") { try scratch.insert("Thing", [["code": .string("x")]], writer) }
                check.throwing(.uniqueConstraintViolated, "the commit") { _ = try writer.commit(CommitRecord()) }
                writer.end()
                check.equal(try scratch.aggregate("Thing", .count, nil), .int(1), "count")
            }
        },
        ConformanceCase("T032.an-ended-session-is-closed", clause: "E3") { harness, check in
            try harness.withStore { scratch in
                for commits in [true, false] {
                    let writer = try scratch.store.beginWrite()
                    if commits { _ = try writer.commit(CommitRecord()) } else { writer.end() }
                    for (name, verb) in verbs(writer) { check.throwing(.storeClosed, name, verb) }
                    writer.end()
                }
            }
        },
        ConformanceCase("T033.a-value-beyond-the-limit-leaves-nothing", clause: "E5") { harness, check in
            try harness.withStore { scratch in
                let store = OpenStore(PoorStore(scratch.store.storage), scratch.store.state, schema: scratch.schema)
                let poor = Scratch(scratch, store), text = Value.string("123456789")
                do {
                    try poor.insert("Thing", [["text": .string("12345678")], ["text": text]])
                    check.isTrue(false, "a text of nine bytes is refused")
                } catch let error as StorageError {
                    check.equal(error.code, .valueTooLarge, "code")
                    check.equal([error.details.entity, error.details.property], ["Thing", "text"], "entity and attribute")
                }
                check.throwing(.valueTooLarge, "a bulk load") { try poor.load("Thing", [(1, ["text": text])]) }
                check.equal(try scratch.aggregate("Thing", .count, nil), .int(0), "count")
            }
        },
        ConformanceCase("T034.an-absent-ability-is-refused", clause: "E4") { harness, check in
            try harness.withStore { scratch in
                let poor = OpenStore(PoorStore(scratch.store.storage), scratch.store.state, schema: scratch.schema)
                let writer = try poor.beginWrite(), token = HistoryToken(store: poor.storeID, position: 1)
                defer { writer.end() }
                check.throwing(.unsupported, "a savepoint") { _ = try writer.savepoint() }
                check.throwing(.unsupported, "SQL that reads") { _ = try writer.rawRows("SELECT 1") }
                check.throwing(.unsupported, "SQL that writes") { _ = try writer.execute("DELETE FROM x") }
                check.throwing(.unsupported, "the history") { _ = try writer.history(since: nil, limit: 1) }
                check.throwing(.unsupported, "a purge") { try writer.purgeHistory(through: token) }
                check.equal(try writer.currentToken(), nil, "the newest token")
                let mapping = SchemaMapping(from: scratch.schema, to: scratch.schema)
                check.throwing(.unsupported, "a migration") { _ = try poor.beginMigration(MigrationStep(mapping), WriteOptions()) }
            }
        },
    ]

    /// Returns the operations that a failed or ended session refuses.
    private static func verbs(_ writer: WriteSession) -> [(String, () throws -> Void)] {
        [
            ("a look-up", { try writer.rows(0, keys: [1], into: RowBatch()) }), ("a note", { _ = try writer.note("a") }),
            ("keys", { _ = try writer.reserveKeys(0, count: 1) }), ("a change", { try writer.apply(ChangeSet()) }),
            ("a savepoint", { _ = try writer.savepoint() }), ("a commit", { _ = try writer.commit(CommitRecord()) }),
        ]
    }
}

/// A store that declares no optional capability, and a maximum value size of eight bytes.
private final class PoorStore: ForwardingStore {
    static let storeType = "poor"
    let base: any StorageInterface

    init(_ base: any StorageInterface) { self.base = base }

    var capabilities: StorageCapabilities { StorageCapabilities([], maximumValueBytes: 8, maximumColumns: 64) }
}
