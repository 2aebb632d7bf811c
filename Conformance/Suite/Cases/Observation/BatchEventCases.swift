internal import Foundation
internal import Polystore
internal import PolystoreStorage

/// Cases of group N: the effects of batches, cascades and raw SQL on observers, and stores that cannot report the changes of a commit.
enum BatchEventCases {
    static let all: [ConformanceCase] = batches + unnamed

    private static let byAge = From<Person>().orderBy(.ascending(\.age))

    private static let batches: [ConformanceCase] = [
        .graph("N016.batches-are-reported-object-by-object", "H6") { stack, check in
            let young = byAge.where(\.age < 10)
            let view = stack.makeViewContext(), list = ListRecorder(try view.monitorList(young))
            let published = PublisherRecorder(try stack.publishList(young))
            func expect(_ calls: [String], _ what: String) throws {
                while try view.merge() {}
                check.equal(list.take(), calls.isEmpty ? [] : ["will"] + calls + ["did"], what)
                check.isTrue(published.waits { $0.shown == list.shown }, "\(what): published")
            }
            try stack.write { try $0.insertAll(Into<Person>(), sources: [1, 2, 20, 3]) { ($0.age, $0.email) = ($1, "\($1)") } }
            try expect(["insert 0.0", "insert 0.1", "insert 0.2"], "insertAll")
            try stack.write { try $0.updateAll(From<Person>().where(\.age > 2), .set(\.age, to: \.age + 6)) }
            try expect(["update 0.2"], "updateAll")
            try stack.write { try $0.updateAll(From<Person>(), .set(\.age, to: \.age + 1)) }
            try expect(["delete 0.2", "update 0.0", "update 0.1"], "updateAll that takes one out")
            try stack.write { transaction in
                try transaction.upsertAll(Into<Person>(), on: \.email, sources: ["1", "20", "new"]) { ($0.email, $0.age) = ($1, 5) }
            }
            try expect(["insert 0.2", "insert 0.3", "move 0.0 0.1"], "upsertAll")
            try stack.write { try $0.deleteAll(From<Person>().where(\.age == 5)) }
            while try view.merge() {}
            check.equal(list.shown.keys.count, 1, "deleteAll")
            check.isTrue(published.waits { $0.shown == list.shown }, "deleteAll, published")
            check.equal(list.problems + published.delivered.problems, [], "problems")
        },
        .graph("N016.cascades", "H6") { stack, check in
            try EventCases.add(["Ann": 1, "Ben": 2, "Cid": 3], to: stack)
            try stack.write { transaction in
                try person("Ben", in: transaction).parent = person("Ann", in: transaction)
                try person("Cid", in: transaction).parent = person("Ben", in: transaction)
                for name in ["Ann", "Cid"] {
                    let dog = try transaction.create(Dog.self)
                    (dog.name, dog.owner) = (name, try person(name, in: transaction))
                }
                let chess = try transaction.create(Club.self)
                (chess.name, chess.members) = ("Chess", [try person("Cid", in: transaction)])
            }
            let view = stack.makeViewContext()
            let people = ListRecorder(try view.monitorList(byAge)), pets = ListRecorder(try view.monitorList(From<Pet>()))
            let object = ObjectRecorder(try view.monitorObject(person("Cid", in: view)))
            let members = PublisherRecorder(try stack.publishList(From<Club>().where((\Club.members).count > 0)))
            try stack.write { try EventCases.remove("Ann", $0) }
            try view.merge()
            check.equal(people.take(), ["will", "delete 0.0", "delete 0.1", "delete 0.2", "did"], "descendants")
            check.equal(pets.take(), ["will", "delete 0.0", "delete 0.1", "did"], "pets")
            check.equal(object.take(), ["deleted 3"], "one of them")
            check.isTrue(members.waits { $0.updates > 0 && $0.shown.keys.isEmpty }, "members of a club")
        },
        .graph("N016.what-a-deletion-takes-away-from-others", "H6") { stack, check in
            try EventCases.add(["Ann": 1, "Ben": 2], to: stack)
            try stack.write { try person("Ann", in: $0).partner = person("Ben", in: $0) }
            let view = stack.makeViewContext(), object = ObjectRecorder(try view.monitorObject(person("Ann", in: view)))
            let single = ListRecorder(try view.monitorList(byAge.where(\.partner == nil)))
            try stack.write { try $0.deleteAll(From<Person>().where(\.name == "Ben")) }
            try view.merge()
            check.equal(object.take(), ["will 1", "did 1 partner"], "the partner is deleted")
            check.equal(single.take(), ["will", "insert 0.0", "did"], "a list of those without")
        },
        .graph("N016.statements-in-sql", "H6", needs: SQLCases.sql) { stack, check in
            try EventCases.add(["Ann": 1, "Ben": 2], to: stack)
            let view = stack.makeViewContext(), monitor = try view.monitorList(byAge), list = ListRecorder(monitor)
            let published = PublisherRecorder(try stack.publishList(byAge))
            let count = try stack.publishValue(of: Person.self) { try $0.fetchCount(From<Person>().where(\.age > 5)) }
            let ann = try person("Ann", in: view)
            try stack.write { transaction in
                try transaction.execute(
                    """
                    UPDATE \(table: Person.self) SET \(column: \Person.age) = \(9), "_version" = "_version" + 1 \
                    WHERE \(column: \Person.name) = \("Ann")
                    """)
            }
            while try view.merge() {}
            check.equal(list.take(), ["willRefetch", "didRefetch"], "an update")
            check.equal(try monitor.objectsInAllSections().map(\.name), ["Ben", "Ann"], "names")
            check.equal(ann.age, 9, "an object that is held")
            check.isTrue(published.waits { $0.shown == list.shown }, "published")
            check.isTrue(Waiting.until { count.value == 1 }, "a value")
            try stack.write { try $0.execute("DELETE FROM \(table: Person.self) WHERE \(column: \Person.name) = \("Ben")") }
            while try view.merge() {}
            check.equal(list.shown.keys.count, 1, "a deletion")
            check.isTrue(published.waits { $0.shown == list.shown }, "a deletion, published")
            // The list continues from there, change by change.
            _ = list.take()
            try EventCases.add(["Cid": 0], to: stack)
            while try view.merge() {}
            check.equal(list.take(), ["will", "insert 0.0", "did"], "after that")
            check.equal(list.problems + published.delivered.problems, [], "problems")
        },
    ]

