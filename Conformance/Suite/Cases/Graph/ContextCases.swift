internal import Foundation
internal import Polystore
internal import PolystoreStorage
internal import Synchronization

/// Cases of group E: transactions of every kind and contexts, as programs use them.
enum ContextCases {
    static let all: [ConformanceCase] = views + detached + transactions + values

    private static let views: [ConformanceCase] = [
        .graph("E001.one-instance-across-fetches", "R2") { stack, check in
            try stack.add("Ann", "Bob")
            let view = stack.makeViewContext()
            let all = try view.fetchAll(From<Person>())
            check.isTrue(try person("Ann", in: view) === all[0], "the same instance")
            check.isTrue(try view.fetchExisting(all[1].objectID) === all[1], "by its id")
        },
        .graph("E002.contexts-stand-side-by-side", "C1") { stack, check in
            try stack.add("Ann")
            let one = stack.makeViewContext(), other = stack.makeViewContext()
            let a = try person("Ann", in: one), b = try person("Ann", in: other)
            check.isTrue(a !== b, "two instances")
            check.isTrue(try other.fetchExisting(a) === b, "each context has its own")
        },
        .graph("E003.automatic-merge", "C1") { stack, check in
            try stack.add("Ann")
            let view = stack.makeViewContext()
            let ann = try person("Ann", in: view)
            try stack.write { try person("Ann", in: $0).age = 7 }
            check.equal(ann.age, 0, "before the next look")
            _ = try view.fetchCount(From<Person>())
            check.equal(ann.age, 7, "after a fetch")
        },
        .graph("E003.objects-of-classes-below-the-one-asked-for", "C1") { stack, check in
            let id = try stack.write { transaction in
                let dog = try transaction.create(Dog.self)
                dog.name = "Rex"
                return ObjectID<Pet>(dog.objectID.key)
            }
            let view = stack.makeViewContext()
            // Each object is released immediately, and the next one is a different instance.
            for number in 0..<10 {
                check.equal(try view.fetchExisting(id)?.name, number == 0 ? "Rex" : "Rex \(number - 1)", "by its id")
                try stack.write { try $0.fetchOne(From<Dog>())?.name = "Rex \(number)" }
                try view.merge()
            }
        },
        .graph("E004.merge-on-demand", "C1") { stack, check in
            try stack.add("Ann")
            let view = stack.makeViewContext(merging: .onDemand)
            let ann = try person("Ann", in: view)
            try stack.write { try person("Ann", in: $0).age = 7 }
            _ = try view.fetchAll(From<Person>())
            check.equal(ann.age, 0, "a fetch brings nothing into known objects")
            check.isTrue(try view.merge(), "the merge has changes")
            check.equal(ann.age, 7, "after the merge")
            check.isTrue(!(try view.merge()), "nothing more")
        },
        .graph("E005.reset", "C1") { stack, check in
            try stack.add("Ann")
            let view = stack.makeViewContext(merging: .onDemand)
            let old = try person("Ann", in: view)
            try stack.write { try person("Ann", in: $0).age = 7 }
            view.reset()
            let new = try person("Ann", in: view)
            check.isTrue(old !== new, "another instance")
            check.equal([old.age, new.age], [0, 7], "ages")
        },
        .graph("E006.members-follow-a-merge", "C1") { stack, check in
            try stack.add("Ann")
            let view = stack.makeViewContext()
            let ann = try person("Ann", in: view)
            check.equal(ann.pets.count, 0, "before")
            try stack.write { try $0.create(Dog.self).owner = person("Ann", in: $0) }
            try view.merge()
            check.equal(ann.pets.count, 1, "after")
        },
        .graph("E007.more-changes-than-are-remembered", "C1") { stack, check in
            try stack.add("Ann")
            let view = stack.makeViewContext()
            let ann = try person("Ann", in: view)
            try stack.write { transaction in
                for _ in 0..<11_000 { _ = try transaction.create(Song.self) }
            }
            try stack.write { transaction in
                for song in try transaction.fetchAll(From<Song>()) { song.title = "x" }
                try person("Ann", in: transaction).age = 7
            }
            try view.merge()
            check.equal(ann.age, 7, "age")
        },
        .graph("E008.what-is-rolled-back-is-not-merged", "C1") { stack, check in
            try stack.add("Ann")
            let view = stack.makeViewContext()
            let ann = try person("Ann", in: view)
            _ = try? stack.write { transaction in
                try person("Ann", in: transaction).age = 7
                _ = try transaction.fetchCount(From<Person>())
                throw ImportRefused()
            }
            check.isTrue(!(try view.merge()), "nothing to merge")
            check.equal(ann.age, 0, "age")
        },
    ]

