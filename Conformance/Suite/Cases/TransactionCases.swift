internal import Foundation
internal import PolystoreStorage

/// Cases of group T: transactions are atomic, isolated and recorded in the history.
enum TransactionCases {
    static let all: [ConformanceCase] = atomicity + isolation + history

    private static let atomicity: [ConformanceCase] = [
        ConformanceCase("T002.rollback-leaves-nothing", clause: "W4") { harness, check in
            try harness.withStore { scratch in
                let kept = try scratch.insert("Thing", [["number": .int(1)]])[0]
                let writer = try scratch.store.beginWrite(WriteOptions())
                try scratch.insert("Thing", [["number": .int(2)]], writer)
                try writer.apply(ChangeSet(entities: [scratch.updates("Thing", [(kept, 1, ["number": .int(9)])])]))
                writer.end()
                check.equal(try scratch.fetch(ObjectRequest("Thing")).map { $0.values["number"] ?? .null }, [.int(1)], "numbers")
                check.equal(try scratch.history().count, scratch.keepsHistory ? 1 : 0, "history")
            }
        },
        ConformanceCase("T003.error-in-the-middle-leaves-nothing", clause: "W4") { harness, check in
            try harness.withStore { scratch in
                try scratch.insert("Thing", [["code": .string("x")]])
                check.throwing(.uniqueConstraintViolated, "third of three") {
                    try scratch.insert("Thing", [["code": .string("a")], ["code": .string("b")], ["code": .string("x")]])
                }
                check.equal(try scratch.aggregate("Thing", .count, nil), .int(1), "count")
                try scratch.insert("Thing", [["code": .string("a")]])
            }
        },
        ConformanceCase("T005.savepoint", clause: "W5", needs: [.savepoints]) { harness, check in
            try harness.withStore { scratch in
                try scratch.write { writer in
                    try scratch.insert("Tag", [["name": .string("outer")]], writer)
                    let mark = try writer.savepoint()
                    try scratch.insert("Tag", [["name": .string("inner")]], writer)
                    try writer.rollback(to: mark)
                    try scratch.insert("Tag", [["name": .string("after")]], writer)
                    try writer.release(mark)
                }
                check.equal(
                    try scratch.fetch(ObjectRequest("Tag")).map { $0.values["name"] ?? .null }.sorted { $0.compare(to: $1) < 0 },
                    [.string("after"), .string("outer")], "names")
                check.equal(try scratch.history().first?.changes.count, scratch.keepsHistory ? 2 : nil, "changes in the history")
            }
        },
        ConformanceCase("T005.nested-savepoints", clause: "W5", needs: [.savepoints]) { harness, check in
            try harness.withStore { scratch in
                try scratch.write { writer in
                    let outer = try writer.savepoint()
                    try scratch.insert("Tag", [["name": .string("a")]], writer)
                    let inner = try writer.savepoint()
                    try scratch.insert("Tag", [["name": .string("b")]], writer)
                    try writer.release(inner)
                    try writer.rollback(to: outer)
                    try scratch.insert("Tag", [["name": .string("c")]], writer)
                    check.throwing(.notFound, "a mark inside one that was rolled back") { try writer.rollback(to: inner) }
                }
                check.equal(try scratch.fetch(ObjectRequest("Tag")).map { $0.values["name"] ?? .null }, [.string("c")], "names")
            }
        },
        ConformanceCase("T005.rows-loaded-after-a-savepoint", clause: "S4", needs: [.savepoints]) { harness, check in
            try harness.withStore { scratch in
                func rows(_ keys: ClosedRange<Int64>) -> [(Int64, [String: Value])] {
                    keys.map { ($0, ["number": .int($0), "text": .string("t\($0)"), "code": .string("c\($0)")]) }
                }
                try scratch.write { writer in
                    let first = try writer.savepoint()
                    try scratch.load("Thing", rows(10...12), writer)
                    try writer.rollback(to: first)
                    try scratch.load("Thing", rows(1...3), writer)
                    let second = try writer.savepoint()
                    try scratch.load("Thing", rows(20...22), writer)
                    try writer.rollback(to: second)
                    try scratch.load("Thing", rows(4...5), writer)
                }
                let all = QueryPredicate.compare(.path("number"), .greater, .value(.int(0)))
                check.equal(try scratch.keys(ObjectRequest("Thing", where: all)), [1, 2, 3, 4, 5], "by an index")
                let count = QueryRequest(ObjectRequest("Thing", where: all), outputs: [.aggregate(Aggregate(.count), as: "n")])
                check.equal(try scratch.query(count), [[.int(5)]], "counted")
                let greatest = QueryRequest(ObjectRequest("Thing"), outputs: [.aggregate(Aggregate(.maximum, "number"), as: "n")])
                check.equal(try scratch.query(greatest), [[.int(5)]], "the greatest")
                // Rolled-back rows are not in any unique constraint either.
                try scratch.write { try scratch.load("Thing", rows(20...20), $0) }
            }
        },
        ConformanceCase("T005.notes-set-after-a-savepoint", clause: "S6, W5", needs: [.savepoints]) { harness, check in
            try harness.withStore { scratch in
                try scratch.write { writer in
                    try writer.setNote("replaced", Data([1]))
                    try writer.setNote("removed", Data([2]))
                }
                func notes(_ reader: ReadSession) throws -> [Data?] {
                    try ["replaced", "removed", "new", "before"].map { try reader.note($0) }
                }
                try scratch.write { writer in
                    try writer.setNote("before", Data([3]))
                    let outer = try writer.savepoint()
                    try writer.setNote("replaced", Data([4]))
                    let inner = try writer.savepoint()
                    try writer.setNote("removed", nil)
                    try writer.setNote("new", Data([5]))
                    try writer.rollback(to: inner)
                    check.equal(try notes(writer), [Data([4]), Data([2]), nil, Data([3])], "after the inner rollback")
                    try writer.setNote("removed", nil)
                    try writer.setNote("new", Data([6]))
                    try writer.release(inner)
                    try writer.rollback(to: outer)
                    check.equal(try notes(writer), [Data([1]), Data([2]), nil, Data([3])], "after the outer rollback")
                }
                check.equal(try scratch.read(notes), [Data([1]), Data([2]), nil, Data([3])], "after the commit")
            }
        },
        ConformanceCase("T006.rows-loaded-in-a-transaction-are-there", clause: "S4") { harness, check in
            try harness.withStore { scratch in
                let seven = QueryPredicate.compare(.path("number"), .equal, .value(.int(7)))
                try scratch.write { writer in
                    try scratch.load("Thing", (1...9).map { ($0, ["number": .int($0), "text": .string("t")]) }, writer)
                    let plan = try ObjectRequest("Thing", where: seven).plan(in: scratch.schema)
                    check.equal(try scratch.rows(try writer.cursor(for: plan)).map(\.key), [7], "found by an index")
                    let changes = EntityChanges(entity: try scratch.entity("Thing"), deletes: [RowDeletion(key: 7)])
                    try writer.apply(ChangeSet(entities: [changes]))
                    check.equal(try scratch.rows(try writer.cursor(for: plan)).map(\.key), [], "and deleted")
                    try scratch.load("Thing", [(10, ["number": .int(10)])], writer)
                }
                check.equal(try scratch.keys(ObjectRequest("Thing", where: seven)), [], "deleted after the commit")
                let count = QueryRequest(
                    ObjectRequest("Thing", where: .compare(.path("number"), .greater, .value(.int(0)))),
                    outputs: [.aggregate(Aggregate(.count), as: "n")])
                check.equal(try scratch.query(count), [[.int(9)]], "counted by an index")
            }
        },
        ConformanceCase("T007.error-then-savepoint", clause: "W5", needs: [.savepoints]) { harness, check in
            try harness.withStore { scratch in
                try scratch.insert("Thing", [["code": .string("x")]])
                try scratch.write { writer in
                    let mark = try writer.savepoint()
                    check.throwing(.uniqueConstraintViolated, "insert") { try scratch.insert("Thing", [["code": .string("x")]], writer) }
                    try writer.rollback(to: mark)
                    try scratch.insert("Thing", [["code": .string("y")]], writer)
                }
                check.equal(try scratch.aggregate("Thing", .count, nil), .int(2), "count")
            }
        },
        ConformanceCase("L002.stale-version", clause: "W8") { harness, check in
            try harness.withStore { scratch in
                let key = try scratch.insert("Thing", [["number": .int(1)]])[0]
                try scratch.update("Thing", key, ["number": .int(2)])
                check.throwing(.staleObject, "update of version 1") {
                    try scratch.write {
                        try $0.apply(ChangeSet(entities: [scratch.updates("Thing", [(key, 1, ["number": .int(3)])], checksVersion: true)]))
                    }
                }
                try scratch.write {
                    try $0.apply(ChangeSet(entities: [scratch.updates("Thing", [(key, 2, ["number": .int(4)])], checksVersion: true)]))
                }
                let thing = try scratch.entity("Thing")
                check.throwing(.staleObject, "delete of version 1") {
                    try scratch.write {
                        try $0.apply(
                            ChangeSet(entities: [EntityChanges(entity: thing, deletes: [RowDeletion(key: key, expectedVersion: 1)])]))
                    }
                }
                check.equal(try scratch.rows("Thing", keys: [key]).first?.version, 3, "version")
            }
        },
        ConformanceCase("T002.a-timeout-of-any-number-is-taken", clause: "W6") { harness, check in
            try harness.withStore { scratch in
                for timeout in [Double.nan, -1, 0, .infinity, -.infinity, .greatestFiniteMagnitude] {
                    var options = WriteOptions(timeout: timeout)
                    options.timeout = timeout
                    let writer = try scratch.store.beginWrite(options)
                    defer { writer.end() }
                    try scratch.insert("Thing", [["number": .int(1)]], writer)
                    _ = try writer.commit(CommitRecord())
                }
                check.equal(try scratch.fetch(ObjectRequest("Thing")).count, 6, "commits")
            }
        },
        ConformanceCase("T002.a-writer-that-is-dropped-leaves-nothing", clause: "S2") { harness, check in
            try harness.withStore { scratch in
                func drop() throws {
                    let writer = try scratch.store.beginWrite(WriteOptions())
                    try scratch.insert("Thing", [["number": .int(1)]], writer)
                }
                try drop()
                check.equal(try scratch.keys(ObjectRequest("Thing")).count, 0, "rows")
                try scratch.insert("Thing", [["number": .int(2)]])
                check.equal(try scratch.keys(ObjectRequest("Thing")).count, 1, "rows of the next transaction")
            }
        },
        ConformanceCase("T014.closing-under-open-sessions", clause: "S2") { harness, check in
            try harness.withStore { scratch in
                try scratch.insert("Tag", (0..<3000).map { ["name": .string("n\($0)")] })
                let reader = try scratch.store.beginRead()
                let cursor = try reader.cursor(for: try ObjectRequest("Tag").plan(in: scratch.schema))
                let batch = RowBatch(capacity: 100)
                check.isTrue(try cursor.next(into: batch), "a first batch")
                let writer = try scratch.store.beginWrite(WriteOptions())
                try scratch.insert("Thing", [["number": .int(1)]], writer)
                try scratch.store.close()
                check.throwing(.storeClosed, "cursor") { while try cursor.next(into: batch) {} }
                check.throwing(.storeClosed, "insert") { try scratch.insert("Thing", [["number": .int(2)]], writer) }
                check.throwing(.storeClosed, "commit") { _ = try writer.commit(CommitRecord()) }
                check.throwing(.storeClosed, "begin") { _ = try scratch.store.beginRead() }
                reader.end()
                writer.end()
                try scratch.reopen()
                check.equal(try scratch.keys(ObjectRequest("Thing")).count, 0, "rows of the transaction that did not commit")
            }
        },
        ConformanceCase("T062.closing-while-sessions-begin", clause: "S2") { harness, check in
            let others = SharedValue<[String]>([])
            for _ in 0..<60 {
                try harness.withStore { scratch in
                    let store = scratch.store, key = try scratch.insert("Tag", [[:]])[0],
                        plan = FetchPlan(scratch.schema, try scratch.entity("Tag"))
                    // Two threads read and one begins to write, until the store that a fourth one closes refuses it.
                    Threads.run(4) { thread in
                        do {
                            if thread == 3 {
                                Thread.sleep(forTimeInterval: 0.002)
                                return try store.close()
                            }
                            while true {
                                if thread == 2 {
                                    try store.beginWrite(WriteOptions()).end()
                                } else {
                                    let reader = try store.beginRead(), batch = RowBatch()
                                    defer { reader.end() }
                                    let cursor = try reader.cursor(for: plan)
                                    var keys: [Int64] = []
                                    while try cursor.next(into: batch) { keys += (0..<batch.count).map { batch.key($0) } }
                                    if keys != [key] { others.withLock { $0.append("keys \(keys)") } }
                                }
                            }
                        } catch {
                            if (error as? StorageError)?.code != .storeClosed { others.withLock { $0.append("\(error)") } }
                        }
                    }
                }
            }
            check.equal(others.withLock { $0 }, [], "other rows, or errors other than storeClosed")
        },
        ConformanceCase("T063.closing-while-transactions-are-committed", clause: "S2") { harness, check in
            let isKept = harness.capabilities.contains(.persistent)
            for round in 0..<60 {
                try harness.withStore { scratch in
                    let store = scratch.store, schema = scratch.schema, made = SharedValue(0), others = SharedValue<[String]>([])
                    Threads.run(2) { thread in
                        do {
                            if thread == 1 {
                                Thread.sleep(forTimeInterval: Double(1 + round % 5) / 2000)
                                return try store.close()
                            }
                            while true {
                                try insert(store, schema, 0)
                                made.withLock { $0 += 1 }
                            }
                        } catch {
                            if (error as? StorageError)?.code != .storeClosed { others.withLock { $0.append("\(error)") } }
                        }
                    }
                    check.equal(others.withLock { $0 }, [], "errors other than storeClosed")
                    let opened = try OpenStore(opening: store.storage, OpenRequest(schema: scratch.schema))
                    let count = try Scratch(scratch, opened).keys(ObjectRequest("Tag")).count
                    check.equal(count, isKept ? made.withLock { $0 } : 0, "rows of the transactions that were committed")
                    check.isTrue(isKept == (opened.storeID == store.storeID), "an identity of its own for a store that starts empty")
                    try opened.close()
                }
            }
        },
        ConformanceCase("T064.closing-and-opening-while-sessions-begin", clause: "S2") { harness, check in
            let isKept = harness.capabilities.contains(.persistent)
            try harness.withStore { scratch in
                let storage = scratch.store.storage, schema = scratch.schema
                let isOver = SharedValue(false), others = SharedValue<[String]>([])
                let key = try scratch.insert("Tag", [[:]])[0], plan = FetchPlan(schema, try scratch.entity("Tag"))
                // Two threads read and three begin to write, one after the other, while another one closes the store and opens it again.
                Threads.run(6) { thread in
                    func isAllowed(_ error: any Error, _ codes: StorageError.Code...) -> Bool {
                        if let code = (error as? StorageError)?.code, codes.contains(code) { return true }
                        others.withLock { $0.append("\(error)") }
                        return false
                    }
                    if thread == 5 {
                        defer { isOver.withLock { $0 = true } }
                        for _ in 0..<60 {
                            do {
                                try storage.close()
                                // A store that its own sessions still use may refuse to be opened.
                                while true {
                                    do {
                                        _ = try storage.open(OpenRequest(schema: schema))
                                        break
                                    } catch { if !isAllowed(error, .alreadyExists) { return } }
                                }
                                try storage.beginRead(ReadOptions()).end()
                            } catch { others.withLock { $0.append("the open store: \(error)") } }
                        }
                    }
                    while !isOver.withLock({ $0 }) {
                        do {
                            if thread > 1 {
                                let writer = try storage.beginWrite(WriteOptions())
                                defer { writer.end() }
                                Thread.sleep(forTimeInterval: 0.001)
                            } else {
                                let reader = try storage.beginRead(ReadOptions()), batch = RowBatch()
                                defer { reader.end() }
                                let cursor = try reader.cursor(for: plan)
                                var keys: [Int64] = []
                                while try cursor.next(into: batch) { keys += (0..<batch.count).map { batch.key($0) } }
                                if keys != [key], isKept || !keys.isEmpty { others.withLock { $0.append("keys \(keys)") } }
                            }
                        } catch { _ = isAllowed(error, .storeClosed) }
                    }
                }
                check.equal(others.withLock { Array($0.prefix(3)) }, [], "other rows, or errors other than storeClosed")
                try storage.close()
            }
        },
        ConformanceCase("T065.erasing-while-sessions-begin", clause: "S2") { harness, check in
            let others = SharedValue<[String]>([])
            for _ in 0..<20 {
                try harness.withStore { scratch in
                    let store = scratch.store
                    // Two threads read and one begins to write, until the store that a fourth one erases refuses it.
                    Threads.run(4) { thread in
                        do {
                            if thread == 3 {
                                Thread.sleep(forTimeInterval: 0.002)
                                return try store.erase()
                            }
                            while true {
                                if thread == 2 {
                                    try store.beginWrite(WriteOptions()).end()
                                } else {
                                    let reader = try store.beginRead()
                                    defer { reader.end() }
                                    _ = try reader.note("missing")
                                }
                            }
                        } catch {
                            if (error as? StorageError)?.code != .storeClosed { others.withLock { $0.append("\(error)") } }
                        }
                    }
                }
            }
            check.equal(others.withLock { $0 }, [], "errors other than storeClosed")
        },
        ConformanceCase("T066.closing-while-writers-wait", clause: "S2") { harness, check in
            try harness.withStore { scratch in
                let store = scratch.store, begun = SharedValue(0), refused = SharedValue<[String]>([])
                let isOver = SharedValue(false), ended = SharedValue(0)
                // More writers than a store accepts at once. Those that have begun do not end before the others.
                Threads.run(9) { thread in
                    func count() -> Int { begun.withLock { $0 } + refused.withLock { $0.count } }
                    do {
                        if thread == 8 {
                            defer { isOver.withLock { $0 = true } }
                            while count() == 0 { Thread.sleep(forTimeInterval: 0.01) }
                            Thread.sleep(forTimeInterval: 0.3)
                            try store.close()
                            for _ in 0..<1000 where count() < 8 { Thread.sleep(forTimeInterval: 0.01) }
                            return ended.withLock { $0 = count() }
                        }
                        let writer = try store.beginWrite(WriteOptions(timeout: 30))
                        begun.withLock { $0 += 1 }
                        while !isOver.withLock({ $0 }) { Thread.sleep(forTimeInterval: 0.01) }
                        writer.end()
                    } catch {
                        refused.withLock { $0.append((error as? StorageError)?.code == .storeClosed ? "closed" : "\(error)") }
                    }
                }
                check.equal(ended.withLock { $0 }, 8, "writers that have begun or were refused")
                check.equal(Set(refused.withLock { $0 }), ["closed"], "errors of writers that waited")
            }
        },
        ConformanceCase("T002.notes-are-part-of-the-transaction", clause: "S6") { harness, check in
            try harness.withStore { scratch in
                func note(_ name: String) throws -> Data? { try scratch.read { try $0.note(name) } }
                let large = Data((0..<(3 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 7) })
                check.equal(try note("a"), nil, "before a note was stored")
                try scratch.write { writer in
                    try writer.setNote("a", Data([0, 1, 255]))
                    try writer.setNote("empty", Data())
                    try writer.setNote("large", large)
                    check.equal(try writer.note("a"), Data([0, 1, 255]), "in the transaction")
                }
                check.equal(try note("empty"), Data(), "empty")
                check.isTrue(try note("large") == large, "3 MiB come back")
                check.equal(try scratch.history().count, 0, "entries of the history")
                let writer = try scratch.store.beginWrite(WriteOptions())
                try writer.setNote("a", Data([9]))
                try writer.setNote("b", Data([9]))
                writer.end()
                check.equal(try note("a"), Data([0, 1, 255]), "after a rollback")
                check.equal(try note("b"), nil, "a new one after a rollback")
                try scratch.write { writer in
                    try writer.setNote("a", Data([2]))
                    try writer.setNote("empty", nil)
                    try writer.setNote("never", nil)
                }
                check.equal(try note("a"), Data([2]), "replaced")
                check.equal(try note("empty"), nil, "forgotten")
            }
        },
        ConformanceCase("T014.use-after-the-end", clause: "E3") { harness, check in
            try harness.withStore { scratch in
                let writer = try scratch.store.beginWrite(WriteOptions())
                _ = try writer.commit(CommitRecord())
                check.throwing(.storeClosed, "insert") { try scratch.insert("Tag", [[:]], writer) }
                check.throwing(.storeClosed, "commit") { _ = try writer.commit(CommitRecord()) }
                let reader = try scratch.store.beginRead()
                reader.end()
                reader.end()
                check.throwing(.storeClosed, "read") { _ = try reader.cursor(for: FetchPlan(scratch.schema, 0)) }
            }
        },
    ]

