internal import Foundation
internal import Polystore
internal import PolystoreStorage

/// Cases of group T over objects: an operation that fails inside a transaction is undone, or the complete transaction fails.
enum FailureCases {
    static let all: [ConformanceCase] = flushes + batches + whole + policies + parts + numbers + assignments

    private static let flushes: [ConformanceCase] = [
        .graph("T007.a-violation-that-is-caught-leaves-nothing", "W4", needs: [.savepoints]) { stack, check in
            try add(stack, "taken")
            try stack.write { transaction in
                let first = try transaction.create(Person.self), second = try transaction.create(Person.self)
                (first.email, second.email) = ("free", "taken")
                check.throwing(.uniqueConstraintViolated, "the fetch that writes them") { _ = try transaction.fetchCount(From<Person>()) }
                check.isTrue(first.email == "free" && second.email == "taken" && !first.isDeleted, "the objects are as they were")
                try transaction.delete([first, second])
            }
            check.equal(try emails(stack), ["taken"], "committed values")
            check.equal(try stack.fetchCount(From<Person>().where(\.email == "free")), 0, "found by the index")
        },
        .graph("T007.a-violation-that-is-corrected", "W4", needs: [.savepoints]) { stack, check in
            try add(stack, "taken")
            try stack.write { transaction in
                let first = try transaction.create(Person.self), second = try transaction.create(Person.self)
                (first.email, second.email) = ("a", "taken")
                first.parent = second
                check.throwing(.uniqueConstraintViolated, "the fetch that writes them") { _ = try transaction.fetchCount(From<Person>()) }
                second.email = "b"
                check.equal(try transaction.fetchCount(From<Person>()), 3, "people")
                second.email = "a"
                check.throwing(.uniqueConstraintViolated, "a change of a row") { _ = try transaction.fetchCount(From<Person>()) }
                second.email = "c"
            }
            check.equal(try emails(stack), ["a", "c", "taken"], "committed values")
            check.equal(try stack.fetchOne(From<Person>().where(\.email == "a"))?.parent?.email, "c", "a relationship")
        },
        .graph("T007.a-violation-in-the-history", "H3", needs: [.savepoints, .history]) { stack, check in
            try add(stack, "taken")
            try stack.perform(
                author: "corrected",
                synchronous: { transaction in
                    let person = try transaction.create(Person.self)
                    person.email = "taken"
                    check.throwing(.uniqueConstraintViolated, "the fetch") { _ = try transaction.fetchCount(From<Person>()) }
                    try transaction.delete(person)
                    try transaction.create(Song.self).title = "kept"
                })
            let entry = try stack.storages[0].entry(by: "corrected")
            check.equal(entry?.changes.count, 1, "changes")
        },
    ]

    private static let batches: [ConformanceCase] = [
        .graph("T007.a-batch-that-fails-leaves-nothing", "W4", needs: [.savepoints]) { stack, check in
            try stack.write { transaction in
                for number in 0..<3 { try transaction.create(Entry.self).number = number }
                try add(transaction, "taken")
            }
            try stack.write { transaction in
                check.throwing(.uniqueConstraintViolated, "insertAll") {
                    _ = try transaction.insertAll(Into<Person>(), sources: ["x", "taken"]) { $0.email = $1 }
                }
                check.throwing(.uniqueConstraintViolated, "updateAll") {
                    _ = try transaction.insertAll(Into<Person>(), sources: ["y"]) { $0.email = $1 }
                    _ = try transaction.updateAll(From<Person>(), .set(\.email, to: "z"))
                }
                check.throwing(.divisionByZero, "updateAll by zero") {
                    _ = try transaction.updateAll(From<Entry>(), .set(\.number, to: \.number / 0))
                }
                do {
                    _ = try transaction.upsertAll(Into<Person>(), on: \.email, sources: ["u", "v"]) { person, email in
                        if email == "v" { throw ImportRefused() }
                        person.email = email
                    }
                    check.isTrue(false, "upsertAll rethrows the error of its closure")
                } catch { check.isTrue(error is ImportRefused, "upsertAll rethrows the error of its closure") }
                check.equal(try transaction.fetchCount(From<Person>()), 2, "people in the transaction")
            }
            check.equal(try emails(stack), ["taken", "y"], "committed values")
            check.equal(try stack.fetchAll(From<Entry>().orderBy(.ascending(\.number))).map(\.number), [0, 1, 2], "numbers")
        }
    ]

