#if Macros
import Polystore
import PolystoreLMDB
import PolystoreMacros
import PolystorePostgreSQL
import PolystoreSQLite
import PolystoreTransfer
import TestStores
import Testing

/// The samples of "Moving to Another Store".
@Suite(.scratch) struct MovingToAnotherStoreSamples {
    @Model final class Order: ManagedObject {
        var total: Int = 0
        @Relationship var customer: Customer?
    }

    @Model final class Customer: ManagedObject {
        var name: String = ""
        @Relationship(inverse: \Order.customer) var orders: Set<Order>
    }

    private func fill() throws -> (DataStack, SQLiteStore) {
        let stack = try DataStack(Order.self, Customer.self), file = SQLiteStore(path: scratch("shop.db"))
        try stack.addStorageAndWait(file)
        try stack.perform(synchronous: { transaction in
            for name in ["Ann", "Bob"] {
                let customer = try transaction.create(Customer.self)
                customer.name = name
                if name == "Ann" { try transaction.create(Order.self).customer = customer }
            }
        })
        return (stack, file)
    }

    @Test func aStoreIsCopiedAndCompared() throws {
        let (stack, file) = try fill()
        try stack.removeStorage(file)

        let source = try OpenStore(opening: SQLiteStore(path: scratch("shop.db")), OpenRequest(schema: nil, createIfMissing: false))
        let target = try OpenStore(opening: LMDBStore(path: scratch("shop.lmdb")), OpenRequest(schema: source.schema))
        let report = try TransferEngine().transfer(from: source, to: target)
        print(report.isVerified, report.items.map(\.name))
        #expect(printed[0].hasPrefix("true") && report.items.map(\.name).contains("Order"))
        let items = try TransferEngine().verify(source, target)
        print(items.filter { !$0.isSame }.map(\.name))
        try TransferEngine().differences(between: source, and: target) { difference in print(difference) }
        #expect(printed[1] == "[]" && printed.count == 2)
    }

    @Test func aPartIsCopied() throws {
        let (stack, file) = try fill()
        try stack.removeStorage(file)
        let source = try OpenStore(opening: SQLiteStore(path: scratch("shop.db")), OpenRequest(schema: nil))
        let target = try OpenStore(opening: SQLiteStore(path: scratch("part.db")), OpenRequest(schema: source.schema))
        var options = TransferOptions()
        options.selection.only = ["Order"]
        options.selection.followsReferences = true
        options.existing = .merge
        _ = try TransferEngine().transfer(from: source, to: target, options)
        try target.close()
        let part = try DataStack(Order.self, Customer.self)
        try part.addStorageAndWait(SQLiteStore(path: scratch("part.db")))
        #expect(try part.fetchAll(From<Customer>()).map(\.name) == ["Ann"])
    }

    @Test(.enabled(if: TestStore.server != nil, "POLYSTORE_TEST_POSTGRES names no server")) func aStackMoves() throws {
        let (stack, file) = try fill()
        let server = PostgreSQLStore(conninfo: scratch("postgresql:///shop"))
        let report = try stack.moveStorage(file, to: server, named: "postgresql:///shop")
        print("write transactions waited for", report.pause)
        #expect(try stack.fetchCount(From<Customer>()) == 2 && stack.storages.map { type(of: $0).storeType } == ["postgresql"])
    }
}
#endif