    private static let isolation: [ConformanceCase] = [
        ConformanceCase("I020.a-read-sees-one-snapshot", clause: "W2", needs: [.snapshotReads]) { harness, check in
            try harness.withStore { scratch in
                let key = try scratch.insert("Thing", [["number": .int(1)]])[0]
                try scratch.read { reader in
                    try scratch.update("Thing", key, ["number": .int(2)])
                    try scratch.insert("Thing", [["number": .int(3)]])
                    let before = try scratch.fetch(ObjectRequest("Thing"), reader).map { $0.values["number"] ?? .null }
                    check.equal(before, [.int(1)], "numbers")
                }
                let after = try scratch.fetch(ObjectRequest("Thing")).map { $0.values["number"] ?? .null }
                check.equal(after, [.int(2), .int(3)], "numbers afterwards")
            }
        },
        ConformanceCase("I020.a-cursor-keeps-its-snapshot", clause: "W2", needs: [.snapshotReads]) { harness, check in
            try harness.withStore { scratch in
                let keys = try scratch.insert("Tag", (0..<3000).map { ["name": .string("n\($0)")] })
                try scratch.read { reader in
                    let cursor = try reader.cursor(for: try ObjectRequest("Tag").plan(in: scratch.schema))
                    let batch = RowBatch(capacity: 100)
                    _ = try cursor.next(into: batch)
                    let first = batch.count
                    try scratch.delete("Tag", keys)
                    check.equal(first + (try scratch.rows(cursor)).count, 3000, "rows")
                }
            }
        },
        ConformanceCase("I003.uncommitted-is-not-seen", clause: "W2") { harness, check in
            try harness.withStore { scratch in
                try scratch.write { writer in
                    try scratch.insert("Thing", [["number": .int(1)]], writer)
                    check.equal(try scratch.fetch(ObjectRequest("Thing")).count, 0, "rows seen from outside")
                }
                check.equal(try scratch.fetch(ObjectRequest("Thing")).count, 1, "rows afterwards")
            }
        },
        ConformanceCase("I028.one-writer-at-a-time", clause: "S2", needsAbsent: [.concurrentWriters]) { harness, check in
            try harness.withStore { scratch in
                let first = try scratch.store.beginWrite(WriteOptions())
                check.throwing(.busy, "second writer") { _ = try scratch.store.beginWrite(WriteOptions(timeout: 0.05)) }
                first.end()
                try scratch.insert("Tag", [[:]])
            }
        },
        ConformanceCase("I012.write-skew-is-refused", clause: "W1", needs: [.concurrentWriters]) { harness, check in
            try harness.withStore { scratch in
                let keys = try scratch.insert("Thing", [["number": .int(1)], ["number": .int(1)]])
                let a = try scratch.store.beginWrite(WriteOptions()), b = try scratch.store.beginWrite(WriteOptions())
                defer {
                    a.end()
                    b.end()
                }
                let positive = ObjectRequest("Thing", where: .compare(.path("number"), .equal, .value(.int(1))))
                check.equal(try scratch.fetch(positive, a).count, 2, "seen by a")
                check.equal(try scratch.fetch(positive, b).count, 2, "seen by b")
                check.throwing(.serializationFailure, "one of the two") {
                    try a.apply(ChangeSet(entities: [scratch.updates("Thing", [(keys[0], 1, ["number": .int(0)])])]))
                    try b.apply(ChangeSet(entities: [scratch.updates("Thing", [(keys[1], 1, ["number": .int(0)])])]))
                    _ = try a.commit(CommitRecord())
                    _ = try b.commit(CommitRecord())
                }
            }
        },
        ConformanceCase("I021.writers-on-many-threads", clause: "W1") { harness, check in
            try harness.withStore { scratch in
                let store = scratch.store, schema = scratch.schema
                let failures = Counter()
                Threads.run(4) { thread in
                    for round in 0..<10 where !Self.insertOne(store, schema, thread * 100 + round) { failures.add() }
                }
                check.equal(failures.value, 0, "transactions that failed")
                check.equal(try scratch.aggregate("Tag", .count, nil), .int(40), "count")
                check.equal(Set(try scratch.keys(ObjectRequest("Tag"))).count, 40, "different keys")
            }
        },
    ]

