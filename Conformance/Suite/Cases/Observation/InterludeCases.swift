internal import Foundation
internal import Polystore
internal import PolystoreStorage

/// Group N: notifications with an interruption: an error, a reset, an undone deletion, a store that is removed and added again.
enum InterludeCases {
    static let all: [ConformanceCase] = failures + objects + resets + places

    private static let failures: [ConformanceCase] = [
        .graph("N020.a-value-that-fails-for-a-while-stops-no-other-observer", "H6") { stack, check in
            try EventCases.add(["Ann": 1], to: stack)
            let isFailing = SharedValue(false)
            let first = PublisherRecorder(try stack.publishList(EventCases.byAge.limit(10)))
            let value = try stack.publishValue { transaction in
                if isFailing.withLock({ $0 }) { throw StorageError(.timeout, "not now") }
                return try transaction.fetchCount(From<Person>())
            }
            let last = PublisherRecorder(try stack.publishList(EventCases.byAge))
            check.isTrue(first.waits(for: 1) && last.waits(for: 1), "the current lists")
            isFailing.withLock { $0 = true }
            for (count, name) in [(2, "Ben"), (3, "Cid")] {
                try stack.write { try EventCases.add(name, count, $0) }
                check.isTrue(last.waits(10) { $0.shown.keys.count == count }, "\(name): the list behind it")
                check.isTrue(first.waits(10) { $0.shown.keys.count == count }, "\(name): the list before it")
            }
            check.isTrue(Waiting.until(10) { (value.error as? StorageError)?.code == .timeout }, "the error")
            check.equal(value.value, 1, "the last value")
            // Longer than until it is tried again.
            Thread.sleep(forTimeInterval: 1.5)
            check.equal([first.delivered.updates, first.delivered.renewals], [3, 1], "nothing is delivered twice")
            isFailing.withLock { $0 = false }
            check.isTrue(Waiting.until(20) { value.value == 3 }, "the value, tried again")
            check.isTrue(value.error == nil, "no error any more")
        }
    ]