    private static let whole: [ConformanceCase] = [
        .pairs("T020.a-restart-that-the-closure-swallows", "X2", "People", "Rest") { pair, check in
            try pair.needsCommonCommits()
            try pair.stack.add("Ann")
            // The stores in either order of the stack: a store that is used later is opened by repeating the closure.
            var attempts = 0
            try pair.stack.write { transaction in
                attempts += 1
                try transaction.create(Note.self).text = "note"
                let ann = try? person("Ann", in: transaction)
                if let ann { ann.age += 1 } else { try? transaction.create(Person.self).name = "No one" }
            }
            try pair.stack.write { transaction in
                attempts += 1
                try person("Ann", in: transaction).age += 1
                let isThere = (try? transaction.fetchCount(From<Note>())) == 1
                try? transaction.create(Note.self).text = isThere ? "another" : "none was seen"
            }
            check.equal(try pair.stack.names(), ["Ann"], "people")
            check.equal(try pair.stack.fetchAll(From<Person>()).map(\.age), [2], "age")
            check.equal(try pair.stack.fetchAll(From<Note>().orderBy(.ascending(\.text))).map(\.text), ["another", "note"], "notes")
            // Stores that commit together for the first time repeat the closure once more.
            check.isTrue(attempts > 2, "one of the two started again")
        },
        .graph("T020.a-conflict-that-the-closure-swallows", "W7", needs: [.concurrentWriters]) { stack, check in
            try stack.add("Ann")
            for throwsAnother in [false, true] {
                var attempts = 0
                try stack.write { transaction in
                    attempts += 1
                    let ann = try person("Ann", in: transaction)
                    if attempts == 1 { Threads.run(1) { _ in try? stack.write { try person("Ann", in: $0).age += 1 } } }
                    ann.age += 10
                    do { _ = try transaction.fetchCount(From<Person>()) } catch { if throwsAnother { throw ImportRefused() } }
                }
                check.equal(attempts, 2, "attempts of a closure that throws another error: \(throwsAnother)")
            }
            check.equal(try stack.fetchAll(From<Person>()).map(\.age), [22], "age")
        },
        .pairs("T020.a-read-that-the-closure-swallows", "X2", "People", "Rest") { pair, check in
            try pair.needsCommonCommits()
            try pair.stack.write { transaction in
                try transaction.create(Person.self).name = "Ann"
                try transaction.create(Note.self).text = "old"
            }
            // In either order, the first store is opened for writing and the other one is only read.
            try pair.stack.write { transaction in
                try transaction.fetchOne(From<Note>())?.text = "new"
                let count = try? transaction.fetchCount(From<Person>())
                check.isTrue(count == 1 || transaction.attempt == 1, "people")
                try transaction.fetchOne(From<Note>())?.text = count == 1 ? "one is there" : "none was seen"
            }
            try pair.stack.write { transaction in
                try person("Ann", in: transaction).age = 1
                let count = try? transaction.fetchCount(From<Note>())
                try person("Ann", in: transaction).age = count == 1 ? 2 : -1
            }
            check.equal(try pair.stack.fetchAll(From<Note>()).map(\.text), ["one is there"], "notes")
            check.equal(try pair.stack.fetchAll(From<Person>()).map(\.age), [2], "age")
        },
        .graph("T020.a-doomed-transaction-commits-nothing", "W7") { stack, check in
            check.throwing(.cancelled, "cancelled inside a part that is caught") {
                try stack.write { transaction in
                    try transaction.create(Person.self).name = "Ann"
                    try? transaction.nested { () throws -> Void in try transaction.cancel() }
                    try? transaction.create(Person.self).name = "Bob"
                    _ = try? transaction.fetchCount(From<Person>())
                }
            }
            check.equal(try stack.fetchCount(From<Person>()), 0, "people")
        },
        .pairs("L010.reads-are-validated-over-two-stores", "W8", "People", "Rest") { pair, check in
            try pair.needsCommonCommits()
            try pair.stack.add("Ann")
            try pair.stack.write { try $0.create(Note.self).text = "old" }
            let work = pair.stack.beginUnsafe()
            let note = try work.fetchOne(From<Note>())
            try person("Ann", in: work).age = 1
            check.equal(note?.text, "old", "values read")
            try work.commit(validatesReads: true)
            check.equal(try pair.stack.fetchAll(From<Person>()).map(\.age), [1], "age")
            try pair.stack.write { try $0.fetchOne(From<Note>())?.text = "new" }
            try person("Ann", in: work).age = 2
            check.throwing(.staleObject, "a value read has changed") { try work.commit(validatesReads: true) }
            withExtendedLifetime(note) {}
            // The reverse order: one of the two opens its stores in an order other than that of its first accesses.
            let other = pair.stack.beginUnsafe(), ann = try person("Ann", in: other), changed = try other.fetchOne(From<Note>())
            changed?.text = "newer"
            try other.commit(validatesReads: true)
            check.equal(try pair.stack.fetchAll(From<Note>()).map(\.text), ["newer"], "text")
            try pair.stack.write { try person("Ann", in: $0).age = 3 }
            changed?.text = "newest"
            check.throwing(.staleObject, "a value read in the other store has changed") { try other.commit(validatesReads: true) }
            withExtendedLifetime(ann) {}
        },
    ]

