import Foundation
import Polystore
import PolystoreInMemory
import PolystoreSQLite
import TestStores
import Testing

/// Reading the history of a stack's stores.
@Suite struct StackHistoryTests {
    @Test(arguments: TestStore.all) func transactionsReportChangesByClass(_ store: TestStore) throws {
        let stack = try store.stack()
        let (ann, rex) = try stack.perform(
            author: "first",
            synchronous: { transaction in
                let ann = try transaction.create(Person.self), rex = try transaction.create(Dog.self)
                (ann.name, rex.name) = ("Ann", "Rex")
                return (ann.objectID, rex.objectID)
            })
        try stack.perform(
            author: "second",
            synchronous: { transaction in
                let person = try #require(try transaction.fetchExisting(ann))
                person.age = 7
                person.email = "ann@example.org"
                try transaction.fetchExisting(rex)?.owner = person
            })
        try stack.perform(
            author: "third",
            synchronous: { transaction in
                try transaction.fetchExisting(rex).map { _ = try transaction.delete([$0]) }
            })
        let history = try HistoryFixture.history(stack, count: 3)
        try #require(history.map(\.author) == ["first", "second", "third"])
        let animal = ObjectID<Animal>(rex.key)
        #expect(history[0].changes.insertedObjectIDs(Person.self) == [ann])
        #expect(history[0].changes.insertedObjectIDs(Dog.self) == [rex])
        // A class stands for those below it.
        #expect(history[0].changes.insertedObjectIDs(Animal.self) == [animal])
        #expect(history[0].changes.insertedObjectIDs().count == 2)
        #expect(history[0].changes.updatedObjectIDs().isEmpty && history[0].changes.deletedObjectIDs().isEmpty)
        #expect(history[1].changes.updatedObjectIDs(Person.self) == [ann])
        #expect(history[1].changes.changedKeys(of: ann) == ["age", "email"])
        #expect(history[1].changes.changedKeys(of: animal) == ["owner"])
        #expect(history[1].changes.entities == ["Person", "Dog"])
        #expect(history[2].changes.deletedObjectIDs(Animal.self) == [animal])
        #expect(history[2].changes.tombstone(of: rex) == [:] && history[2].changes.tombstone(of: ann) == nil)
        #expect(history.allSatisfy { abs($0.time.timeIntervalSinceNow) < 60 && $0.store == $0.token.store })
        #expect(history[0].token.position < history[1].token.position)
    }

    @Test(arguments: TestStore.all) func pairsAndTombstonesUsePropertyNames(_ store: TestStore) throws {
        let stack = try HistoryFixture.stack(store)
        let (a, b) = try stack.perform(synchronous: { transaction in
            let a = try HistoryFixture.part("a", in: transaction), b = try HistoryFixture.part("b", "Wheel", in: transaction)
            return (a.objectID, b.objectID)
        })
        try stack.perform(synchronous: { transaction in
            let part = try #require(try transaction.fetchExisting(a)), wheel = try #require(try transaction.fetchExisting(b))
            try part.setObjects([wheel], for: "fits")
        })
        try stack.perform(synchronous: { transaction in try transaction.fetchExisting(b).map { _ = try transaction.delete([$0]) } })
        let history = try HistoryFixture.history(stack, count: 3)
        try #require(history.count == 3)
        let linked = Array(history[1].changes)
        #expect(linked.contains { $0.kind == .relinked("fits") })
        #expect(linked.allSatisfy { [a.key, b.key].contains($0.key) })
        #expect(history[1].changes.insertedObjectIDs().isEmpty)
        #expect(!history[1].changes.updatedObjectIDs(DynamicObject.self).isEmpty)
        #expect(history[2].changes.tombstone(of: b) == ["code": .string("b")])
        let deleted = try #require(Array(history[2].changes).first { $0.kind == .deleted(["code": .string("b")]) })
        #expect(deleted.entity == "Wheel" && deleted.key == b.key)
        #expect(deleted.key.root == "Part")
    }

