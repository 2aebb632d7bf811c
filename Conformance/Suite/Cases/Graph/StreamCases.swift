internal import Foundation
internal import Polystore
internal import PolystoreStorage

/// Cases about streaming objects: the result equals that of a fetch, and all resources are released however the stream ends.
enum StreamCases {
    static let all: [ConformanceCase] = cursors + streams + large

    private static func fill(_ stack: DataStack, _ count: Int) throws {
        try stack.write { transaction in
            for number in 0..<count {
                let person = try transaction.create(Person.self)
                (person.name, person.age) = ("P\(number)", number % 7)
            }
        }
    }

    private static let byAge = From<Person>().orderBy(.descending(\.age), .ascending(\.name))

    private static let cursors: [ConformanceCase] = [
        .graph("O021.a-cursor-gives-what-a-fetch-gives", "O6") { stack, check in
            try fill(stack, 50)
            for request in [byAge, byAge.limit(9).offset(3), byAge.where(\.age == 3), byAge.where(\.age == 30), From<Person>().limit(0)] {
                let expected = try stack.fetchAll(request).map(\.name)
                for size in [1, 3, 7, 256] {
                    let cursor = try stack.fetchCursor(request.batchSize(size))
                    var found: [String] = []
                    while let person = try cursor.next() { found.append(person.name) }
                    check.equal(found, expected, "batches of \(size)")
                    check.isTrue(try cursor.next() == nil, "nothing after the end")
                }
            }
            check.throwing(.invalidPredicate, "batches of none") { _ = try stack.fetchCursor(byAge.batchSize(0)) }
        },
        .graph("O021.an-early-end-gives-everything-back", "W6") { stack, check in
            try fill(stack, 50)
            // More cursors than there are connections.
            for _ in 0..<20 {
                let dropped = try stack.fetchCursor(byAge.batchSize(2))
                check.isTrue(try dropped.next() != nil, "a first object")
            }
            var open: [ObjectCursor<Person>] = []
            for _ in 0..<4 {
                let cursor = try stack.fetchCursor(byAge.batchSize(2))
                _ = try cursor.next()
                open.append(cursor)
            }
            check.throwing(.busy, "a fifth") { _ = try stack.fetchCursor(byAge) }
            check.equal(try stack.fetchCount(byAge), 50, "a fetch finds a connection")
            open.removeLast().close()
            check.isTrue(try stack.fetchCursor(byAge).next() != nil, "one was closed")
            open = []
            try stack.add("Zoe")
            check.equal(try stack.fetchCount(byAge), 51, "a commit")
        },
        .graph("O021.a-cursor-is-of-one-snapshot", "W2", needs: [.snapshotReads]) { stack, check in
            try fill(stack, 50)
            let expected = try stack.fetchAll(byAge).map(\.name), cursor = try stack.fetchCursor(byAge.batchSize(5))
            var found = [try cursor.next()?.name]
            try stack.write { transaction in
                try transaction.delete(try transaction.fetchAll(From<Person>().where(\.age < 3)))
                for person in try transaction.fetchAll(From<Person>()) { person.name = "changed" }
            }
            while let person = try cursor.next() { found.append(person.name) }
            check.equal(found, expected, "names")
        },
        .graph("O021.objects-are-loaded-with-what-they-lead-to", "O6") { stack, check in
            try fill(stack, 10)
            try stack.write { transaction in
                for person in try transaction.fetchAll(From<Person>()) { try transaction.create(Dog.self).owner = person }
            }
            stack.relationships = .strict
            let cursor = try stack.fetchCursor(byAge.prefetch(\.pets).batchSize(3))
            var pets = 0
            while let person = try cursor.next() { pets += person.pets.count }
            check.equal(pets, 10, "pets")
        },
        .graph("O021.a-cursor-in-a-transaction", "W3") { stack, check in
            try fill(stack, 50)
            try stack.write { transaction in
                try transaction.create(Person.self).name = "new"
                let known = try transaction.fetchAll(byAge)
                var found: [Person] = []
                try transaction.forEach(byAge.batchSize(4)) { found.append($0) }
                check.equal(found, known, "the same objects")
                check.equal(found.count, 51, "the new one too")
                var committed = 0
                try transaction.forEach(byAge.includesPendingChanges(false).batchSize(4)) { _ in committed += 1 }
                check.equal(committed, 50, "without the new one")
            }
            try stack.read(synchronous: { source in
                let cursor = try source.fetchCursor(byAge.batchSize(4))
                var count = 0
                while try cursor.next() != nil { count += 1 }
                check.equal(count, 51, "in a read")
            })
        },
        .graph("O021.a-cursor-of-what-is-only-in-memory", "W9") { stack, check in
            try fill(stack, 20)
            let detached = stack.beginUnsafe(), view = stack.makeViewContext()
            let known = try view.fetchAll(byAge), cursor = try view.fetchCursor(byAge.batchSize(3))
            check.isTrue(try cursor.next() === known[0], "the view's own object")
            try stack.write { transaction in
                try transaction.delete(try person("P8", in: transaction))
                try person("P14", in: transaction).name = "changed"
            }
            try view.merge()
            var names: Set<String> = []
            while let person = try cursor.next() { names.insert(person.name) }
            check.equal(names.count, 18, "the first is taken, one is deleted")
            check.isTrue(names.contains("changed") && !names.contains("P8"), "values are those of now")
            try detached.create(Person.self).name = "new"
            try person("P1", in: detached).age = 99
            var found: [String] = []
            try detached.forEach(byAge.batchSize(3)) { found.append($0.name) }
            check.equal(found.count, 20, "people")
            check.equal(found.first, "P1", "in the order of the pending values")
            check.isTrue(found.contains("new"), "the new one")
        },
        .pairs("O021.a-cursor-over-two-stores", "O6", "People", "Rest") { pair, check in
            try pair.stack.write { transaction in
                for number in 0..<30 { try transaction.create(Into<Song>("People")).title = "T\(number % 11)" }
            }
            try pair.stack.write { transaction in
                for number in 0..<25 { try transaction.create(Into<Song>("Rest")).title = "T\(number % 7)" }
            }
            let titles = ((0..<30).map { "T\($0 % 11)" } + (0..<25).map { "T\($0 % 7)" }).sorted {
                Array($0.utf8).lexicographicallyPrecedes($1.utf8)
            }
            let request = From<Song>().orderBy(.ascending(\.title))
            for (part, expected) in [(request, titles), (request.offset(5).limit(40), Array(titles[5..<45])), (request.offset(60), [])] {
                let ids = try pair.stack.fetchAll(part).map(\.objectID)
                check.equal(try pair.stack.fetchAll(part).map(\.title), expected, "titles")
                check.equal(try pair.stack.fetchIDs(part), ids, "ids")
                let cursor = try pair.stack.fetchCursor(part.batchSize(4))
                var found: [ObjectID<Song>] = []
                while let song = try cursor.next() { found.append(song.objectID) }
                check.equal(found, ids, "of a cursor")
            }
        },
    ]

