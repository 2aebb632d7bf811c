#if Macros
import Polystore
import PolystoreMacros
import PolystorePostgreSQL
import PolystoreSQLite
import PolystoreTransfer
import TestStores
import Testing

/// The samples of "Command Line".
@Suite(.scratch) struct CommandLineSamples {
    @Model final class Order: ManagedObject {
        var total: Int = 0
    }

    @Test(.enabled(if: TestStore.server != nil, "POLYSTORE_TEST_POSTGRES names no server")) func aStackMovesAStore() async throws {
        let stack = try DataStack(Order.self), file = SQLiteStore(path: scratch("shop.db"))
        try stack.addStorageAndWait(file)
        try await stack.perform { try $0.create(Order.self).total = 7 }
        let server = PostgreSQLStore(conninfo: scratch("postgresql:///shop"))
        let report = try stack.moveStorage(file, to: server, named: "postgresql:///shop")
        #expect(report.pause >= .zero && stack.storages.map { type(of: $0).storeType } == ["postgresql"])
        #expect(try stack.fetchAll(From<Order>()).map(\.total) == [7])
    }
}
#endif