    private static let policies: [ConformanceCase] = [
        .graph("L011.a-deletion-that-is-given-up-gives-references-back", "W8") { stack, check in
            try stack.write { transaction in
                let ann = try transaction.create(Person.self), bob = try transaction.create(Person.self)
                (ann.name, bob.name) = ("Ann", "Bob")
                ann.partner = bob
                ann.clubs = [try transaction.create(Club.self)]
                ann.songs = [try transaction.create(Song.self)]
                let note = try transaction.create(Note.self)
                note.text = "by Ann"
            }
            let work = stack.beginUnsafe()
            let bob = try person("Bob", in: work)
            bob.age = 5
            try work.delete(try person("Ann", in: work))
            check.isTrue(bob.partner == nil, "the reference is cleared")
            try stack.write { try person("Ann", in: $0).age = 9 }
            try work.commit(merging: .theirs)
            check.equal(bob.partner?.name, "Ann", "in the transaction")
            let ann = try stack.write { transaction in
                let ann = try person("Ann", in: transaction)
                return [ann.age, ann.clubs.count, ann.songs.count, ann.partner?.age ?? -1]
            }
            check.equal(ann, [9, 1, 1, 5], "stored values")
            check.equal(try stack.fetchOne(From<Person>().where(\.name == "Bob"))?.partner?.name, "Ann", "the other side")
            check.equal(try stack.fetchOne(From<Club>())?.members.count, 1, "members")
        }
    ]

    private static let parts: [ConformanceCase] = [
        .graph("T005.a-deletion-in-a-part-around-another", "W5", needs: [.savepoints]) { stack, check in
            try stack.add("Ann")
            try stack.write { transaction in
                let ann = try person("Ann", in: transaction)
                try? transaction.nested {
                    try transaction.delete(ann)
                    try? transaction.nested { throw ImportRefused() }
                    check.isTrue(ann.isDeleted, "deleted in the part around")
                    throw ImportRefused()
                }
                check.isTrue(!ann.isDeleted, "exists again")
                ann.age = 3
                check.isTrue(try transaction.fetchOne(From<Person>()) === ann, "the same instance")
            }
            check.equal(try stack.fetchAll(From<Person>()).map(\.age), [3], "age")
        },
        .graph("T005.keys-of-parts-that-failed", "R1", needs: [.savepoints]) { stack, check in
            try stack.write { transaction in
                func three() throws { for _ in 0..<3 { try transaction.create(Person.self).name = "x" } }
                for _ in 0..<3 {
                    try? transaction.nested {
                        try three()
                        throw ImportRefused()
                    }
                }
                for _ in 0..<3 { try three() }
            }
            check.equal(try stack.fetchCount(From<Person>()), 9, "people")
        },
        .graph("T005.random-parts", "W5", needs: [.savepoints]) { stack, check in
            for seed in UInt64(1)...12 { try RandomParts(stack, seed, check).run() }
        },
    ]

