#if Macros
import Polystore
import PolystoreMacros
import PolystoreSQLite
import PolystoreTransfer
import Testing

/// The samples of "Existing Databases".
@Suite(.scratch) struct ExistingDatabasesSamples {
    @Model(entity: "orders") final class Order: ManagedObject {
        var number: Int = 0
        var total: Int = 0
        @Relationship var customer: Customer?
    }

    @Model(entity: "customers") final class Customer: ManagedObject {
        var name: String = ""
        @Relationship(inverse: \Order.customer) var orders: Set<Order>
    }

    /// Makes a database with tables as a person would declare them.
    private func makeTables() throws {
        let stack = try DataStack(Order.self, Customer.self)
        try stack.addStorageAndWait(SQLiteStore(path: scratch("own.db")))
        try stack.perform(synchronous: { transaction in
            let ann = try transaction.create(Customer.self)
            ann.name = "Ann"
            for total in [99, 612] {
                let order = try transaction.create(Order.self)
                (order.number, order.total, order.customer) = (total * 10, total, ann)
            }
        })
        try stack.removeStorage(stack.storages[0])
        let source = try OpenStore(opening: SQLiteStore(path: scratch("own.db")), OpenRequest(schema: nil))
        _ = try TransferEngine().transferTables(from: source, to: SQLiteStore(path: scratch("shop.db")))
        try source.close()
    }

    @Test func aDatabaseIsReadWithoutClasses() throws {
        try makeTables()
        let store = SQLiteStore(path: scratch("shop.db"), catalog: .foreign)
        let schema = try OpenStore(opening: store, OpenRequest(schema: nil, createIfMissing: false)).schema
        try store.close()

        let stack = try DataStack(schema: schema)
        try stack.addStorageAndWait(store)
        let large = From<DynamicObject>(entity: "orders").where(Where(format: "total > 100")).orderBy(.ascending("number"))
        for order in try stack.fetchAll(large) {
            print(try order.value("number"), try order.object("customer")?.objectID.key.key ?? 0)
        }
        #expect(printed == ["6120 1"])
    }
}
#endif
