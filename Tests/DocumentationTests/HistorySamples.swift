#if Macros
import Polystore
import PolystoreMacros
import PolystoreSQLite
import PolystoreStorage
import Testing

/// The samples of "History".
@Suite(.scratch) struct HistorySamples {
    @Model final class Person: ManagedObject {
        var name: String = ""
        var age: Int = 0
        @Attribute(.preservedInHistory) var email: String?
    }

    /// A stack with Ann, who has become a year older, and without Bob, who was there.
    private func fill() throws -> (DataStack, ObjectID<Person>, ObjectID<Person>) {
        let stack = try DataStack(Person.self)
        try stack.addStorageAndWait(SQLiteStore(path: scratch("shop.db")))
        let (ann, bob) = try stack.perform(synchronous: { transaction in
            let ann = try transaction.create(Person.self), bob = try transaction.create(Person.self)
            (ann.name, ann.age, bob.name, bob.email) = ("Ann", 33, "Bob", "bob@example.com")
            return (ann.objectID, bob.objectID)
        })
        try stack.perform(author: "desk", synchronous: { try $0.edit(ann)?.age = 34 })
        try stack.perform(author: "sync", synchronous: { try $0.edit(ann)?.age = 35 })
        try stack.perform(author: "desk", synchronous: { try $0.delete(bob) })
        return (stack, ann, bob)
    }

    @Test func aStoreHasAHistory() throws {
        let (stack, _, _) = try fill()
        try stack.removeStorage(stack.storages[0])
        var token: HistoryToken?
        let store = try OpenStore(opening: SQLiteStore(path: scratch("shop.db")), OpenRequest(schema: nil))
        let reader = try store.beginRead()
        defer { reader.end() }
        for entry in try reader.history(since: token, limit: 1000) {
            for change in entry.changes { print(entry.author, change.kind) }
            token = entry.token
        }
        #expect(printed.count == 5 && printed.last == "desk delete")
        #expect(try reader.history(since: token, limit: 1000).isEmpty)
    }

    @Test func aHistoryIsPurged() throws {
        let (stack, _, _) = try fill()
        let token = try stack.history(HistoryRequest(limit: 2)).transactions[1].token
        try stack.removeStorage(stack.storages[0])
        let store = try OpenStore(opening: SQLiteStore(path: scratch("shop.db")), OpenRequest(schema: nil))
        let writer = try store.beginWrite()
        defer { writer.end() }
        try writer.purgeHistory(through: token)
        _ = try writer.commit(CommitRecord())
        let reader = try store.beginRead()
        defer { reader.end() }
        #expect(try reader.history(since: nil, limit: 10).map(\.author) == ["sync", "desk"])
    }

    @Test func aStackReadsItsHistory() throws {
        let (stack, id, gone) = try fill()
        let token = try stack.history(HistoryRequest(limit: 1)).transactions[0].token
        var request = HistoryRequest(after: token, excluding: ["sync"]).of(Person.self)
        while true {
            let page = try stack.history(request)
            for transaction in page.transactions {
                print(transaction.author)  // desk
                print(transaction.changes.updatedObjectIDs(Person.self).count)  // with objects of classes below Person
                print(transaction.changes.changedKeys(of: id))  // ["age"]
                print(transaction.changes.tombstone(of: gone) ?? [:])  // ["email": …], what the model preserves of a deleted object
            }
            request.after = page.next
            if page.isLast { break }
        }
        #expect(printed.prefix(4) == ["desk", "1", #"["age"]"#, "[:]"])
        #expect(printed.count == 8 && printed[4...6] == ["desk", "0", "[]"] && printed[7].contains("bob@example.com"))
    }

    @Test func aConsumerContinues() throws {
        let (stack, _, _) = try fill()
        let index = try stack.historyConsumer("search-index")
        try index.register(from: .beginning)
        let page = try index.next()
        try index.acknowledge(page.next)
        #expect(page.transactions.count == 4)
        #expect(try index.next().transactions.isEmpty)
        #expect(try stack.historyConsumers().map(\.name) == ["search-index"])
    }
}
#endif
