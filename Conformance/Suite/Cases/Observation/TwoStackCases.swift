internal import Foundation
internal import Polystore
internal import PolystoreStorage

/// Cases of group N: two stacks of one process at the same location, each with its own store.
enum TwoStackCases {
    static let all: [ConformanceCase] =
        [
            stacks("N013.each-stack-receives-the-commits-of-the-other") { stacks, check in
                let byAge = From<Person>().orderBy(.ascending(\.age))
                let views = stacks.map { $0.makeViewContext() }
                let monitors = try views.map { try $0.monitorList(byAge) }, lists = monitors.map { ListRecorder($0) }
                let publishers = try stacks.map { try $0.publishList(byAge) }, published = publishers.map { PublisherRecorder($0) }
                for recorder in published { check.isTrue(recorder.waits(for: 1), "the first list") }
                func expect(_ events: Int, _ what: String) throws {
                    let newest = try stacks[0].fetchIDs(byAge).map(\.key.key)
                    for (index, (view, list)) in zip(views, lists).enumerated() {
                        let isDelivered = try Waiting.until(20) {
                            while try view.merge() {}
                            return list.events >= events
                        }
                        check.isTrue(isDelivered, "\(what): stack \(index) is notified")
                        check.equal(list.shown.keys.map(\.key), newest, "\(what): stack \(index)")
                        check.isTrue(published[index].waits { $0.shown.keys.map(\.key) == newest }, "\(what): stack \(index), published")
                    }
                }
                for number in 1...6 {
                    try EventCases.add(["P\(number)": number * 10], to: stacks[number % 2])
                    try expect(number, "commit \(number)")
                }
                try stacks[0].write { try person("P1", in: $0).age = 99 }
                try expect(7, "an update")
                try stacks[1].write { try EventCases.remove("P1", $0) }
                try expect(8, "a deletion")
                try? stacks[1].write { transaction in
                    try EventCases.add("No one", 1, transaction)
                    _ = try transaction.fetchCount(From<Person>())
                    throw ImportRefused()
                }
                try EventCases.add(["Last": 1], to: stacks[0])
                try expect(9, "after a transaction that was undone")
                for (list, recorder) in zip(lists, published) {
                    check.equal([list.events, list.refetches, recorder.delivered.renewals], [9, 0, 1], "each commit once")
                    check.equal(list.problems + recorder.delivered.problems, [], "problems")
                }
            },
            stacks("N013.both-stacks-write-at-once") { stacks, check in
                let byAge = From<Person>().orderBy(.ascending(\.age)), commits = IsolationCases.isThorough ? 300 : 40
                let views = stacks.map { $0.makeViewContext() }
                let monitors = try views.map { try $0.monitorList(byAge) }, lists = monitors.map { ListRecorder($0) }
                let publishers = try stacks.map { try $0.publishList(byAge) }, published = publishers.map { PublisherRecorder($0) }
                // The first update is the complete list: commits before it was taken are part of it, and are not insertions.
                for recorder in published { check.isTrue(recorder.waits(for: 1), "the list in the beginning") }
                let failures = Counter()
                Threads.run(2) { index in
                    for number in 0..<commits {
                        do {
                            try stacks[index].write { transaction in
                                try EventCases.add("S\(index) \(number)", number * 2 + index, transaction)
                                if number % 5 == 4 {
                                    try transaction.fetchOne(byAge.where((\Person.name).beginsWith("S\(index)")))?.age += 1_000
                                }
                            }
                        } catch { failures.add() }
                    }
                }
                check.equal(failures.value, 0, "failures")
                let newest = try stacks[0].fetchAll(byAge)
                check.equal(newest.count, 2 * commits, "people")
                for (index, list) in lists.enumerated() {
                    let isDelivered = try Waiting.until(30) {
                        while try views[index].merge() {}
                        return list.shown.keys.map(\.key) == newest.map(\.objectID.key.key)
                    }
                    check.isTrue(isDelivered, "stack \(index) ends with the newest list")
                    check.equal(list.refetches, 0, "stack \(index): nothing is fetched again")
                    check.isTrue(
                        published[index].waits { $0.shown.keys.count == newest.count && $0.shown.keys == list.shown.keys },
                        "stack \(index), published")
                    check.equal(published[index].delivered.growth, newest.count, "stack \(index): insertions")
                    check.equal(list.problems + published[index].delivered.problems, [], "stack \(index): problems")
                }
            },
            stacks("N013.objects-and-values-of-the-other-stack") { stacks, check in
                try EventCases.add(["Ann": 1], to: stacks[0])
                let view = stacks[0].makeViewContext(), ann = try person("Ann", in: view)
                let object = ObjectRecorder(try view.monitorObject(ann)), published = try stacks[0].publishObject(ann)
                let count = try stacks[0].publishValue(of: Person.self) { try $0.fetchCount(From<Person>().where(\.age > 5)) }
                try stacks[1].write { try person("Ann", in: $0).age = 9 }
                check.isTrue(
                    try Waiting.until(20) {
                        while try view.merge() {}
                        return ann.age == 9
                    }, "the object")
                check.equal(object.take(), ["will 1", "did 9 age"], "calls")
                check.isTrue(Waiting.until { published.snapshot?.age == 9 && count.value == 1 }, "published")
            },
            stacks("N029.what-others-did-before-the-first-monitor") { stacks, check in
                try EventCases.add(["Ann": 1, "Ben": 2], to: stacks[0])
                for merging in [MergeTime.onDemand, .automatic] {
                    let view = stacks[0].makeViewContext(merging: merging)
                    let ann = try person("Ann", in: view), ben = try person("Ben", in: view), age = ann.age
                    try stacks[1].write { transaction in
                        try person("Ann", in: transaction).age = age + 8
                        try EventCases.remove("Ben", transaction)
                    }
                    let object = ObjectRecorder(try view.monitorObject(ann)), list = ListRecorder(try view.monitorList(EventCases.byAge))
                    if merging == .onDemand { check.equal(ann.age, age, "loaded values do not change before the merge") }
                    while try view.merge() {}
                    check.equal(ann.age, age + 8, "the object")
                    check.isTrue(ben.isDeleted, "deleted objects")
                    if merging == .onDemand { check.equal(object.take(), ["will \(age)", "did \(age + 8) age"], "calls") }
                    check.equal(list.shown.keys.count, 1, "the list")
                    check.equal([list.refetches, list.problems.count], [0, 0], "refetches, problems")
                    try EventCases.add(["Ben": 2], to: stacks[0])
                }
            },
        ] + [
            ConformanceCase("N013.no-other-process-changes-a-store-of-this-process", clause: "H8", needsAbsent: [.remoteChanges]) {
                harness, check in
                try harness.withStack { stack in
                    let watch = try OpenStore(opened: stack.storages[0], .empty).watchChanges { _ in }
                    check.isTrue(watch == nil, "there is nothing to watch")
                    let people = PublisherRecorder(try stack.publishList(From<Person>()))
                    try stack.add("Ann")
                    check.isTrue(people.waits { $0.shown.keys.count == 1 }, "observers are notified without it")
                }
            }
        ]

    /// Returns a case over two stacks with a store each at the same location. It is skipped if a process can open a location only once.
    private static func stacks(
        _ id: String, _ body: @escaping @Sendable ([DataStack], Check) throws -> Void
    ) -> ConformanceCase {
        ConformanceCase(id, clause: "H8", needs: [.remoteChanges, .history, .persistent]) { harness, check in
            let place = try harness.place()
            defer { place.remove() }
            let first = try place.store(nil), one = try Graph.stack(), other = try Graph.stack()
            try one.addStorageAndWait(first)
            defer { try? first.close() }
            let second: any StorageInterface
            do {
                second = try place.store(nil)
                try other.addStorageAndWait(second)
            } catch let error as StorageError where error.code == .alreadyExists {
                throw NothingToCheck("a process can open the store only once; two stacks need two processes")
            }
            defer { try? second.close() }
            try body([one, other], check)
        }
    }
}
