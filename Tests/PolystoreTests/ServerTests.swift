import Polystore
import TestStores
import Testing

/// The server of the tests. Without one, the output of a run names here what it left out.
@Suite struct ServerTests {
    @Test(.enabled(if: TestStore.server != nil, "POLYSTORE_TEST_POSTGRES names no server: all tests over PostgreSQL are left out"))
    func theServerTakesAStore() throws {
        let store = TestStore.postgresql.make()
        defer { try? store.erase() }
        let stack = try DataStack(schema: try Schema(entities: [Entity("A", attributes: [])]))
        try stack.addStorageAndWait(store)
        _ = try stack.perform(synchronous: { try $0.create(Into<DynamicObject>(entity: "A")).objectID })
        #expect(try stack.fetchCount(From<DynamicObject>(entity: "A")) == 1)
    }
}