    private static let objects: [ConformanceCase] = [
        .graph("N021.an-object-of-which-a-part-was-fetched", "H6") { stack, check in
            try EventCases.add(["Ann": 1], to: stack)
            let view = stack.makeViewContext()
            let ann = try view.fetchAll(From<Person>().properties(\.name))
            let object = ObjectRecorder(try view.monitorObject(ann[0]))
            try stack.write { try person("Ann", in: $0).age = 7 }
            try view.merge()
            check.equal(object.take(), ["will 1", "did 7 age"], "a change of an unfetched property")
        },
        .graph("N022.a-list-reports-pairs-like-commits-do", "H7") { stack, check in
            try EventCases.add(["Ann": 1, "Ben": 2, "Cid": 3], to: stack)
            try stack.write { try $0.create(Club.self).name = "Chess" }
            let byName = From<Club>().orderBy(.ascending(\.name)), view = stack.makeViewContext()
            let people = ListRecorder(try view.monitorList(EventCases.byAge)), clubs = ListRecorder(try view.monitorList(byName))
            let published = PublisherRecorder(try stack.publishList(byName))
            check.isTrue(published.waits(for: 1), "the current list")
            let commits = try stack.commits(.gap(after: 100)), seen = SharedValue<[StackCommit]>([])
            let task = Waiting.start { for await commit in commits { seen.withLock { $0.append(commit) } } }
            defer { task.cancel() }
            let steps: [(String, (WriteTransaction) throws -> Void)] = [
                ("a pair", { try person("Ann", in: $0).clubs = Set($0.fetchAll(byName)) }),
                (
                    "a pair more, and one of its ends",
                    { transaction in
                        let ben = try person("Ben", in: transaction)
                        ben.age = 20
                        ben.clubs = Set(try transaction.fetchAll(byName))
                    }
                ), ("the other end of a relationship to one", { try person("Cid", in: $0).parent = person("Ann", in: $0) }),
                ("a pair less", { try person("Ann", in: $0).clubs = [] }),
            ]
            for (number, (what, body)) in steps.enumerated() {
                try stack.write(body)
                check.isTrue(Waiting.until(20) { seen.withLock { $0.count } > number }, "\(what): the commit")
                guard let changes = seen.withLock({ $0.last })?.changes else { return }
                try view.merge()
                let changed = Set(changes.updatedObjectIDs(Person.self).map(\.key))
                check.equal(people.take().isEmpty ? [] : people.updated, changed, "\(what): people")
                let chess = Set(changes.updatedObjectIDs(Club.self).map(\.key))
                check.equal(clubs.take().isEmpty ? [] : clubs.updated, chess, "\(what): clubs")
                check.equal(chess.isEmpty && changed.isEmpty, false, "\(what): an object is updated")
                if !chess.isEmpty {
                    check.isTrue(published.waits(20) { $0.updated == chess }, "\(what): published")
                }
            }
            check.equal(people.problems + clubs.problems + published.delivered.problems, [], "problems")
        },
        .graph("N023.a-deletion-that-is-taken-back", "H6") { stack, check in
            try EventCases.add(["Ann": 1], to: stack)
            let work = stack.beginUnsafe(supportsUndo: true), ann = try person("Ann", in: work)
            let monitor = try work.monitorObject(ann), object = ObjectRecorder(monitor)
            var ages: [Int?] = []
            let age = work.observe(ann, \.age) { ages.append($1.newValue) }
            try work.markUndoPoint()
            try work.delete(ann)
            try work.flush()
            check.equal(object.take(), ["deleted 1"], "the deletion")
            try work.undo()
            check.isTrue(!monitor.isObjectDeleted && monitor.object?.age == 1, "it exists again")
            check.equal(object.take(), ["will 1", "did 1 "], "a notification that it exists again")
            monitor.object?.age = 42
            try work.flush()
            check.equal(object.take(), ["will 42", "did 42 age"], "later changes")
            if let ann = monitor.object { try work.delete(ann) }
            try work.flush()
            try work.rollback()
            check.equal(object.take(), ["deleted 42", "will 1", "did 1 age"], "a rollback")
            check.equal(ages, [nil, 1, 42, nil, 1], "the property")
            age.invalidate()
        },
        .graph("N024.relationships-that-were-loaded-before-the-monitor", "H6") { stack, check in
            try EventCases.add(["Ann": 1, "Ben": 2, "Cid": 3], to: stack)
            try stack.write { transaction in
                let ann = try person("Ann", in: transaction)
                try person("Ben", in: transaction).parent = ann
                for title in ["a", "b"] {
                    let song = try transaction.create(Song.self)
                    song.title = title
                    ann.songs.append(song)
                }
            }
            let view = stack.makeViewContext(merging: .onDemand)
            let ann = try view.fetchAll(From<Person>().where(\.name == "Ann").prefetch(\.children).prefetch(\.songs))[0]
            try stack.write { transaction in
                let ann = try person("Ann", in: transaction)
                try person("Cid", in: transaction).parent = ann
                ann.songs.reverse()
            }
            let object = ObjectRecorder(try view.monitorObject(ann))
            check.equal(ann.children.count, 1, "loaded values do not change")
            try view.merge()
            check.equal(object.take(), ["will 1", "did 1 children,songs"], "changes since it was loaded")
            check.equal(ann.children.count, 2, "the members now")
            check.equal(ann.songs.map(\.title), ["b", "a"], "their order")
            try stack.write { try person("Ann", in: $0).songs.reverse() }
            try view.merge()
            check.equal(object.take(), ["will 1", "did 1 songs"], "another order")
        },
    ]

    /// A front end that shows every step immediately.
    private final class Screen: ListTarget {
        typealias Object = Person
        func reloadData(_ snapshot: ListSnapshot<Person>) {}
        func performBatchUpdates(_ stage: ListStage<Person>, animated: Bool, show: @escaping () -> Void) { show() }
    }

    /// An observer that resets a context when an object is about to change.
    private final class Resetter: ObjectObserver {
        typealias ObjectEntityType = Person
        private var reset: (() -> Void)?

        init(_ reset: @escaping () -> Void) { self.reset = reset }

        func objectMonitor(_ monitor: ObjectMonitor<Person>, willUpdateObject object: Person) {
            let once = reset
            reset = nil
            once?()
        }
    }