    private static let streams: [ConformanceCase] = [
        .graph("O022.a-stream-gives-what-a-fetch-gives", "O6") { stack, check in
            try fill(stack, 50)
            for request in [byAge, byAge.limit(9).offset(3), byAge.where(\.age == 30)] {
                let expected = try stack.fetchAll(request).map(\.name)
                for size in [1, 7, 256] {
                    let found = try Waiting.run {
                        var names: [String] = []
                        for try await person in stack.fetchStream(request.batchSize(size)) { names.append(person.name) }
                        return names
                    }
                    check.equal(found, expected, "batches of \(size)")
                }
            }
        },
        .graph("O022.a-cancelled-stream-gives-everything-back", "W6") { stack, check in
            try fill(stack, 50)
            // More streams than there are connections, and more than may be open at the same time.
            for _ in 0..<12 {
                let seen = try Waiting.run {
                    var seen = 0
                    do throws(StorageError) {
                        for try await _ in stack.fetchStream(byAge.batchSize(3)) {
                            seen += 1
                            if seen == 5 { withUnsafeCurrentTask { $0?.cancel() } }
                        }
                    } catch {
                        return error.code == .cancelled ? seen : -1
                    }
                    return -2
                }
                check.equal(seen, 5, "objects before it ended with cancelled")
                let early = try Waiting.run {
                    for try await person in stack.fetchStream(byAge.batchSize(3)) { return person.name }
                    return ""
                }
                check.equal(early, "P13", "the first, then the stream is left")
            }
            try stack.add("Zoe")
            check.equal(try stack.fetchCount(byAge), 51, "the store continues to work")
        },
        .graph("O022.a-stream-is-of-one-snapshot", "W2", needs: [.snapshotReads]) { stack, check in
            try fill(stack, 50)
            let expected = try stack.fetchAll(byAge).map(\.name)
            let found = try Waiting.run {
                var names: [String] = []
                for try await person in stack.fetchStream(byAge.batchSize(5)) {
                    names.append(person.name)
                    if names.count == 1 { try await stack.perform { _ = try $0.deleteAll(From<Person>().where(\.age < 3)) } }
                }
                return names
            }
            check.equal(found, expected, "names")
        },
        .graph("O022.wrong-requests-are-refused-at-the-first-object", "Q10") { stack, check in
            let error = try Waiting.run { () -> StorageError.Code? in
                var iterator = stack.fetchStream(From<Person>().where(Where(format: "agee > 1"))).makeAsyncIterator()
                do throws(StorageError) { _ = try await iterator.next() } catch {
                    let after = try await iterator.next()
                    return after == nil ? error.code : nil
                }
                return nil
            }
            check.equal(error, .invalidPredicate, "code, and an end")
        },
    ]

