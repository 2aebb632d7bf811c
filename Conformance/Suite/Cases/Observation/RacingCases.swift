internal import Foundation
internal import Polystore
internal import PolystoreStorage
internal import Synchronization

/// Cases of group N: observers and writers at the same time.
enum RacingCases {
    static let all: [ConformanceCase] = beginnings + crowds

    private static let byAge = From<Person>().orderBy(.ascending(\.age))

    /// Returns the number of times that an observer begins during writes. Stores that write to a disk or a server perform fewer.
    private static func rounds(_ stack: DataStack) -> Int {
        if IsolationCases.isThorough { return 10_000 }
        return stack.storages[0].capabilities.contains(.persistent) ? 50 : 500
    }

    /// Writes in a separate thread while `body` runs. Each commit adds a person, and some commits delete all others before.
    private static func withWriter(_ stack: DataStack, _ check: Check, _ body: (_ written: () -> Int) throws -> Void) throws {
        let shared = Shared(), ended = DispatchSemaphore(value: 0)
        let thread = Thread {
            while !shared.isDone.load(ordering: .acquiring) {
                do {
                    try stack.write { transaction in
                        let count = shared.written.load(ordering: .relaxed)
                        if count % 40 == 39 { try transaction.deleteAll(From<Person>()) }
                        try EventCases.add("P", count, transaction)
                    }
                    shared.written.wrappingAdd(1, ordering: .relaxed)
                } catch {
                    shared.failure.withLock { $0 = "\(error)" }
                    break
                }
            }
            ended.signal()
        }
        thread.start()
        defer {
            shared.isDone.store(true, ordering: .releasing)
            ended.wait()
            check.equal(shared.failure.withLock { $0 }, nil, "the writer")
        }
        try body { shared.written.load(ordering: .relaxed) }
    }

    /// The state that the writer shares with the case.
    private final class Shared: Sendable {
        let isDone = Atomic(false)
        let written = Atomic(0)
        let failure = Mutex<String?>(nil)
    }

    private static let beginnings: [ConformanceCase] = [
        .graph("N018.a-publisher-begins-during-writes", "H7") { stack, check in
            let count = rounds(stack)
            // Without observers, the changes of a commit are not recorded: a commit that begins then is reported as one of unknown changes.
            let somebody = try stack.publishList(From<Song>())
            defer { withExtendedLifetime(somebody) {} }
            var last: (publisher: ListPublisher<Person>, recorder: PublisherRecorder<Person>)?
            try withWriter(stack, check) { written in
                for round in 0..<count {
                    let publisher = try stack.publishList(byAge), recorder = PublisherRecorder(publisher)
                    if !recorder.waits(for: 2) { check.isTrue(false, "round \(round): an update") }
                    let delivered = recorder.delivered
                    if delivered.renewals != 1 || !delivered.problems.isEmpty {
                        check.isTrue(false, "round \(round): \(delivered.renewals) first values, \(delivered.problems)")
                        return
                    }
                    last = (publisher, recorder)
                }
            }
            guard let last else { return }
            let newest = try stack.fetchIDs(byAge).map(\.key)
            check.isTrue(last.recorder.waits { $0.shown.keys == newest }, "the last one ends with the newest list")
        },
        .graph("N018.a-monitor-begins-during-writes", "H7") { stack, check in
            let count = rounds(stack)
            let somebody = try stack.publishList(From<Song>())
            defer { withExtendedLifetime(somebody) {} }
            var refetches = 0
            try withWriter(stack, check) { written in
                for round in 0..<count {
                    let view = stack.makeViewContext(), list = ListRecorder(try view.monitorList(byAge))
                    check.equal(list.events, 0, "the first list is not notified")
                    let before = written()
                    if !Waiting.until(30, { written() > before + 1 }) { return check.isTrue(false, "the writer continues") }
                    try view.merge()
                    if !list.problems.isEmpty { return check.isTrue(false, "round \(round): \(list.problems)") }
                    refetches += list.refetches
                }
            }
            check.equal(refetches, 0, "changes are delivered, not fetched again")
            let view = stack.makeViewContext(), list = ListRecorder(try view.monitorList(byAge))
            check.equal(list.shown.keys, try stack.fetchIDs(byAge).map(\.key), "one that starts after all commits")
            check.isTrue(!(try view.merge()), "no changes remain to deliver")
        },
        .graph("N018.an-object-and-a-value-begin-during-writes", "H7") { stack, check in
            let ann = try stack.write { try EventCases.add("Ann", 0, $0).objectID }
            let count = rounds(stack) / 5
            for round in 1...count {
                let writes = Thread { try? stack.write { try $0.edit(ann)?.age = round } }
                writes.start()
                let one = try stack.publishObject(ann)
                let value = try stack.publishValue(of: Person.self) { try $0.fetchExisting(ann)?.age ?? -1 }
                let isNewest = Waiting.until(20) { one.snapshot?.age == round && value.value == round }
                check.isTrue(isNewest, "round \(round): the newest value, found \(one.snapshot?.age ?? -1), \(value.value ?? -1)")
                if !isNewest { return }
            }
        },
    ]