    private static let detached: [ConformanceCase] = [
        .graph("E010.nothing-is-seen-before-the-commit", "W9") { stack, check in
            let work = stack.beginUnsafe()
            try work.create(Person.self).name = "Ann"
            check.equal(try stack.names(), [], "from outside")
            check.equal(try work.fetchAll(From<Person>()).map(\.name), ["Ann"], "from inside")
            try work.commit()
            check.equal(try stack.names(), ["Ann"], "after the commit")
        },
        .graph("E011.many-commits", "W9") { stack, check in
            let work = stack.beginUnsafe()
            let ann = try work.create(Person.self)
            for age in 1...3 {
                ann.age = age
                try work.commit()
                check.equal(try stack.fetchAll(From<Person>()).map(\.age), [age], "commit \(age)")
            }
            check.isTrue(!work.hasChanges, "no objects remain")
            try work.commit()
        },
        .graph("E012.the-main-thread-does-not-wait", "W9") { stack, check in
            try stack.add("Ann", "Bob")
            let work = stack.beginUnsafe()
            try person("Ann", in: work).age = 1
            _ = try work.create(Person.self)
            for age in 1...5 { try stack.write { try person("Bob", in: $0).age = age } }
            check.equal(try stack.fetchAll(From<Person>().where(\.name == "Bob"))[0].age, 5, "others commit")
            try work.commit()
            check.equal(try stack.fetchAll(From<Person>().where(\.name == "Ann"))[0].age, 1, "and so does it")
        },
        .graph("E013.fetches-merge-its-changes", "W9") { stack, check in
            try stack.add("a", "b", "c")
            let work = stack.beginUnsafe()
            try work.create(Person.self).name = "ab"
            try person("c", in: work).name = "aa"
            try work.delete(person("b", in: work))
            let sorted = From<Person>().orderBy(.descending(\.name))
            check.equal(try work.fetchAll(sorted).map(\.name), ["ab", "aa", "a"], "sorted")
            check.equal(try work.fetchAll(sorted.where((\Person.name).beginsWith("a")).limit(2)).count, 2, "limited")
            check.equal(try work.fetchCount(From<Person>().where(\.name == "c")), 0, "the old name is not found")
            check.equal(try work.fetchIDs(sorted).count, 3, "ids")
            check.equal(try stack.names(), ["a", "b", "c"], "committed values")
        },
        .graph("E014.rollback", "W9") { stack, check in
            try stack.add("Ann")
            let work = stack.beginUnsafe()
            let ann = try person("Ann", in: work), new = try work.create(Person.self)
            ann.age = 7
            try work.rollback()
            check.isTrue(ann.age == 0 && new.isDeleted && !work.hasChanges, "all changes are rolled back")
            ann.age = 8
            try work.commit()
            check.equal(try stack.fetchAll(From<Person>()).map(\.age), [8], "the transaction continues")
        },
        .graph("E015.undo-and-redo", "W19") { stack, check in
            let work = stack.beginUnsafe(supportsUndo: true)
            let ann = try work.create(Person.self)
            for age in 1...3 {
                try work.markUndoPoint()
                ann.age = age
            }
            check.isTrue(try work.undo(), "one step")
            check.equal(ann.age, 2, "age")
            check.isTrue(try work.undo(), "another")
            check.isTrue(try work.redo(), "and back")
            check.equal(ann.age, 2, "age again")
            try work.commit()
            check.equal(try stack.fetchAll(From<Person>()).map(\.age), [2], "committed values")
            check.throwing(.unsupported, "without support") { _ = try stack.beginUnsafe().undo() }
        },
        .graph("E016.a-failed-commit-keeps-the-changes", "W9") { stack, check in
            try stack.write { try $0.create(Person.self).email = "a" }
            let work = stack.beginUnsafe()
            let new = try work.create(Person.self)
            new.email = "a"
            check.throwing(.uniqueConstraintViolated, "the first try") { try work.commit() }
            check.isTrue(work.hasChanges, "nothing is lost")
            new.email = "b"
            try work.commit()
            check.equal(try stack.fetchCount(From<Person>()), 2, "people")
        },
        .graph("E017.two-of-them", "W9") { stack, check in
            try stack.add("Ann")
            let one = stack.beginUnsafe(), other = stack.beginUnsafe()
            try person("Ann", in: one).age = 1
            try person("Ann", in: other).age = 2
            try one.commit()
            check.throwing(.staleObject, "the second") { try other.commit() }
            try other.commit(merging: .mine)
            check.equal(try stack.fetchAll(From<Person>()).map(\.age), [2], "age")
        },
        .graph("E018.authors", "H2", needs: [.history]) { stack, check in
            let work = stack.beginUnsafe(author: "editor")
            _ = try work.create(Person.self)
            try work.commit()
            check.isTrue(try stack.storages[0].entry(by: "editor") != nil, "author in the history")
        },
    ]