    private static let unnamed: [ConformanceCase] = [
        ConformanceCase("N016.a-store-that-does-not-say-what-changed", clause: "H6") { harness, check in
            let place = try harness.place(), stack = try Graph.stack()
            defer { place.remove() }
            let store = SilentStore(try place.store(nil))
            try stack.addStorageAndWait(store)
            defer { try? store.close() }
            try EventCases.add(["Ann": 1, "Ben": 2, "Cid": 3], to: stack)
            let view = stack.makeViewContext(), monitor = try view.monitorList(byAge), list = ListRecorder(monitor)
            let object = ObjectRecorder(try view.monitorObject(person("Ann", in: view)))
            let published = PublisherRecorder(try stack.publishList(byAge))
            let count = try stack.publishValue(of: Person.self) { try $0.fetchCount(From<Person>()) }
            try stack.write { transaction in
                try person("Ann", in: transaction).age = 9
                try EventCases.remove("Ben", transaction)
                try EventCases.add("Dan", 4, transaction)
            }
            while try view.merge() {}
            check.equal(try monitor.objectsInAllSections().map(\.name), ["Cid", "Dan", "Ann"], "names")
            check.equal([list.events, list.refetches], [1, 1], "fetched again, once")
            check.equal(object.take(), ["will 1", "did 9 age"], "one object")
            check.isTrue(published.waits { $0.shown == list.shown && !$0.shown.keys.isEmpty }, "published")
            try EventCases.add(["Eve": 5], to: stack)
            check.isTrue(Waiting.until { count.value == 4 }, "a value")
        }
    ]
}
