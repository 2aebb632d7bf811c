#if Macros
import Polystore
import PolystoreMacros
import PolystoreSQLite
import PolystoreTransfer
import Testing

/// The samples of "Performance".
@Suite(.scratch) struct PerformanceSamples {
    @Model(indexes: [Index(["isOpen", "total"])]) final class Order: ManagedObject {
        @Attribute(.unique) var number: Int = 0
        var isOpen: Bool = true
        var total: Int = 0
        @Relationship var customer: Customer?
    }

    @Model final class Customer: ManagedObject {
        var name: String = ""
        @Relationship(inverse: \Order.customer) var orders: Set<Order>
    }

    @Test func requestsReadWhatTheyNeed() async throws {
        let stack = try DataStack(Order.self, Customer.self)
        try stack.addStorageAndWait(SQLiteStore(path: scratch("shop.db")))
        try await stack.perform { transaction in
            let ann = try transaction.create(Customer.self)
            ann.name = "Ann"
            let order = try transaction.create(Order.self)
            (order.number, order.total, order.customer) = (5000, 612, ann)
        }
        let orders = try stack.fetchAll(From<Order>().where(\.isOpen == true).prefetch(\.customer))
        for order in orders { print(order.customer?.name ?? "", order.total) }
        let request = From<Order>().where(\.total > 500).orderBy(.descending(\.total)).limit(20)
        let explanation = try stack.explain(request, analyze: true)
        print(explanation.stores[0].work?.rowsRead ?? 0, "rows for", explanation.answer?.count ?? 0)
        let count = try stack.fetchCount(request.storeOnly())
        let totals = try stack.queryTuples(From<Order>().where(\.isOpen == true).tuples(\.number, \.total))
        let sum = try stack.queryValue(From<Order>().select(Int.self, .sum(\.total)))
        try await stack.perform { transaction in
            _ = try transaction.updateAll(From<Order>().where(\.total == 0), .set(\.isOpen, to: false))
            _ = try transaction.insertAll(Into<Order>(), sources: 1...1000) { order, number in order.number = number }
        }
        print(totals.count, sum ?? 0)
        #expect(printed == ["Ann 612", "1 rows for 1", "1 612"] && count == 1)
        #expect(try stack.fetchCount(From<Order>()) == 1001)
    }

    @Test func requestsAreReported() throws {
        let stack = try DataStack(Order.self, Customer.self)
        try stack.addStorageAndWait(SQLiteStore(path: scratch("shop.db")))
        stack.slowRequest = .milliseconds(100)  // a warning for each request that takes longer
        stack.logsRequests = true  // every request at level trace
        struct Slowest: StoreInstrumentation {
            func willBegin(_ kind: TransactionReport.Kind, author: String) -> (any Sendable)? { nil }
            func didEnd(_ report: TransactionReport, _ token: (any Sendable)?) {}
            func didAnswer(_ report: RequestReport) { print(report.kind, report.shape, report.rows) }
        }
        stack.instrumentation = Slowest()
        _ = try stack.fetchCount(From<Order>().where(\.total > 500))
        #expect(printed == ["count Order where total > ? 1"])
    }

    @Test func indexesAreProposed() throws {
        let path = scratch("shop.db"), stack = try DataStack(Order.self, Customer.self)
        try stack.addStorageAndWait(SQLiteStore(path: path))
        try stack.perform(synchronous: { transaction in
            for number in 0..<3_000 { try transaction.create(Order.self).number = number }
        })
        stack.recordsRequests = true
        _ = try stack.fetchAll(From<Order>().where(\.total > 500).orderBy(.ascending(\.total)))
        for statistics in stack.requestStatistics().prefix(10) { print(statistics) }
        var copies: [SQLiteStore] = []
        let advice = try stack.adviseIndexes { _ in
            let copy = SQLiteStore(path: "\(path).advice-\(copies.count)")
            copies.append(copy)
            return copy
        }
        for copy in copies { try copy.erase() }
        print(advice)
        #expect(printed.first?.hasPrefix("fetch Order where total > ? order by total: 1 request, 0 rows in ") == true)
        #expect(printed.last?.contains(":\n  Order: Index([\"total\"])\n    Order where total > ? order by total: 1 request in ") == true)
    }

    /// The numbers of the article are those of the README.
    @Test func numbersAreThoseOfTheReadme() throws {
        func rows(_ path: String) throws -> [String] {
            let lines = try Checkout.lines(path), head = try #require(lines.firstIndex(of: "| work | ours to theirs |"))
            return Array(lines[head...].prefix { $0.hasPrefix("|") })
        }
        #expect(try rows("README.md") == rows("Sources/Polystore/Polystore.docc/Performance.md"))
    }
}
#endif