    private static let transactions: [ConformanceCase] = [
        .graph("T003.what-a-closure-throws", "W4") { stack, check in
            do {
                try stack.write { transaction in
                    _ = try transaction.create(Person.self)
                    throw ImportRefused()
                }
                check.isTrue(false, "it is thrown on")
            } catch {
                check.isTrue(error is ImportRefused, "as it is")
            }
            check.equal(try stack.fetchCount(From<Person>()), 0, "people")
        },
        .graph("T004.cancel", "W4") { stack, check in
            check.throwing(.cancelled, "cancel") {
                try stack.write { transaction in
                    _ = try transaction.create(Person.self)
                    try transaction.cancel()
                }
            }
            check.throwing(.cancelled, "also where the closure catches it") {
                try stack.write { transaction in
                    _ = try transaction.create(Person.self)
                    do { try transaction.cancel() } catch {}
                }
            }
            check.equal(try stack.fetchCount(From<Person>()), 0, "people")
        },
        .graph("T005.nested-parts", "W5", needs: [.savepoints]) { stack, check in
            try stack.add("Ann")
            try stack.write { transaction in
                let ann = try person("Ann", in: transaction)
                ann.age = 1
                try? transaction.nested {
                    ann.age = 2
                    try transaction.nested { try transaction.create(Person.self).name = "inner" }
                    throw ImportRefused()
                }
                check.equal(ann.age, 1, "after the failed part")
                try transaction.nested { ann.score = 3 }
            }
            let ann = try stack.fetchAll(From<Person>())
            check.isTrue(ann.count == 1 && ann[0].age == 1 && ann[0].score == 3, "committed values")
        },
        .graph("T006.a-hundred-nested-parts", "W5", needs: [.savepoints]) { stack, check in
            try stack.write { transaction in
                func part(_ depth: Int) throws {
                    if depth == 100 { throw ImportRefused() }
                    try transaction.create(Person.self).age = depth
                    if depth % 10 == 9 {
                        try? transaction.nested { try part(depth + 1) }
                    } else {
                        try transaction.nested { try part(depth + 1) }
                    }
                }
                try part(0)
            }
            check.equal(try stack.fetchCount(From<Person>()), 100, "the innermost part alone is undone")
        },
        .graph("T010.reads-write-nothing", "W4") { stack, check in
            try stack.add("Ann")
            let view = stack.makeViewContext()
            let ann = try person("Ann", in: view)
            check.isTrue(!ann.hasChanges, "nothing assigned")
            check.equal(try stack.read(synchronous: { try $0.fetchAll(From<Person>()).count }), 1, "people")
        },
        .graph("T012.a-deadline", "W6") { stack, check in
            check.throwing(.timeout, "a transaction that takes longer") {
                try stack.perform(
                    timeout: .milliseconds(20),
                    synchronous: { transaction in
                        _ = try transaction.create(Person.self)
                        Thread.sleep(forTimeInterval: 0.05)
                        _ = try transaction.fetchCount(From<Person>())
                    })
            }
            check.throwing(.timeout, "at its end") {
                try stack.perform(
                    timeout: .milliseconds(20),
                    synchronous: { transaction in
                        _ = try transaction.create(Person.self)
                        Thread.sleep(forTimeInterval: 0.05)
                    })
            }
            try stack.perform(timeout: .seconds(30), synchronous: { _ = try $0.create(Person.self) })
            guard !stack.storages[0].capabilities.contains(.concurrentWriters) else { return }
            let outcome = Mutex("")
            try stack.write { transaction in
                _ = try transaction.fetchCount(From<Person>())
                Threads.run(1) { _ in
                    do {
                        try stack.perform(timeout: .milliseconds(30), synchronous: { _ = try $0.create(Person.self) })
                    } catch {
                        outcome.withLock { $0 = "\((error as? StorageError)?.code.description ?? "another error")" }
                    }
                }
            }
            check.equal(outcome.withLock { $0 }, "timeout", "of one that waits for another writer")
            check.equal(try stack.fetchCount(From<Person>()), 1, "people")
        },
        .graph("T013.a-transaction-in-a-transaction", "W10") { stack, check in
            check.throwing(.reentrantCall, "of the same stack") {
                try stack.write { _ in try stack.write { _ = try $0.create(Person.self) } }
            }
            check.equal(try stack.fetchCount(From<Person>()), 0, "people")
        },
        .graph("T014.use-of-a-transaction-after-its-end", "E3") { stack, check in
            nonisolated(unsafe) var kept: WriteTransaction?
            try stack.write { kept = $0 }
            check.throwing(.storeClosed, "create") { _ = try kept?.create(Person.self) }
            check.throwing(.storeClosed, "fetch") { _ = try kept?.fetchAll(From<Person>()) }
            nonisolated(unsafe) var read: ReadTransaction?
            try stack.read(synchronous: { read = $0 })
            check.throwing(.storeClosed, "fetch from a read") { _ = try read?.fetchAll(From<Person>()) }
        },
        .graph("T020.attempts-are-counted", "W7") { stack, check in
            try stack.add("Ann")
            let firsts = Counter(), failures = Counter()
            Threads.run(4) { _ in
                for _ in 0..<5 {
                    do {
                        try stack.write { transaction in
                            // A closure that is repeated can see its attempt number.
                            if transaction.attempt == 1 { firsts.add() }
                            try person("Ann", in: transaction).age += 1
                        }
                    } catch {
                        failures.add()
                    }
                }
            }
            check.equal(failures.value, 0, "failures")
            check.equal(firsts.value, 20, "first attempts, regardless of conflicts")
            check.equal(try stack.fetchAll(From<Person>()).map(\.age), [20], "age")
        },
        .graph("T023.many-empty-transactions", "H3") { stack, check in
            for _ in 0..<2_000 { try stack.write { _ in } }
            for _ in 0..<2_000 { try stack.read(synchronous: { _ in }) }
            let reader = try OpenStore(opened: stack.storages[0], .empty).beginRead()
            check.equal(try reader.currentToken(), nil, "nothing is recorded of them")
            reader.end()
            try stack.add("Ann")
            check.equal(try stack.names(), ["Ann"], "names")
        },
        .graph("T011.short-transactions-beside-a-long-one", "W15") { stack, check in
            try stack.add("Ann")
            let failures = Counter(), done = Counter()
            Threads.run(5) { index in
                for _ in 0..<(index == 0 ? 1 : 10) {
                    do {
                        try stack.write { transaction in
                            let ann = try person("Ann", in: transaction)
                            if index == 0 { Thread.sleep(forTimeInterval: 0.1) }
                            ann.age += 1
                        }
                        done.add()
                    } catch {
                        failures.add()
                    }
                }
            }
            check.equal([done.value, failures.value], [41, 0], "done and failed")
            check.equal(try stack.fetchAll(From<Person>()).map(\.age), [41], "age")
        },
        .graph("T016.what-fails-leaves-a-clean-session", "W4") { stack, check in
            try stack.write { try $0.create(Person.self).email = "a" }
            for round in 0..<10 {
                check.throwing(.uniqueConstraintViolated, "round \(round)") { try stack.write { try $0.create(Person.self).email = "a" } }
                check.throwing(.invalidPredicate, "a request that means nothing") {
                    try stack.read(synchronous: {
                        _ = try $0.fetchAll(From<Person>().where(Where(.compare(.path("x"), .equal, .value(.null)))))
                    })
                }
                try stack.write { try $0.fetchAll(From<Person>())[0].age += 1 }
            }
            check.equal(try stack.fetchAll(From<Person>()).map(\.age), [10], "age")
        },
        .graph("T017.more-readers-than-sessions", "W15") { stack, check in
            try stack.add("Ann")
            let failures = Counter()
            Threads.run(20) { _ in
                do {
                    try stack.read(synchronous: { source in
                        _ = try person("Ann", in: source)
                        Thread.sleep(forTimeInterval: 0.02)
                        _ = try person("Ann", in: source)
                    })
                } catch {
                    failures.add()
                }
            }
            check.equal(failures.value, 0, "failures")
        },
        ConformanceCase("T024.writing-while-a-cursor-is-open", clause: "S2") { harness, check in
            try harness.withStore { scratch in
                let keys = try scratch.insert("Tag", (0..<2_000).map { ["name": .string("t\($0)")] })
                try scratch.write { writer in
                    let cursor = try writer.cursor(for: try ObjectRequest("Tag").plan(in: scratch.schema)), batch = RowBatch(capacity: 100)
                    guard try cursor.next(into: batch) else { return check.isTrue(false, "the first rows") }
                    var seen = (0..<batch.count).map(batch.key)
                    try scratch.insert("Tag", [["name": .string("new")]], writer)
                    while try cursor.next(into: batch) { seen += (0..<batch.count).map(batch.key) }
                    check.equal(Array(seen.prefix(2_000)), keys, "every row once, in order, whether or not the new one is seen")
                    check.isTrue(seen.count <= 2_001, "and nothing else")
                }
            }
        },
        .graph("E030.what-changed", "C2") { stack, check in
            try stack.add("Ann", "Bob")
            try stack.write { transaction in
                check.isTrue(!transaction.hasChanges, "nothing yet")
                let ann = try person("Ann", in: transaction), bob = try person("Bob", in: transaction)
                let new = try transaction.create(Dog.self)
                ann.age = 1
                ann.age = 2
                ann.partner = ann
                try transaction.delete(bob)
                check.isTrue(transaction.hasChanges, "changes")
                check.equal(transaction.insertedObjects(), [new], "inserted")
                check.equal(transaction.updatedObjects(Person.self), [ann], "updated")
                check.equal(transaction.deletedObjectIDs(Person.self), [bob.objectID], "deleted")
                check.equal(transaction.changedKeys(of: ann), ["age", "partner"], "changed keys")
                _ = try transaction.fetchCount(From<Person>())
                check.equal(transaction.changedKeys(of: ann), ["age", "partner"], "also after a flush")
            }
        },
        .graph("E031.helpers-that-keep-hasChanges-honest", "C2") { stack, check in
            try stack.add("Ann")
            try stack.write { transaction in
                let ann = try person("Ann", in: transaction)
                check.isTrue(!ann.update(\.age, value: 0) && !ann.hasChanges, "the same value")
                check.isTrue(!ann.updateIfAvailable(\.age, value: nil) && !ann.hasChanges, "no value")
                check.isTrue(!ann.update(\.score, value: 1, minimumChange: 2) && !ann.hasChanges, "too small a change")
                check.isTrue(!ann.remove(\.pets, relation: nil) && !transaction.hasChanges, "no member to remove")
                check.isTrue(ann.update(\.score, value: 2, minimumChange: 2), "a great enough change")
            }
            check.equal(try stack.fetchAll(From<Person>()).map(\.score), [2], "score")
        },
        .graph("E032.queries-answer-from-what-is-committed", "W3") { stack, check in
            try stack.add("Ann")
            try stack.write { transaction in
                _ = try transaction.create(Person.self)
                check.equal(try transaction.fetchCount(From<Person>()), 2, "a fetch sees the new one")
                check.equal(try transaction.queryValue(From<Person>().select(Int.self, .count(\.name))), 1, "a query does not")
            }
        },
        .graph("E033.fetch-or-create", "I4") { stack, check in
            for _ in 0..<2 {
                try stack.write { transaction in
                    let ann = try transaction.fetchOrCreate(Person.self, \.name == "Ann" && \.age == 18)
                    ann.score += 1
                }
            }
            let ann = try stack.fetchAll(From<Person>())
            check.isTrue(
                ann.count == 1 && ann[0].name == "Ann" && ann[0].age == 18 && ann[0].score == 2, "one, with the requested properties")
        },
    ]