    private static let numbers: [ConformanceCase] = [
        .graph("R050.a-rank-at-the-end-of-the-numbers", "R5") { stack, check in
            let (squad, first) = try stack.write { transaction in
                let squad = try transaction.create(Squad.self), player = try transaction.create(Player.self)
                (squad.name, player.number, player.squad) = ("Ab", 1, squad)
                return (squad.objectID, player.objectID)
            }
            let entity = stack.schema.index(of: "Squad")
            guard let link = stack.schema.links.firstIndex(where: { $0.owner == entity }) else { return check.isTrue(false, "the link") }
            for rank in [Int64.max, .min] {
                let writer = try stack.storages[0].beginWrite(WriteOptions())
                defer { writer.end() }
                let pair = LinkPair(owner: squad.key.key, rank: rank, member: first.key.key)
                try writer.apply(ChangeSet(links: [LinkChanges(link: link, added: [pair])]))
                _ = try writer.commit(CommitRecord())
                try stack.write { transaction in
                    let player = try transaction.create(Player.self)
                    (player.number, player.squad) = (2, try transaction.edit(squad))
                }
                try stack.write { transaction in
                    guard let squad = try transaction.edit(squad) else { return }
                    check.equal(squad.players.map(\.number), [1, 2], "the order with \(rank)")
                    squad.players.reverse()
                }
                try stack.write { transaction in
                    guard let squad = try transaction.edit(squad) else { return }
                    check.equal(squad.players.map(\.number), [2, 1], "the new order with \(rank)")
                    try transaction.delete(squad.players[0])
                }
            }
        }
    ]

    private static let assignments: [ConformanceCase] = [
        .graph("T025.assigning-outside-a-transaction", "E6") { stack, check in
            try stack.write { transaction in
                let ann = try transaction.create(Person.self)
                ann.name = "Ann"
                let club = try transaction.create(Club.self)
                ann.clubs = [club]
            }
            let ann = try stack.fetchAll(From<Person>())[0]
            func assign() {
                ann.name = "Bob"
                ann.parent = ann
                ann.clubs = []
            }
            assign()
            check.isTrue(ann.name == "Ann" && ann.parent == nil && ann.clubs.count == 1 && !ann.hasChanges, "nothing is assigned")
            var kept: Person?
            _ = try? stack.write { transaction in
                kept = try transaction.create(Person.self)
                kept?.name = "Cid"
                throw ImportRefused()
            }
            kept?.name = "Dan"
            check.equal(kept?.name, "Cid", "after the transaction has failed")
            check.throwing(.readOnly, "in a read") { try stack.read(synchronous: { try $0.fetchAll(From<Person>())[0].name = "Bob" }) }
            check.throwing(.readOnly, "of a deleted object") {
                try stack.write { transaction in
                    let ann = try person("Ann", in: transaction)
                    ann.age = 1
                    try transaction.delete(ann)
                    ann.age = 2
                    check.equal(ann.age, 1, "its former values")
                }
            }
            check.equal(try stack.names(), ["Ann"], "stored values")
        }
    ]

    private static func add(_ stack: DataStack, _ email: String) throws { try stack.write { try add($0, email) } }

    private static func add(_ transaction: WriteTransaction, _ email: String) throws { try transaction.create(Person.self).email = email }

    private static func emails(_ stack: DataStack) throws -> [String] {
        try stack.fetchAll(From<Person>()).map { $0.email ?? "" }.sorted()
    }
}