    @Test func aHistoryThatIsNotRecordedIsEmpty() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("polystore_\(UUID().uuidString.lowercased())").path
        func commit(_ author: TransactionAuthor, recorded: Bool = true) throws -> DataStack {
            let stack = try DataStack(schema: HistoryFixture.schema())
            try stack.addStorageAndWait(SQLiteStore(path: path, recordsHistory: recorded))
            try stack.perform(author: author, synchronous: { try HistoryFixture.order(1, in: $0) })
            return stack
        }
        let stack = try commit("a"), token = try stack.currentHistoryToken()
        _ = try commit("b", recorded: false)
        let page = try stack.history()
        #expect(page.transactions.isEmpty && page.isLast)
        for old in [token, page.next] {
            #expect(HistoryFixture.code { _ = try stack.history(HistoryRequest(after: old)) } == .tokenExpired)
        }
        #expect(try stack.purgeHistory(.olderThan(.zero)).removed == 0)
        #expect(try stack.purgeHistory(.through(token)).removed == 0)
        _ = try commit("c")
        #expect(try stack.history().transactions.map(\.author) == ["c"])
        #expect(HistoryFixture.code { _ = try stack.history(HistoryRequest(after: page.next)) } == .tokenExpired)
    }

    @Test(arguments: TestStore.all) func pagesGoOnAlsoWhereNothingWasFound(_ store: TestStore) throws {
        let stack = try HistoryFixture.stack(store)
        for number in 0..<10 {
            try stack.perform(
                author: number % 2 == 0 ? "even" : "odd",
                synchronous: { transaction in
                    if number < 5 {
                        try HistoryFixture.order(Int64(number), in: transaction)
                    } else {
                        _ = try HistoryFixture.part("p", "Wheel", in: transaction)
                    }
                })
        }
        let all = try HistoryFixture.history(stack, count: 10)
        try #require(all.count == 10)
        var request = HistoryRequest(limit: 4), found: [HistoryToken] = [], pages = 0
        while true {
            let page = try stack.history(request)
            found += page.transactions.map(\.token)
            request.after = page.next
            pages += 1
            if page.isLast { break }
        }
        #expect(found == all.map(\.token) && pages >= 3)
        func tokens(_ request: HistoryRequest) throws -> [HistoryToken] { try stack.history(request).transactions.map(\.token) }
        #expect(try tokens(HistoryRequest(authors: ["odd"])) == stride(from: 1, to: 10, by: 2).map { all[$0].token })
        #expect(try tokens(HistoryRequest(excluding: ["odd"], limit: 2)) == [all[0].token, all[2].token])
        #expect(try tokens(HistoryRequest(entities: ["Order"])) == all.prefix(5).map(\.token))
        // What is asked of an entity is asked of those below it.
        #expect(try tokens(HistoryRequest(entities: ["Part"])) == all.suffix(5).map(\.token))
        #expect(try tokens(HistoryRequest(after: all[6].token)) == all.suffix(3).map(\.token))
        #expect(try tokens(HistoryRequest(until: all[0].time)).isEmpty)
        #expect(try tokens(HistoryRequest(from: all[0].time)).count == 10)
        let nothing = try stack.history(HistoryRequest(authors: ["nobody"]))
        #expect(nothing.transactions.isEmpty && nothing.isLast && nothing.next == all[9].token)
        #expect(try stack.currentHistoryToken() == all[9].token)
        let error = HistoryFixture.code { _ = try stack.history(HistoryRequest(entities: ["Ordr"])) }
        #expect(error == .notFound)
    }

    @Test func aStoreIsNamedWhereThereAreSeveral() throws {
        let stack = try DataStack(schema: HistoryFixture.schema())
        #expect(HistoryFixture.code { _ = try stack.history() } == .notFound)
        let parts = InMemoryStore(configuration: "Parts"), orders = InMemoryStore(configuration: "Orders")
        try stack.addStorageAndWait(parts)
        #expect(try stack.history().transactions.isEmpty)
        try stack.addStorageAndWait(orders)
        #expect(HistoryFixture.code { _ = try stack.history() } == .notFound)
        try stack.perform(
            author: "both",
            synchronous: { transaction in
                _ = try HistoryFixture.part("a", in: transaction)
                try HistoryFixture.order(1, in: transaction)
            })
        let one = try stack.history(of: .configuration("Parts")).transactions, other = try stack.history(of: .storage(orders)).transactions
        #expect(one.map(\.author) == ["both"] && other.map(\.author) == ["both"])
        #expect(one[0].changes.entities == ["Part"] && other[0].changes.entities == ["Order"])
        #expect(try stack.history(of: .identity(one[0].store)).transactions.map(\.token) == one.map(\.token))
        do {
            _ = try stack.history(of: .configuration("Part"))
            Issue.record("there is no such configuration")
        } catch {
            #expect(error.code == .notFound && error.message.contains("did you mean \"Parts\"?"))
        }
        #expect(HistoryFixture.code { _ = try stack.history(of: .configuration(nil)) } == .notFound)
        #expect(HistoryFixture.code { _ = try stack.history(of: .storage(InMemoryStore())) } == .notFound)
        // A token is of one store.
        #expect(HistoryFixture.code { _ = try stack.history(HistoryRequest(after: one[0].token), of: .storage(orders)) } == .tokenExpired)
    }

    @Test(arguments: HistoryFixture.shared) func tokensSurviveARestart(_ store: TestStore) throws {
        let stacks = try HistoryFixture.stacks(store, 2)
        try stacks[0].perform(synchronous: { try HistoryFixture.order(1, in: $0) })
        let first = try #require(try HistoryFixture.history(stacks[0], count: 1).first).token
        let coded = try JSONDecoder().decode(HistoryToken.self, from: JSONEncoder().encode(first))
        #expect(coded == first && HistoryToken(first.description) == first)
        for text in ["", "1", "x:1", "\(first.store)", "\(first.store):1:2", "\(first.store):x"] { #expect(HistoryToken(text) == nil) }
        try stacks[0].perform(synchronous: { try HistoryFixture.order(2, in: $0) })
        for storage in stacks[0].storages { try stacks[0].removeStorage(storage) }
        #expect(try HistoryFixture.history(stacks[1], HistoryRequest(after: coded), count: 1).count == 1)
    }
}
