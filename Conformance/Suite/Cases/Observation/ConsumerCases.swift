internal import Foundation
internal import Polystore
internal import PolystoreStorage
internal import Synchronization

/// Cases of group N: consumers that are slow, that write, and that end.
enum ConsumerCases {
    static let all: [ConformanceCase] = slow + gone + values + writers

    private static let byAge = From<Person>().orderBy(.ascending(\.age))

    /// Returns the number of commits that a slow consumer misses. Stores that write to a disk or a server perform a tenth of them.
    private static func commits(_ stack: DataStack) -> Int {
        stack.storages[0].capabilities.contains(.persistent) && !IsolationCases.isThorough ? 500 : 5_000
    }

    /// Takes an update, misses many, and takes two more.
    private static func slowly(
        _ publisher: ListPublisher<Person>, _ stack: DataStack, _ count: Int
    ) async throws -> [ListPublisher<Person>.Update] {
        var iterator = publisher.updates.makeAsyncIterator(), updates: [ListPublisher<Person>.Update] = []
        func takeOne() async { if let update = await iterator.next() { updates.append(update) } }
        await takeOne()
        for number in 1...count {
            try stack.write { transaction in
                guard let first = try transaction.fetchOne(byAge) else { return }
                if number % 7 == 0 { try transaction.delete(first) } else { first.age = 100 + number }
                if number % 7 == 3 { try EventCases.add("N\(number)", 100 + number, transaction) }
            }
        }
        for number in 1...2 {
            try stack.write { try EventCases.add("Last \(number)", 1_000_000 * number, $0) }
            let newest = try stack.fetchIDs(byAge).map(\.key)
            while publisher.snapshot.map(\.key) != newest { await Task.yield() }
            await takeOne()
        }
        return updates
    }

    private static let slow: [ConformanceCase] = [
        .graph("N011.many-commits-are-one-update-for-who-is-slow", "H6") { stack, check in
            let count = commits(stack), publisher = try stack.publishList(byAge)
            try stack.write { transaction in for age in 0..<50 { try EventCases.add("P\(age)", age, transaction) } }
            _ = Waiting.until { publisher.snapshot.count == 50 }
            var updates: [ListPublisher<Person>.Update] = []
            let growth = try Memory.growth {
                updates = try Waiting.run { try await slowly(publisher, stack, count) } ?? []
            }
            guard updates.count == 3 else { return check.equal(updates.count, 3, "updates") }
            let (first, second) = (updates[0].snapshot, updates[1])
            check.isTrue(updates[0].changes == nil && first.count == 50, "the current list")
            if let changes = second.changes {
                var shown = ShadowList(first), edit = ShadowList.Edit(deleted: changes.deleted)
                edit.inserted = changes.inserted.map { ($0, second.snapshot[$0].key) }
                edit.moved = changes.moved.map { ($0.from, $0.to) }
                check.equal(shown.apply(edit), nil, "the changes")
                check.equal(shown, ShadowList(second.snapshot), "their related objects")
            }
            check.isTrue(second.snapshot.contains(updates[2].snapshot.first ?? first[0]), "the newest list")
            check.equal(updates[2].snapshot.count, second.snapshot.count + 1, "all commits are in the second update")
            check.equal(updates[2].changes?.inserted.count, 1, "one commit is one update again")
            check.equal(updates[2].snapshot.map(\.key), try stack.fetchIDs(byAge).map(\.key), "a fetch")
            if let growth { check.isTrue(growth < 64 << 20, "memory is bounded; it grew by \(growth >> 20) MiB") }
        },
        .graph("N011.a-context-that-merges-too-seldom", "H6") { stack, check in
            let count = stack.storages[0].capabilities.contains(.persistent) ? 20 : 2_000
            let view = stack.makeViewContext(), list = ListRecorder(try view.monitorList(byAge))
            try stack.write { try $0.insertAll(Into<Person>(), sources: 0..<1_000) { $0.age = $1 } }
            try view.merge()
            let growth = try Memory.growth {
                for number in 0..<count {
                    // No two changed keys are adjacent, so that there is much to remember.
                    try stack.write {
                        try $0.updateAll(From<Person>().where(\Person.age % 2 == number % 2), .set(\.score, to: Double(number)))
                    }
                }
            }
            while try view.merge() {}
            check.equal(list.shown.keys, try stack.fetchIDs(byAge).map(\.key), "the list")
            check.equal(list.problems, [], "problems")
            check.isTrue(list.events <= 1 + count, "events")
            if let growth { check.isTrue(growth < 64 << 20, "memory is bounded; it grew by \(growth >> 20) MiB") }
        },
    ]

