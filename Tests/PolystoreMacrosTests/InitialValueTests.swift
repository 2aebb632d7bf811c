#if Macros
import Foundation
import PolystoreMacros
import TestStores
import Testing

@Model final class Ticket: ManagedObject {
    var id: UUID = UUID()
    var created: Date = Date()
    var changed: Date = .now
    var later: Date = Date(timeIntervalSinceNow: 60)
    var dice: Int = Int.random(in: 0..<1_000_000_000)
    var price: Decimal = Decimal(5)
    var begin: Date = Date(timeIntervalSince1970: 7)
    var address: Address = Address(street: "Main")
    var tags: [String] = ["new"]
    var counts: [Int]?
}

@Model final class Memo: ManagedObject {
    var isDone = false
    var rank = -3
    var rate = -1.5
    var title = "new"
    var id = UUID()
    var made = Date.now
    var price = Decimal(5)
    private(set) var most = Int.max
}

@Model final class Guest: ManagedObject {
    var name: String
    var born: Date
    var note: String?
    @Attribute(.dynamicInitialValue) var number: Int = Guest.first
    static let first = 3
}

@Model final class Visitor: ManagedObject {
    @Attribute(.unique) var code: Int = 0
    var age: Int
    var height: Int
}

/// What attributes begin with.
@Suite struct InitialValueTests {
    private func stack(_ store: TestStore) throws -> DataStack {
        let stack = try DataStack(Ticket.self, Guest.self)
        try stack.addStorageAndWait(store.make())
        return stack
    }

    @Test func onlyConstantInitialValuesAreDeclaredAsDefaults() {
        let defaults = Ticket.declaration.attributes.filter { $0.defaultValue != nil }.map(\.name)
        #expect(defaults == ["price", "begin", "address", "tags"])
        #expect(Ticket._initialSlots == [0, 1, 2, 3, 4])
    }

