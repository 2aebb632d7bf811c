internal import Foundation
internal import Polystore
internal import PolystoreStorage

extension EventCases {
    static let order: [ConformanceCase] = [
        .graph("N008.in-the-order-of-the-commits", "H6") { stack, check in
            let view = stack.makeViewContext(), list = ListRecorder(try view.monitorList(byAge))
            var seen: [Int] = []
            list.whenTold = { monitor in
                // A fetch sees every change that was reported.
                let newest = try? stack.fetchAll(From<Person>()).count
                seen.append((newest ?? 0) - monitor.numberOfObjects)
            }
            for age in 0..<20 {
                try stack.perform(sourceIdentifier: "\(age)", synchronous: { _ = try add("P", age, $0) })
                if age % 3 == 0 { try view.merge() }
            }
            try view.merge()
            check.equal(list.sources, (0..<20).map { "\($0)" }, "sources")
            check.isTrue(seen.allSatisfy { $0 >= 0 }, "a fetch in a call sees the delivered commit")
            check.equal(list.problems, [], "problems")
        },
        .graph("N009.ten-thousand-changes-are-one-notification", "H6") { stack, check in
            let view = stack.makeViewContext(), list = ListRecorder(try view.monitorList(byAge))
            let published = PublisherRecorder(try stack.publishList(byAge))
            check.isTrue(published.waits(for: 1), "the first list")
            func expect(_ count: Int, _ events: Int, _ what: String) throws {
                while try view.merge() {}
                check.equal(list.events, events, "\(what): events")
                check.equal(list.shown.keys.count, count, "\(what): objects")
                check.isTrue(published.waits(for: events + 1), "\(what): an update")
                check.equal(published.delivered.shown, list.shown, "\(what): published")
            }
            try stack.write { try $0.insertAll(Into<Person>(), sources: 0..<10_000) { $0.age = $1 } }
            try expect(10_000, 1, "insertions")
            try stack.write { try $0.updateAll(From<Person>(), .set(\.score, to: 1)) }
            try expect(10_000, 2, "updates")
            check.equal(list.updated.count, 10_000, "updated objects")
            try stack.write { try $0.deleteAll(From<Person>()) }
            try expect(0, 3, "deletions")
            check.equal(published.delivered.updates, 4, "updates in all")
            check.equal(list.problems + published.delivered.problems, [], "problems")
        },
    ]

    static let ends: [ConformanceCase] = [
        .graph("N010.nothing-after-the-end", "H6") { stack, check in
            try add(["Ann": 1], to: stack)
            let view = stack.makeViewContext(), monitor = try view.monitorList(byAge)
            let first = ListRecorder(monitor), second = ListRecorder(monitor), third = ListRecorder(monitor)
            let object = try view.monitorObject(person("Ann", in: view)), recorder = ObjectRecorder(object)
            var ages: [Int?] = []
            let observation = try view.observe(person("Ann", in: view), \.age) { ages.append($1.newValue) }
            monitor.removeObserver(second)
            object.removeObserver(recorder)
            observation.invalidate()
            // An observer that is removed while others are notified is not notified any more.
            first.whenTold = { $0.removeObserver(third) }
            try stack.write { try person("Ann", in: $0).age = 5 }
            try view.merge()
            check.equal(first.take(), ["will", "update 0.0", "did"], "a remaining observer")
            check.equal(second.calls + recorder.calls, [], "an observer that was removed before")
            check.isTrue(!third.calls.contains("did"), "an observer that was removed meanwhile: \(third.calls)")
            check.equal(ages.count, 0, "values")
            let count = third.calls.count
            try stack.write { try person("Ann", in: $0).age = 6 }
            try view.merge()
            check.equal(third.calls.count, count, "after that")
        },
        .graph("N010.a-cancelled-task-takes-no-updates", "H6") { stack, check in
            let publisher = try stack.publishList(byAge)
            var gone: PublisherRecorder<Person>? = PublisherRecorder(publisher)
            check.isTrue(gone?.waits(for: 1) == true, "the first")
            let delivered = gone?.delivered
            gone = nil
            let stays = PublisherRecorder(publisher)
            try add(["Ann": 1], to: stack)
            check.isTrue(stays.waits { $0.shown.keys.count == 1 }, "a remaining observer")
            check.equal(delivered?.updates, 1, "a cancelled observer")
        },
    ]
}