    private static let gone: [ConformanceCase] = [
        ConformanceCase("N012.nothing-stays-of-who-is-let-go", clause: "H6") { harness, check in
            let place = try harness.place()
            defer { place.remove() }
            let store = try place.store(nil)
            defer { try? store.close() }
            weak var weakStack: DataStack?
            weak var view: ViewContext?
            weak var list: ListMonitor<Person>?
            weak var object: ObjectMonitor<Person>?
            weak var observer: ListRecorder<Person>?
            weak var people: ListPublisher<Person>?
            weak var ann: ObjectPublisher<Person>?
            weak var count: ValuePublisher<Int>?
            try {
                let stack = try Graph.stack()
                try stack.addStorageAndWait(store)
                weakStack = stack
                try stack.add("Ann")
                try {
                    let context = stack.makeViewContext(), monitor = try context.monitorList(byAge), recorder = ListRecorder(monitor)
                    let one = try context.monitorObject(person("Ann", in: context)), seen = ObjectRecorder(one)
                    (view, list, object, observer) = (context, monitor, one, recorder)
                    let published = try stack.publishList(byAge), publishedOne = try stack.publishObject(one.objectID)
                    let value = try stack.publishValue(of: Person.self) { try $0.fetchCount(From<Person>()) }
                    (people, ann, count) = (published, publishedOne, value)
                    let consumer = PublisherRecorder(published)
                    try stack.add("Ben")
                    try context.merge()
                    check.isTrue(consumer.waits { $0.shown.keys.count == 2 }, "published")
                    check.equal([recorder.events, seen.calls.count], [1, 0], "events")
                }()
                check.isTrue(
                    Waiting.until(10) {
                        view == nil && list == nil && object == nil && observer == nil && people == nil && ann == nil && count == nil
                    }, "observers are released: \([view as Any?, list, object, observer, people, ann, count].map { $0 != nil })")
                try stack.add("Cid")
            }()
            check.isTrue(Waiting.until(10) { weakStack == nil }, "the stack is released")
        }
    ]

    private static let values: [ConformanceCase] = [
        .graph("N015.counts-existence-and-aggregates", "H7") { stack, check in
            let count = try stack.publishValue(of: Person.self) { try $0.fetchCount(From<Person>().where(\.age < 10)) }
            let exists = try stack.publishValue(of: Person.self) { try $0.fetchOne(From<Person>().where(\.name == "Ann")) != nil }
            let sum = try stack.publishValue(of: Person.self) { try $0.queryValue(From<Person>().select(Int.self, .sum(\.age))) ?? 0 }
            let everything = try stack.publishValue { try $0.fetchCount(From<Person>()) + $0.fetchCount(From<Song>()) }
            let dogs = try stack.publishValue(of: Pet.self) { try $0.fetchCount(From<Dog>()) }
            let delivered = Mutex<[Int]>([])
            // This function is not inlined into the task that calls it: decision 0038, "No lock is inlined where a task waits".
            @Sendable @inline(never) func tell(_ value: Int) { delivered.withLock { $0.append(value) } }
            let task = Waiting.start { for await value in count.values { tell(value) } }
            defer { task.cancel() }
            check.isTrue(Waiting.until { delivered.withLock { $0 } == [0] }, "the first value")
            func expect(_ counts: Int, _ isThere: Bool, _ sums: Int, _ all: Int, _ what: String) {
                let isReached = Waiting.until(10) {
                    count.value == counts && exists.value == isThere && sum.value == sums && everything.value == all
                }
                let found = "\(count.value ?? -1) \(exists.value ?? false) \(sum.value ?? -1) \(everything.value ?? -1)"
                check.isTrue(isReached, "\(what): \(counts) \(isThere) \(sums) \(all), found \(found)")
            }
            try EventCases.add(["Ann": 1, "Ben": 20], to: stack)
            expect(1, true, 21, 2, "insertions")
            check.isTrue(Waiting.until { delivered.withLock { $0 } == [0, 1] }, "the count is delivered")
            try stack.write { try person("Ben", in: $0).age = 21 }
            expect(1, true, 22, 2, "an update that leaves the count alone")
            try stack.write { try $0.create(Song.self).title = "x" }
            expect(1, true, 22, 3, "an object of another entity")
            try stack.write { try $0.updateAll(From<Person>(), .set(\.age, to: 5)) }
            expect(2, true, 10, 3, "a batch")
            check.isTrue(Waiting.until { delivered.withLock { $0 } == [0, 1, 2] }, "the new count is delivered")
            try stack.write { try $0.create(Dog.self).owner = person("Ann", in: $0) }
            check.isTrue(Waiting.until { dogs.value == 1 }, "a class below the named one")
            try stack.write { try EventCases.remove("Ann", $0) }
            expect(1, false, 5, 2, "a deletion")
            check.isTrue(Waiting.until { dogs.value == 0 }, "objects deleted by cascade")
            check.isTrue(Waiting.until { delivered.withLock { $0 } == [0, 1, 2, 1] }, "delivered counts: \(delivered.withLock { $0 })")
        },
        .graph("N015.a-value-that-cannot-be-made", "H7") { stack, check in
            struct TooMany: Error {}
            let count = try stack.publishValue(of: Person.self) { transaction in
                let count = try transaction.fetchCount(From<Person>())
                if count > 1 { throw TooMany() }
                return count
            }
            try stack.add("Ann")
            check.isTrue(Waiting.until { count.value == 1 && count.error == nil }, "a value")
            try stack.add("Ben")
            check.isTrue(Waiting.until { count.error is TooMany }, "an error")
            check.equal(count.value, 1, "the last good value stays")
            try stack.write { try EventCases.remove("Ben", $0) }
            check.isTrue(Waiting.until { count.error == nil }, "a value again")
            do {
                _ = try stack.publishValue(of: Person.self) { _ -> Int in throw TooMany() }
                check.isTrue(false, "the first error is thrown")
            } catch { check.isTrue(error is TooMany, "the first error is thrown on: \(error)") }
        },
    ]

