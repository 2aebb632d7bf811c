import Foundation
import Polystore
import PolystorePostgreSQL
import PolystoreStorage
import Synchronization
import TestStores
import Testing

/// Transactions over two stores of which one is in use by those who read.
@Suite struct JointStoreTests {
    typealias Pair = SeveralStoresTests.Pair
    fileprivate typealias Scene = JointFailureTests.Scene

    // MARK: Those who read

    /// Readers have all connections to the servers that they may have.
    @Test(.enabled(if: TestStore.server != nil), arguments: [TestStore.sqlite, .lmdb, .postgresql])
    func whoWritesToSeveralStoresNeedsNoConnectionOfThoseWhoRead(_ kind: TestStore) throws {
        func server(_ configuration: String) -> PostgreSQLStore {
            PostgreSQLStore(
                conninfo: TestStore.server ?? "", configuration: configuration,
                schema: "polystore_\(UUID().uuidString.lowercased())", readers: 1)
        }
        let stack = try DataStack(schema: Scene.schema.get())
        let stores: [any StorageInterface] = [server("Left"), kind == .postgresql ? server("Right") : kind.make(configuration: "Right")]
        defer { for store in stores { try? store.erase() } }
        for store in stores { try stack.addStorageAndWait(store) }
        try Scene.write(1, stack)
        let started = DispatchGroup(), ended = DispatchGroup(), isOver = DispatchSemaphore(value: 0)
        for entity in ["Left", "Right"] {
            started.enter()
            ended.enter()
            Thread.detachNewThread {
                try? stack.read(synchronous: { transaction in
                    _ = try transaction.fetchCount(From<DynamicObject>(entity: entity))
                    started.leave()
                    _ = isOver.wait(timeout: .now() + 60)
                })
                ended.leave()
            }
        }
        #expect(started.wait(timeout: .now() + 20) == .success)
        try stack.perform(timeout: .seconds(10), synchronous: { try Scene.write(2, $0) })
        try stack.perform(timeout: .seconds(10), synchronous: { try Self.add(3, $0, ["Right"]) })
        for _ in 0..<2 { isOver.signal() }
        ended.wait()
        #expect(try stack.fetchCount(From<DynamicObject>(entity: "Right")) == 3)
    }

    /// Adds a number to both stores, and brings it to the engines.
    private static func add(_ number: Int64, _ transaction: Transaction, _ entities: [String] = ["Left", "Right"]) throws {
        for entity in entities {
            try transaction.create(Into<DynamicObject>(entity: entity)).setValue(.int(number), for: "x")
            _ = try transaction.fetchCount(From<DynamicObject>(entity: entity))
        }
    }
}