    /// Inserts one row in a separate transaction, repeated after a conflict.
    private static func insertOne(_ store: OpenStore, _ schema: Schema, _ number: Int) -> Bool {
        for _ in 0..<20 {
            do throws(StorageError) {
                try insert(store, schema, number)
                return true
            } catch {
                if error.code != .serializationFailure { return false }
            }
        }
        return false
    }

    /// Inserts one row in a separate transaction.
    private static func insert(_ store: OpenStore, _ schema: Schema, _ number: Int) throws(StorageError) {
        guard let tag = schema.index(of: "Tag") else { return }
        let writer = try store.beginWrite(WriteOptions(timeout: 30))
        defer { writer.end() }
        let key = try writer.reserveKeys(tag, count: 1).lowerBound
        let rows = RowSource(count: 1) { _, batch in
            let cell = batch.cell(for: .string("n\(number)"))
            batch.appendRow(key: key, version: 1, entity: tag, slots: 1)[0] = cell
        }
        try writer.apply(ChangeSet(entities: [EntityChanges(entity: tag, inserts: rows)]))
        _ = try writer.commit(CommitRecord())
    }

    private static let history: [ConformanceCase] = [
        ConformanceCase("T040.history-has-one-entry-for-each-commit", clause: "H2", needs: [.history]) { harness, check in
            try harness.withStore { scratch in
                let thing = try scratch.entity("Thing")
                let key = try scratch.insert("Thing", [["number": .int(1)]])[0]
                let token = try scratch.history().last?.token
                let number = scratch.schema[thing].slot("number") ?? 0
                try scratch.write(author: "ann") {
                    try $0.apply(ChangeSet(entities: [scratch.updates("Thing", [(key, 1, ["number": .int(2)])])]))
                }
                try scratch.delete("Thing", [key])
                check.equal(try scratch.write { _ in }, nil, "token of a transaction without changes")
                let entries = try scratch.history(since: token)
                check.equal(entries.map(\.author), ["ann", ""], "authors")
                var mask = SlotMask()
                mask.insert(number)
                check.equal(
                    entries.first.map { Array($0.changes) }, [HistoryChange(entity: thing, key: key, kind: .update(mask))], "update")
                check.equal(entries.last.map { Array($0.changes) }, [HistoryChange(entity: thing, key: key, kind: .delete)], "delete")
                check.isTrue(entries.count == 2 && entries[0].token.position < entries[1].token.position, "positions rise")
            }
        },
        ConformanceCase("T041.token-of-the-newest", clause: "H1", needs: [.history]) { harness, check in
            try harness.withStore { scratch in
                check.equal(try scratch.token(), nil, "token of an empty history")
                let token = try scratch.write { try scratch.insert("Tag", [[:]], $0) }
                // The history can withhold an entry for a moment while other sessions write to the server.
                check.isTrue(try Waiting.until { try scratch.token() == token }, "the token becomes that of the commit")
                check.equal(try scratch.history(since: token).count, 0, "entries after it")
            }
        },
        ConformanceCase("T042.token-of-another-store", clause: "H1", needs: [.history]) { harness, check in
            try harness.withStore { scratch in
                let foreign = HistoryToken(store: UUID(), position: 1)
                check.throwing(.tokenExpired, "history") { _ = try scratch.history(since: foreign) }
            }
        },
        ConformanceCase("T043.history-of-many-inserts", clause: "H2", needs: [.history]) { harness, check in
            try harness.withStore { scratch in
                let keys = try scratch.insert("Tag", (0..<500).map { _ in [:] })
                let tag = try scratch.entity("Tag")
                check.equal(
                    try scratch.history().first.map { Array($0.changes) }, keys.map { HistoryChange(entity: tag, key: $0, kind: .insert) },
                    "changes")
            }
        },
    ]
}

/// A counter that several threads increment.
final class Counter: Sendable {
    private let lock = WriteLane()
    nonisolated(unsafe) private var count = 0

    /// Increments the counter; the lock serializes the threads.
    func add() {
        guard (try? lock.enter(timeout: 10)) != nil else { return }
        count += 1
        lock.leave()
    }

    var value: Int { count }
}
