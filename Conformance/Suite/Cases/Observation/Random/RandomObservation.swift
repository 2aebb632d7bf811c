internal import Foundation
internal import Polystore
internal import PolystoreStorage

/// Cases of group N: random commits, and lists that must equal those that plain Swift code computes from all objects.
enum RandomObservation {
    static let all: [ConformanceCase] = [
        ConformanceCase("N005.random-commits", clause: "H7") { harness, check in
            for round in 0..<rounds {
                try harness.withStack { stack in
                    try run(stack, [nil], commitsTogether: false, RandomCases.seed &+ 100 &+ round, check)
                }
                if !check.failures.isEmpty { return }
            }
        },
        ConformanceCase("N005.random-commits-to-two-stores", clause: "H7") { harness, check in
            for round in 0..<max(rounds / 2, 1) {
                try harness.withPairs(nil, "People", check) { pair in
                    let seed = RandomCases.seed &+ 10_000 &+ round
                    try run(pair.stack, [nil, "People"], commitsTogether: pair.commitsTogether, seed, check)
                }
                if !check.failures.isEmpty { return }
            }
        },
    ]

    private static var rounds: UInt64 { IsolationCases.isThorough ? 200 : 6 }
    private static let commits = 50

    /// A list that is observed by a monitor and by a publisher.
    private final class Followed {
        let list: RandomList
        let monitor: ListRecorder<Person>
        let published: PublisherRecorder<Person>
        private let held: (ListMonitor<Person>, ListPublisher<Person>)
        private var events = 0

        init(_ list: RandomList, _ view: ViewContext, _ stack: DataStack) throws {
            self.list = list
            let monitor = try list.sections.map { try view.monitorSectionedList(list.from, sectionBy: $0) } ?? view.monitorList(list.from)
            let publisher = try stack.publishList(list.from, sectionBy: list.sections)
            self.monitor = ListRecorder(monitor)
            published = PublisherRecorder(publisher)
            held = (monitor, publisher)
        }

        /// Returns the failures after commits that changed one state of the objects to another.
        func problems(_ old: World, _ new: World, _ stack: DataStack) throws -> [String] {
            let expected = list.expected(new), updated = list.updated(old, new)
            let isDelivered = expected != list.expected(old) || !updated.isEmpty
            let allowed = updated.union(list.mayBeUpdated(old, new))
            var problems = monitor.problems
            if monitor.shown != expected { problems.append("the monitor shows \(monitor.shown), expected \(expected)") }
            if isDelivered || (!allowed.isEmpty && monitor.events > events) { events += 1 }
            if monitor.events != events || monitor.refetches > 0 {
                problems.append("the monitor delivered \(monitor.events) events, \(monitor.refetches) refetches, expected \(events)")
            }
            if isDelivered, !monitor.updated.isSuperset(of: updated) || !monitor.updated.isSubset(of: allowed) {
                problems.append("the monitor updated \(Self.text(monitor.updated)), expected \(Self.text(updated))")
            }
            let fetched = try stack.fetchIDs(list.from).map(\.key)
            if fetched != expected.keys { problems.append("a fetch gives \(fetched.map(\.key)), expected \(expected)") }
            // No further update is produced, but one may still be on its way to the recorder.
            if !published.waits(for: events + 1, seconds: 20) { problems.append("the publisher is silent") }
            let delivered = published.delivered
            problems += delivered.problems
            if delivered.shown != expected { problems.append("the publisher shows \(delivered.shown), expected \(expected)") }
            if delivered.updates != events + 1 || delivered.renewals != 1 {
                problems.append(
                    "the publisher delivered \(delivered.updates) updates, \(delivered.renewals) renewals, expected \(events + 1)")
            }
            if isDelivered, delivered.updated != monitor.updated {
                problems.append("the publisher updated \(Self.text(delivered.updated)), the monitor \(Self.text(monitor.updated))")
            }
            return problems
        }

        private static func text(_ keys: Set<ObjectKey>) -> String { "\(keys.map(\.key).sorted())" }
    }

    private static func run(
        _ stack: DataStack, _ configurations: [String?], commitsTogether: Bool, _ seed: UInt64, _ check: Check
    ) throws {
        var stores: [UUID] = []
        for name in configurations {
            let id = try stack.write { try $0.create(Into<Person>(name)).objectID }
            stores.append(id.key.store)
        }
        var random = SplitMix(seed: seed)
        let view = stack.makeViewContext()
        let lists = try (0..<4).map { _ in try Followed(RandomList(&random), view, stack) }
        for list in lists { _ = list.published.waits(for: 1) }
        // Lists without values of other objects are updated last, in the order in which they began: when this one has processed a commit,
        // all publishers have.
        let marks = try stack.publishList(From<Song>())
        var commits = RandomCommits(configurations, commitsTogether: commitsTogether, random: random)
        var world = try World(stack, stores)
        for number in 0..<Self.commits {
            try commits.commit(stack)
            try stack.write { _ = try $0.create(Into<Song>(configurations[0])) }
            if !Waiting.until(30, { marks.snapshot.count == number + 1 }) {
                return check.isTrue(false, "commit \(number) is not published")
            }
            while try view.merge() {}
            let next = try World(stack, stores)
            for list in lists {
                let problems = try list.problems(world, next, stack)
                let what = "seed \(seed), commit \(number) \(commits.said), \(list.list.text): \(problems.joined(separator: "; "))"
                check.isTrue(problems.isEmpty, what)
                if !problems.isEmpty { return }
            }
            world = next
        }
    }
}
