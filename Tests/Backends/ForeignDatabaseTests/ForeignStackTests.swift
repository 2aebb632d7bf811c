import Polystore
import PolystoreSQLite
import TestStores
import Testing

/// Objects over a database of another program: its schema is asked for first, and a stack reads it like any other store.
@Suite struct ForeignStackTests {
    private func stack(_ path: String) throws -> DataStack {
        let probe = SQLiteStore(path: path, catalog: .foreign)
        let schema = try probe.open(OpenRequest(schema: nil)).schema
        try probe.close()
        let stack = try DataStack(schema: schema)
        try stack.addStorageAndWait(SQLiteStore(path: path, catalog: .foreign))
        return stack
    }

    @Test func objectsAndRelationshipsAreRead() throws {
        let stack = try stack(ForeignDatabases.sqlite(ShopScript.sqlite))
        let lines = try stack.fetchAll(From<DynamicObject>(entity: "order_line").where(Where(format: "quantity < 50")))
        let quantities = try lines.map { try $0.value("quantity") }
        #expect(quantities == [.int(1), .int(3)])
        let order = try lines.first?.object("order") as? DynamicObject
        #expect(try order?.value("note") == .string("hi"))
        #expect(try (order?.object("customer") as? DynamicObject)?.value("name") == .string("Ada"))
    }

    @Test func aTransactionIsRefusedWithTheWayOut() throws {
        let stack = try stack(ForeignDatabases.sqlite(ShopScript.sqlite))
        let refused = failure {
            try stack.perform(synchronous: { try $0.create(Into<DynamicObject>(entity: "carrier")).setValue(.string("x"), for: "name") })
        }
        #expect(refused?.code == .readOnly)
        #expect(refused?.message.contains("polystore transfer") == true)
    }

    /// Not that the database is read-only: nothing was to be written.
    @Test func aModelThatDiffersIsNamed() async throws {
        let store = try SQLiteStore(path: ForeignDatabases.sqlite(ShopScript.sqlite), catalog: .foreign)
        let stack = try DataStack(schema: Schema(entities: [Entity("carrier", attributes: [Attribute("mane", .string)])]))
        let waiting = failure { try stack.addStorageAndWait(store) }
        await #expect {
            try await stack.addStorage(store)
        } throws: { error in
            (error as? StorageError)?.code == .schemaMismatch && (error as? StorageError)?.message == waiting?.message
        }
        #expect(waiting?.code == .schemaMismatch)
    }

    @Test func aStackNeverReplacesTheFile() throws {
        let path = try ForeignDatabases.sqlite(ShopScript.sqlite)
        let stack = try DataStack(schema: Schema(entities: [Entity("Other")]))
        let store = SQLiteStore(path: path, localStorageOptions: .recreateStoreOnModelMismatch, catalog: .foreign)
        #expect(failure { try stack.addStorageAndWait(store) } != nil)
        #expect(try OpenDatabase("sqlite:\(path)?catalog=foreign").lines() == ShopScript.lines)
    }
}
