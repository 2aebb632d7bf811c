#if Macros
import Foundation
import Polystore
import PolystoreCatalog
import PolystoreInMemory
import PolystoreMacros
import Testing

/// The samples of the guide for users of Fluent.
enum FromFluent {
    enum Status: String, AttributeValue, CaseIterable, Codable { case open, paid, shipped }

    @Model final class Customer: ManagedObject {
        @Attribute(.unique) var id: UUID = UUID()
        @Attribute(.unique, .pattern(".+@.+")) var email: String
        @Relationship(inverse: \Order.customer, deleteRule: .deny) var orders: Set<Order>
    }

    @Model final class Order: ManagedObject, SaveAwareObject {
        @Attribute(.unique) var id: UUID = UUID()
        var status: Status = .open
        var total: Decimal = 0
        var created: Date = .now
        var updated: Date?
        @Relationship(required: true) var customer: Customer?
        @Relationship(inverse: \Tag.orders) var tags: Set<Tag>

        func willSave() { updated = .now }
    }

    @Model(unique: [["order", "product"]])
    final class Item: ManagedObject {
        var count: Int = 1
        @Relationship(required: true) var order: Order?
        @Relationship(required: true) var product: Product?
    }

    @Model final class Product: ManagedObject {
        @Attribute(.unique) var name: String
    }

    @Model final class Tag: ManagedObject {
        @Attribute(.unique) var name: String
        @Relationship var orders: Set<Order>
    }
}

extension FromFluent {
    /// What a client sends.
    struct NewOrder: Decodable, Sendable {
        var email: String
        var total: Decimal
        var tags: [String]
    }

    /// What a client gets.
    struct OrderAnswer: Encodable, Sendable {
        var id: UUID
        var total: Decimal
        var email: String?
        var tags: [String]

        init(_ order: Order) {
            (id, total, email) = (order.id, order.total, order.customer?.email)
            tags = order.tags.map(\.name).sorted()
        }
    }

    @Suite struct Samples {
        @Test func aPivotHasAConstraint() throws {
            let stack = try DataStack(Customer.self, Order.self, Tag.self, Item.self, Product.self)
            #expect(stack.schema.entities.flatMap(\.uniqueConstraints).contains(UniqueConstraint(["order", "product"])))
        }

        func create(_ content: NewOrder, in stack: DataStack) async throws -> OrderAnswer {
            try await stack.perform(author: "api") { transaction in
                let order = try transaction.create(Order.self)
                order.total = content.total
                order.customer = try transaction.fetchOrCreate(Customer.self, \.email == content.email)
                for name in content.tags {
                    order.tags.insert(try transaction.fetchOrCreate(Tag.self, \.name == name))
                }
                return OrderAnswer(order)
            }
        }

        func openOrders(above total: Decimal, in stack: DataStack) async throws -> [OrderAnswer] {
            try await stack.read { source in
                let orders = try source.fetchAll(
                    From<Order>().where(\.status == .open && \.total > total)
                        .orderBy(.descending(\.total)).prefetch(\.customer).prefetch(\.tags))
                return orders.map { OrderAnswer($0) }
            }
        }

        @Test func aServiceChoosesItsStore() async throws {
            let url = ProcessInfo.processInfo.environment["SHOP_URL"] ?? "memory:"
            let stack = try DataStack(Customer.self, Order.self, Tag.self)
            try stack.addStorageAndWait(StoreCatalog.standard.store(at: StoreURL(url)))
            #expect(try stack.fetchCount(From<Order>()) == 0)
        }

        @Test func ordersAreCreatedAndRead() async throws {
            let stack = try await filled()
            let orders = try await openOrders(above: 100, in: stack)
            #expect(orders.map(\.total) == [250, 120] && orders.map(\.email) == ["ben@example.com", "ann@example.com"])
            #expect(orders.allSatisfy { $0.tags == ["new", "web"] })
            #expect(try stack.fetchCount(From<Customer>()) == 2 && stack.fetchCount(From<Tag>()) == 2)
            #expect(try stack.fetchCount(From<Order>().where(\.updated == nil)) == 0)
        }

        @Test func pagesFollowEachOther() async throws {
            let stack = try await filled()
            let request = From<Order>().orderBy(.descending(\.created)).limit(2)
            let first = try stack.fetchPage(request)
            let token = first.next?.description
            let second = try stack.fetchPage(request, after: token.map { PageCursor($0) })
            #expect(first.objects.count == 2 && second.objects.count == 1)
        }

        @Test func rowsAreChangedAndCounted() async throws {
            let stack = try await filled()
            let changed = try await stack.perform { transaction in
                try transaction.updateAll(
                    From<Order>().where(\.customer?.email == "ann@example.com"),
                    .set(\.status, to: .paid), .set(\.total, to: \.total * 2))
            }
            let totals = try stack.queryAttributes(
                From<Order>().select(.attribute(\.customer?.email, as: "email"), .sum(\.total, as: "total"))
                    .groupBy(\.customer?.email))
            #expect(changed == 2)
            #expect(try Set(totals.map { try $0.value("total", as: Decimal.self) }) == [260, 250])
        }

        @Test func errorsSayWhatFailed() async throws {
            let stack = try await filled()
            do {
                try await stack.perform { try $0.deleteAll(From<Customer>()) }
            } catch let error as StorageError {
                switch error.code {
                case .deleteDenied: print(error.details.entity ?? "", "is referenced")
                case .uniqueConstraintViolated: print(error.details.property ?? "", "is taken")
                case .validationFailed: error.details.failures.forEach { print($0.property ?? "", $0.message) }
                default: throw error
                }
            }
            #expect(try stack.fetchCount(From<Customer>()) == 2)
            await #expect {
                try await stack.perform { try $0.create(Customer.self).email = "nobody" }
            } throws: { error in
                (error as? StorageError)?.details.failures.map(\.property) == ["email"]
            }
        }

        private func filled() async throws -> DataStack {
            let stack = try DataStack(Customer.self, Order.self, Tag.self)
            try stack.addStorageAndWait(InMemoryStore())
            for (email, total) in [("ann@example.com", 10), ("ben@example.com", 250), ("ann@example.com", 120)] {
                _ = try await create(NewOrder(email: email, total: Decimal(total), tags: ["new", "web"]), in: stack)
            }
            return stack
        }
    }
}
#endif