    private static let values: [ConformanceCase] = [
        .graph("E040.a-refused-value-ends-the-transaction", "V2") { stack, check in
            check.throwing(.valueNotStorable, "NaN") { try stack.write { try $0.create(Person.self).score = .nan } }
            check.throwing(.valueNotStorable, "U+0000") { try stack.write { try $0.create(Person.self).name = "a\0b" } }
            check.equal(try stack.fetchCount(From<Person>()), 0, "people")
        },
        .graph("E041.what-is-assigned-is-what-comes-back", "V1") { stack, check in
            let date = Date(timeIntervalSince1970: 1.000_000_4)
            let assigned = try stack.write { transaction in
                let ann = try transaction.create(Person.self)
                ann.score = -0.0
                ann.joined = date
                return [ann.score.sign == .plus ? 1 : 0, ann.joined?.timeIntervalSince1970 ?? 0]
            }
            let ann = try stack.fetchAll(From<Person>())[0]
            check.equal(assigned, [1, 1.0], "normalised when assigned")
            check.equal([ann.score.sign == .plus ? 1 : 0, ann.joined?.timeIntervalSince1970 ?? 0], assigned, "and equal afterwards")
        },
        .graph("E042.snapshots-are-values", "C2") { stack, check in
            try stack.add("Ann")
            let view = stack.makeViewContext()
            let ann = try person("Ann", in: view)
            let snapshot = Person.Snapshot(ann)
            try stack.write { try person("Ann", in: $0).age = 7 }
            try view.merge()
            check.equal([snapshot.age, ann.age], [0, 7], "the snapshot stays")
            check.isTrue(snapshot.objectID == ann.objectID && snapshot.version == 1, "its identity and version")
        },
        .graph("E043.edit-across-contexts", "R2") { stack, check in
            try stack.add("Ann")
            let view = stack.makeViewContext()
            let ann = try person("Ann", in: view)
            try stack.write { transaction in
                guard let own = try transaction.edit(ann) else { return check.isTrue(false, "the transaction has its own") }
                check.isTrue(own !== ann && own.objectID == ann.objectID, "another instance of the same row")
                check.isTrue(try transaction.edit(own) === own, "its own stays")
                check.isTrue(try transaction.edit(ann.objectID) === own, "by id")
                try transaction.delete(own)
                check.isTrue(try transaction.edit(ann) == nil, "deleted here")
            }
            check.isTrue(try stack.write { try $0.edit(ann) } == nil, "deleted")
        },
        .graph("E044.existing-in-both-directions", "R2") { stack, check in
            try stack.add("Ann", "Bob")
            let view = stack.makeViewContext()
            let all = try view.fetchAll(From<Person>().orderBy(.descending(\.name)))
            let back = try stack.write { transaction in
                let own = try transaction.fetchExisting(all)
                check.equal(own.map(\.name), ["Bob", "Ann"], "into the transaction, in order")
                return own.map(\.objectID)
            }
            check.isTrue(try view.fetchExisting(back) == all, "ids back into the view")
            try stack.write { try $0.delete($0.edit(all[0]) ?? all[0]) }
            check.equal(try view.fetchExisting(back).map(\.name), ["Ann"], "deleted objects are omitted")
            check.equal(try stack.fetchExisting(back).map(\.name), ["Ann"], "also of the stack")
            check.equal(try stack.fetchExisting(all).map(\.name), ["Ann"], "and of objects")
            check.isTrue(try stack.fetchExisting(all[0]) == nil, "a deleted object")
        },
    ]
}
