import Polystore
import TestStores
import Testing

/// Streams as programs use them: in actors, in tasks that are cancelled, several at a time.
@Suite struct StreamTests {
    private static let byName = From<Person>().orderBy(.ascending(\.name))

    private func stack(_ store: TestStore) throws -> DataStack {
        let stack = try store.stack()
        try stack.perform(synchronous: { transaction in
            for number in 10..<60 { try transaction.create(Person.self).name = "P\(number)" }
        })
        return stack
    }

    @MainActor @Test(arguments: TestStore.all) func aViewContextStreamsItsOwnObjects(_ store: TestStore) async throws {
        let view = try stack(store).viewContext
        let known = try view.fetchAll(Self.byName)
        var found: [Person] = []
        for try await person in view.fetchStream(Self.byName.batchSize(7)) { found.append(person) }
        #expect(found == known)
    }

    @Test(arguments: TestStore.all) func aDetachedTransactionStreamsItsChanges(_ store: TestStore) async throws {
        let detached = try stack(store).beginUnsafe()
        try detached.create(Person.self).name = "P00"
        var names: [String] = []
        for try await person in detached.fetchStream(Self.byName.limit(3)) { names.append(person.name) }
        #expect(names == ["P00", "P10", "P11"])
    }

    @Test(arguments: TestStore.all) func aCancelledTaskEndsItsStream(_ store: TestStore) async throws {
        let stack = try stack(store)
        // More than there are connections.
        for _ in 0..<12 {
            let task = Task { () -> (seen: Int, code: StorageError.Code?) in
                var seen = 0
                do throws(StorageError) {
                    for try await _ in stack.fetchStream(Self.byName.batchSize(2)) {
                        seen += 1
                        while seen == 5, !Task.isCancelled { await Task.yield() }
                    }
                } catch {
                    return (seen, error.code)
                }
                return (seen, nil)
            }
            task.cancel()
            let end = await task.value
            #expect(end.seen <= 5 && end.code == .cancelled)
        }
        #expect(try stack.fetchCount(From<Person>()) == 50)
        for try await person in stack.fetchStream(Self.byName) {
            #expect(person.name == "P10")
            break
        }
    }

    @Test(arguments: TestStore.all) func closedAndFinishedCursorsReleaseTheirPermits(_ store: TestStore) async throws {
        let stack = try stack(store)
        var closed: [ObjectCursor<Person>] = [], ended: [ObjectCursor<Person>] = []
        // More than may be open at a time.
        for _ in 0..<6 {
            let cursor = try stack.fetchCursor(Self.byName.batchSize(7))
            #expect(try cursor.next()?.name == "P10")
            cursor.close()
            closed.append(cursor)
        }
        for _ in 0..<6 {
            let cursor = try stack.fetchCursor(Self.byName.batchSize(7))
            while try cursor.next() != nil {}
            ended.append(cursor)
        }
        for cursor in closed + ended { #expect(try cursor.next() == nil) }
        var streams: [ObjectStream<Person>.Iterator] = []
        for _ in 0..<6 {
            var stream = stack.fetchStream(Self.byName).makeAsyncIterator()
            while try await stream.next(isolation: nil) != nil {}
            streams.append(stream)
        }
        #expect(streams.count == 6)
    }

    @Test(arguments: TestStore.all) func streamsRunConcurrentlyWithCommits(_ store: TestStore) async throws {
        let stack = try stack(store)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<3 {
                group.addTask {
                    var ages: Set<Int> = []
                    for try await person in stack.fetchStream(Self.byName.batchSize(3)) { ages.insert(person.age) }
                    // All were read from one snapshot, and each commit gives all one age.
                    return ages.count == 1
                }
            }
            for age in 1...5 { try await stack.perform { _ = try $0.updateAll(From<Person>(), .set(\.age, to: age)) } }
            for try await isOneSnapshot in group { #expect(isOneSnapshot) }
        }
    }
}