    /// The number of rows, which is smaller in a normal run to save time.
    private static var rows: Int { IsolationCases.isThorough ? 1_000_000 : 20_000 }

    private static let large: [ConformanceCase] = [
        ConformanceCase("O026.a-great-sort-in-bounded-memory", clause: "O6") { harness, check in
            try harness.withStore { scratch in
                // Every number below the count occurs once, in random order.
                let count = rows
                for start in stride(from: 0, to: count, by: 10_000) {
                    let part = start..<min(start + 10_000, count)
                    try scratch.load("Tag", part.map { (Int64($0 + 1), ["name": .string(name(($0 * 7_919) % count))]) })
                }
                var seen = 0
                let growth = try Memory.growth {
                    try scratch.read { reader in
                        let plan = try ObjectRequest("Tag", orderBy: [OrderTerm(PropertyPath("name"))]).plan(in: scratch.schema)
                        let cursor = try reader.cursor(for: plan), batch = RowBatch(capacity: 256)
                        while try cursor.next(into: batch) {
                            for index in 0..<batch.count {
                                if Value(batch.row(index)[0], as: .string) != .string(name(seen)) {
                                    return check.equal(Value(batch.row(index)[0], as: .string), .string(name(seen)), "row \(seen)")
                                }
                                seen += 1
                            }
                        }
                    }
                }
                check.equal(seen, count, "rows")
                check.isTrue(growth ?? 0 <= 256 << 20, "memory grew by \(growth ?? 0) bytes")
            }
        },
        .graph("X009.a-cursor-over-many-objects-in-bounded-memory", "O6") { stack, check in
            let count = rows
            for start in stride(from: 0, to: count, by: 10_000) {
                try stack.write { transaction in
                    for number in start..<min(start + 10_000, count) { try transaction.create(Song.self).title = name(number) }
                }
            }
            var seen = 0
            let growth = try Memory.growth {
                let cursor = try stack.fetchCursor(From<Song>())
                while try cursor.next() != nil { seen += 1 }
            }
            check.equal(seen, count, "objects")
            check.isTrue(growth ?? 0 <= 64 << 20, "memory grew by \(growth ?? 0) bytes")
        },
    ]

    private static func name(_ number: Int) -> String { String("0000000\(number)".suffix(7)) + " of many" }
}