    private static let resets: [ConformanceCase] = [
        .graph("N025.a-front-end-shows-the-values-after-a-reset", "C1") { stack, check in
            try EventCases.add(["Ann": 1, "Ben": 2], to: stack)
            for merging in [MergeTime.onDemand, .automatic] {
                let view = stack.makeViewContext(merging: merging), provider = ListDataProvider<Screen>(context: view), screen = Screen()
                var shown: [String] = []
                try provider.query(orderBy: .ascending(\.name))
                try provider.bind(screen, isolation: nil) { person, _ in shown.append("\(person.name) \(person.age)") }
                shown = []
                try stack.write { try person("Ann", in: $0).age += 50 }
                view.reset()
                let age = merging == .onDemand ? 51 : 101
                check.isTrue(shown.contains("Ann \(age)"), "shown were \(shown)")
            }
        },
        .graph("N025.a-reset-ends-what-was-announced", "C1") { stack, check in
            try EventCases.add(["Ann": 1, "Ben": 2], to: stack)
            let view = stack.makeViewContext(), ben = try view.monitorObject(person("Ben", in: view))
            let first = ObjectRecorder(try view.monitorObject(person("Ann", in: view))), second = ObjectRecorder(ben)
            let resetter = Resetter { view.reset() }
            ben.addObserver(resetter)
            let third = ObjectRecorder(ben)
            _ = try stack.write { try $0.updateAll(From<Person>(), .set(\.age, to: 70)) }
            try view.merge()
            check.equal(first.take(), ["will 1", "did 70 age"], "of an object that was announced before")
            check.equal(second.take(), ["will 2", "did 70 age"], "of the same object, before the reset")
            check.equal(third.take(), ["will 2", "did 70 age"], "of the same object, after the reset")
            try stack.write { try person("Ann", in: $0).age = 71 }
            try view.merge()
            check.equal(first.take(), ["will 70", "did 71 age"], "afterwards")
        },
    ]

    private static let places: [ConformanceCase] = [
        ConformanceCase("N026.a-store-that-is-removed-and-added-again", clause: "H6", needs: [.persistent]) { harness, check in
            try harness.withStack { stack in
                try EventCases.add(["Ann": 1], to: stack)
                let view = stack.makeViewContext(), ann = try person("Ann", in: view), monitor = try view.monitorObject(ann)
                let object = ObjectRecorder(monitor), published = try stack.publishObject(ann)
                var ages: [Int?] = []
                let age = try view.observe(ann, \.age) { ages.append($1.newValue) }
                let store = stack.storages[0]
                try stack.removeStorage(store)
                check.isTrue(Waiting.until(20) { published.snapshot == nil }, "without its store there is no object")
                while try view.merge() {}
                check.equal(object.take(), [], "the object of a store that was removed stays as it is")
                try stack.addStorageAndWait(store)
                check.isTrue(Waiting.until(20) { published.snapshot?.age == 1 }, "it exists again")
                try view.merge()
                try stack.write { try person("Ann", in: $0).age = 9 }
                while try view.merge() {}
                check.equal(object.take(), ["will 1", "did 9 age"], "the monitor")
                check.equal(monitor.object?.age, 9, "its object")
                check.equal(ages, [9], "the property")
                check.isTrue(Waiting.until(20) { published.snapshot?.age == 9 }, "the publisher")
                age.invalidate()
            }
        },
        .graph("N027.sections-that-differ-by-the-form-of-a-letter", "H7, V3") { stack, check in
            // One name in two normalizations.
            let names = ["e\u{301}", "\u{e9}"]
            try stack.add(names[0], names[1])
            let byName = From<Person>().orderBy(.ascending(\.name)), view = stack.makeViewContext()
            let monitor = try view.monitorSectionedList(byName, sectionBy: SectionBy(\.name)), list = ListRecorder(monitor)
            check.equal(monitor.sections.map(\.numberOfObjects), [1, 1], "sections")
            try stack.add("f")
            try view.merge()
            check.equal(list.take(), ["will", "section+ f", "insert 1.0", "did"], "a section between them")
            try stack.write { try person(names[0], in: $0).name = names[1] }
            try view.merge()
            check.equal(list.take(), ["will", "section- e\u{301}", "move 0.0 1.0", "did"], "another form")
            check.equal(monitor.sections.map(\.numberOfObjects), [1, 2], "sections then")
            let snapshot = try stack.publishList(byName, sectionBy: SectionBy(\.name)).snapshot
            check.equal(snapshot.indexOfSection(withID: names[0]), nil, "a form that no object has")
            check.equal(snapshot.items(inSectionWithID: names[1])?.count, 2, "the other")
            check.equal(list.problems, [], "problems")
        },
        .graph("N028.a-purge-of-delivered-transactions", "H4, H6", needs: [.history]) { stack, check in
            try EventCases.add(["Ann": 1], to: stack)
            let view = stack.makeViewContext(), list = ListRecorder(try view.monitorList(EventCases.byAge))
            for age in 2...10 { try stack.write { try person("Ann", in: $0).age = age } }
            while try view.merge() {}
            _ = list.take()
            _ = try stack.purgeHistory(.olderThan(.zero))
            for _ in 0..<20 {
                while try view.merge() {}
                Thread.sleep(forTimeInterval: 0.02)
            }
            check.equal(list.take(), [], "the purge")
            try EventCases.add(["Ben": 20], to: stack)
            while try view.merge() {}
            check.equal(list.take(), ["will", "insert 0.1", "did"], "later insertions")
        },
    ]
}