    @Test func literalsAndValuesNeedNoType() throws {
        #expect(
            Memo.declaration.attributes.map(\.type)
                == [.bool, .int64, .double, .string, .uuid, .date, .decimal, .int64])
        let stack = try DataStack(Memo.self), before = Date(timeIntervalSinceNow: -1)
        try stack.addStorageAndWait(TestStore.memory.make())
        try stack.perform(synchronous: { transaction in
            try transaction.create(Memo.self).title = "changed"
            _ = try transaction.create(Memo.self)
        })
        let drafts = try stack.fetchAll(From<Memo>().where(\.rank == -3 && \.isDone == false).orderBy(.ascending(\.title)))
        #expect(drafts.map(\.title) == ["changed", "new"] && drafts.allSatisfy { $0.rate == -1.5 && $0.price == 5 && $0.most == .max })
        #expect(Set(drafts.map(\.id)).count == 2 && drafts.allSatisfy { $0.made > before })
    }

    @Test(arguments: TestStore.all) func callsAreMadeForEachObject(_ store: TestStore) throws {
        let stack = try stack(store), before = Date(timeIntervalSinceNow: -1)
        try stack.perform(synchronous: { transaction in for _ in 0..<3 { _ = try transaction.create(Ticket.self) } })
        let tickets = try stack.fetchAll(From<Ticket>())
        #expect(Set(tickets.map(\.id)).count == 3 && Set(tickets.map(\.dice)).count == 3)
        for ticket in tickets {
            #expect(ticket.created > before && ticket.created < Date(timeIntervalSinceNow: 1) && ticket.changed > before)
            #expect(ticket.later > Date() && ticket.price == 5 && ticket.begin == Date(timeIntervalSince1970: 7))
        }
    }

    @Test(arguments: TestStore.all) func listsOfValuesAreAttributes(_ store: TestStore) throws {
        let stack = try stack(store)
        try stack.perform(synchronous: { transaction in
            let ticket = try transaction.create(Ticket.self)
            #expect(ticket.tags == ["new"] && ticket.counts == nil)
            ticket.tags.append("a \"quote\", é")
            ticket.counts = [.max, .min, 0]
            _ = try transaction.create(Ticket.self)
        })
        let ticket = try #require(try stack.fetchOne(From<Ticket>().where(\.counts == [.max, .min, 0])))
        #expect(ticket.tags == ["new", "a \"quote\", é"])
        #expect(try stack.fetchCount(From<Ticket>().where(\.tags == ["new"])) == 1)
        #expect(try stack.fetchCount(From<Ticket>().where(\.counts == nil)) == 1)
        #expect(throws: StorageError.self) { try stack.fetchAll(From<Ticket>().orderBy(\.tags)) }
    }

    @Test(arguments: TestStore.all) func aRequiredAttributeWithoutDefaultMustBeAssigned(_ store: TestStore) throws {
        let stack = try stack(store)
        func failures(_ change: (Guest, WriteTransaction) throws -> Void) -> [String] {
            do {
                try stack.perform(synchronous: { try change($0.create(Guest.self), $0) })
                return []
            } catch let error as StorageError {
                return error.code == .validationFailed ? error.details.failures.compactMap(\.property) : ["\(error)"]
            } catch {
                return ["\(error)"]
            }
        }
        #expect(failures { _, _ in } == ["name", "born"])
        #expect(failures { guest, _ in guest.name = "" } == ["born"])
        #expect(
            failures { guest, transaction in
                guest.name = "Ann"
                _ = try transaction.fetchAll(From<Guest>())
                guest.note = "later"
                _ = try transaction.fetchAll(From<Guest>())
            } == ["born"])
        #expect(
            failures { guest, transaction in
                _ = try transaction.fetchAll(From<Guest>())
                try? transaction.nested {
                    guest.name = "Ann"
                    guest.born = Date()
                    _ = try transaction.fetchAll(From<Guest>())
                    throw CancellationError()
                }
            } == ["name", "born"])
        #expect(
            failures { guest, transaction in
                guest.born = Date()
                _ = try transaction.fetchAll(From<Guest>())
                guest.name = "Bob"
            } == [])
        #expect(
            failures { guest, transaction in
                try transaction.delete(guest)
                _ = try transaction.fetchOrCreate(Guest.self, \.name == "Cid" && \.born == Date(timeIntervalSince1970: 0))
            } == [])
        let refused = #expect(throws: StorageError.self) {
            try stack.perform(synchronous: { try $0.insertAll(Into<Guest>(), sources: [1, 2]) { guest, _ in guest.name = "Dan" } })
        }
        #expect(refused?.details.failures.map(\.property) == ["born", "born"])
        #expect(try stack.fetchAll(From<Guest>().orderBy(\.name)).map { "\($0.name) \($0.number)" } == ["Bob 3", "Cid 3"])
    }

    @Test(arguments: TestStore.all) func aBatchAssignsRequiredAttributes(_ store: TestStore) throws {
        let stack = try DataStack(Visitor.self)
        try stack.addStorageAndWait(store.make())
        func missing(_ code: Int, _ batch: @escaping (WriteTransaction) throws -> Void) -> [String]? {
            do {
                try stack.perform(synchronous: { transaction in
                    let visitor = try transaction.create(Visitor.self)
                    visitor.code = code
                    visitor.height = 180
                    _ = try transaction.fetchCount(From<Visitor>())
                    try batch(transaction)
                })
                return []
            } catch { return (error as? StorageError)?.details.failures.compactMap(\.property) }
        }
        func setAge(_ transaction: WriteTransaction) throws { _ = try transaction.updateAll(From<Visitor>(), .set(\.age, to: 5)) }
        #expect(missing(1, setAge) == [])
        #expect(
            missing(2) { transaction in
                _ = try transaction.upsertAll(Into<Visitor>(), on: \.code, sources: [2]) { visitor, code in
                    (visitor.code, visitor.age, visitor.height) = (code, 6, 170)
                }
            } == [])
        // The age is computed for each row above the store.
        #expect(missing(3) { _ = try $0.updateAll(From<Visitor>().where(\.code == 3), .set(\.age, to: \.height / 10)) } == [])
        #expect(missing(4) { _ = try $0.updateAll(From<Visitor>(), .set(\.height, to: 190)) } == ["age"])
        #expect(
            missing(5) { transaction in
                try? transaction.nested {
                    try setAge(transaction)
                    throw CancellationError()
                }
            } == ["age"])
        #expect(try stack.fetchAll(From<Visitor>().orderBy(\.code)).map { [$0.code, $0.age] } == [[1, 5], [2, 6], [3, 18]])
    }

    @Test func objectsAndSnapshotsAreEncoded() throws {
        let stack = try stack(TestStore.all[0])
        let id = try stack.perform(synchronous: { transaction in
            let ticket = try transaction.create(Ticket.self)
            ticket.tags = ["a", "b"]
            ticket.id = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1))
            ticket.begin = Date(timeIntervalSince1970: 0)
            return ticket.objectID
        })
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        let ticket = try #require(try stack.fetchOne(From<Ticket>().where(#Predicate { $0.price == 5 })))
        let snapshot = try #require(try stack.snapshot(of: id))
        for data in [try encoder.encode(ticket), try encoder.encode([snapshot]).dropFirst().dropLast()] {
            let json = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
            #expect(json["objectID"] as? String == id.description && json["tags"] as? [String] == ["a", "b"])
            #expect(json["id"] as? String == "00000000-0000-0000-0000-000000000001" && json["begin"] as? String == "1970-01-01T00:00:00Z")
            #expect((json["address"] as? [String: String])?["street"] == "Main" && json["counts"] is NSNull)
        }
    }
}
#endif