    private static let crowds: [ConformanceCase] = [
        .graph("N008.eight-writers-and-four-observers", "H6") { stack, check in
            // If commits overlap, the changes of a visible commit may be unknown.
            let isExact = !stack.storages[0].capabilities.contains(.concurrentWriters)
            try crowd(stack, check, isDelivered: isExact ? { $0 == $1 } : isInOrder) { number, transaction in
                _ = try EventCases.add("P\(number)", 1_000 - number, transaction)
            }
        },
        // The changes of a later commit to the same objects may be reported with an earlier one, and then have no source.
        .graph("N008.eight-writers-of-the-same-objects", "H6") { stack, check in
            try crowd(stack, check, isDelivered: isInOrder, step)
        },
    ]

    /// Returns whether commits that were reported separately were reported once and in order.
    private static func isInOrder(_ delivered: [String?], _ order: [String]) -> Bool {
        let places = delivered.compactMap { $0 }.map { source in order.firstIndex { $0 == source } ?? -1 }
        return places.first ?? 0 >= 0 && places == Array(Set(places)).sorted()
    }

    /// Lets eight threads write while two monitors and two publishers observe.
    private static func crowd(
        _ stack: DataStack, _ check: Check, isDelivered: ([String?], [String]) -> Bool,
        _ step: @escaping @Sendable (Int, WriteTransaction) throws -> Void
    ) throws {
        let commits = stack.storages[0].capabilities.contains(.persistent) && !IsolationCases.isThorough ? 15 : 100
        let young = byAge.where(\.age >= 0)
        let screens = (0..<2).map { _ in Screen(stack.makeViewContext()) }
        for screen in screens { try Waiting.run { try await screen.start(young) } }
        let publishers = try (0..<2).map { _ in try stack.publishList(young) }, recorders = publishers.map { PublisherRecorder($0) }
        for recorder in recorders { check.isTrue(recorder.waits(for: 1), "the first list") }
        // Each commit reads the number of the previous one, so that the order of the commits is known.
        let counter = try stack.write { transaction in
            let counter = try transaction.create(Song.self)
            counter.title = "0"
            return counter.objectID
        }
        let shared = Numbers()
        Threads.run(8) { writer in
            for commit in 0..<commits {
                let source = "\(writer) \(commit)"
                do {
                    let number = try stack.perform(
                        sourceIdentifier: source,
                        synchronous: { transaction in
                            guard let song = try transaction.edit(counter) else { return -1 }
                            let number = (Int(song.title) ?? 0) + 1
                            song.title = "\(number)"
                            _ = try step(number, transaction)
                            return number
                        })
                    shared.numbers.withLock { $0[source] = number }
                } catch {
                    shared.failures.withLock { $0.append("\(error)") }
                }
            }
        }
        check.equal(shared.failures.withLock { $0 }, [], "failures")
        let order = shared.numbers.withLock { $0 }.sorted { $0.value < $1.value }.map(\.key)
        check.equal(order.count, 8 * commits, "commits")
        let newest = try stack.fetchIDs(young).map(\.key)
        for screen in screens {
            check.isTrue(Waiting.until(20) { screen.shown.keys == newest }, "a monitor ends with the newest list")
            let delivered = screen.seen.map(\.source)
            check.isTrue(isDelivered(delivered, order), "a monitor receives each commit once, in order: \(delivered) of \(order)")
            check.isTrue(!screen.seen.contains(where: \.isRefetch), "nothing is fetched again")
            check.equal(screen.problems, [], "problems")
            try Waiting.run { await screen.end() }
        }
        for recorder in recorders {
            check.isTrue(recorder.waits { $0.shown.keys == newest }, "a publisher ends with the newest list")
            check.equal(recorder.delivered.problems, [], "problems")
            check.equal(recorder.delivered.growth, newest.count, "insertions minus deletions")
            check.equal(recorder.delivered.renewals, 1, "only the first list is shown from scratch")
            // Several commits may be one update; those that are reported separately are reported in order.
            let delivered = recorder.delivered.sources.compactMap { $0 }, places = delivered.compactMap(order.firstIndex)
            check.equal(places, places.sorted(), "the order of updates")
            check.equal(Set(delivered).count, delivered.count, "no commit is delivered twice")
        }
    }

    /// The state that the threads share.
    private final class Numbers: Sendable {
        let numbers = Mutex<[String: Int]>([:])
        let failures = Mutex<[String]>([])
    }

    /// Changes the list in every commit: adds a person, or moves or deletes the first one.
    private static func step(_ number: Int, _ transaction: WriteTransaction) throws {
        let first = number % 3 == 0 ? nil : try transaction.fetchOne(byAge)
        guard let first else {
            try EventCases.add("P\(number)", 1_000 - number, transaction)
            return
        }
        if number % 3 == 1 { first.age += 2_000 + number } else { try transaction.delete(first) }
    }
}