    private static let writers: [ConformanceCase] = [
        .graph("N017.a-list-observer-that-writes", "H6") { stack, check in
            let view = stack.makeViewContext(), list = ListRecorder(try view.monitorList(byAge))
            var depth = 0, deepest = 0
            list.whenTold = { monitor in
                depth += 1
                deepest = max(deepest, depth)
                if monitor.numberOfObjects < 10 {
                    do {
                        try stack.add("more")
                        try view.merge()
                        _ = try view.fetchCount(From<Person>())
                    } catch { check.isTrue(false, "\(error)") }
                }
                depth -= 1
            }
            try stack.add("first")
            while try view.merge() {}
            check.equal(list.shown.keys.count, 10, "objects")
            check.equal([list.events, deepest], [10, 1], "events, and how deep they are in each other")
            check.equal(list.problems, [], "problems")
        },
        .graph("N017.an-object-observer-that-writes", "H6") { stack, check in
            try stack.add("Ann")
            final class Raiser: ObjectObserver {
                let stack: DataStack
                var ages: [Int] = []
                init(_ stack: DataStack) { self.stack = stack }
                func objectMonitor(_ monitor: ObjectMonitor<Person>, didUpdateObject object: Person, changedPersistentKeys: Set<String>) {
                    ages.append(object.age)
                    if object.age < 5 { try? stack.write { try $0.edit(object)?.age += 1 } }
                }
            }
            let view = stack.makeViewContext(), monitor = try view.monitorObject(person("Ann", in: view)), raiser = Raiser(stack)
            monitor.addObserver(raiser)
            try stack.write { try person("Ann", in: $0).age = 1 }
            while try view.merge() {}
            check.equal(raiser.ages, [1, 2, 3, 4, 5], "ages")
        },
        .graph("N017.a-publisher-s-observer-that-writes", "H6") { stack, check in
            let publisher = try stack.publishList(byAge)
            let task = Waiting.start {
                for await snapshot in publisher.snapshots {
                    if snapshot.count >= 10 { break }
                    try? stack.add("more")
                }
            }
            defer { task.cancel() }
            check.isTrue(Waiting.until { publisher.snapshot.count == 10 }, "ten objects: \(publisher.snapshot.count)")
            _ = publisher.snapshot
            check.equal(try stack.fetchCount(From<Person>()), 10, "people")
        },
        .graph("N017.observers-of-an-actor-that-write", "H6") { stack, check in
            let screen = Screen(stack.makeViewContext())
            try Waiting.run { try await screen.start(byAge) { list in if list.numberOfObjects < 10 { try? stack.add("more") } } }
            try stack.add("first")
            check.isTrue(Waiting.until { screen.seen.count == 10 }, "ten events: \(screen.seen.count)")
            check.equal(try stack.fetchCount(From<Person>()), 10, "people")
            try Waiting.run { await screen.end() }
        },
    ]
}
