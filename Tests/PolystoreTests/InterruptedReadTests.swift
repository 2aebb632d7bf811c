import Foundation
import Polystore
import PolystoreInMemory
import Synchronization
import Testing

/// Reads over several stores of which one could not be opened.
@Suite struct InterruptedReadTests {
    /// True once.
    private final class Once: Sendable {
        private let isOver = Mutex(false)

        func callAsFunction() -> Bool {
            isOver.withLock { isOver in
                defer { isOver = true }
                return !isOver
            }
        }
    }

    private static func number(_ from: From<DynamicObject>, _ source: some FetchSource) throws -> Value {
        try #require(try source.fetchOne(from)).value("x")
    }

    /// The stores are opened in no fixed order, so it takes several rounds until one is open when the other fails.
    @Test(arguments: 0..<12) func aCaughtErrorLeavesNoStateOfAnotherCommit(_ round: Int) throws {
        let x = [Attribute("x", .int64, defaultValue: .int(0))]
        let schema = try Schema(
            entities: [Entity("A", attributes: x), Entity("E", attributes: x)], configurations: ["A": ["A"], "B": ["E"], "C": ["E"]])
        let stack = try DataStack(schema: schema)
        let stores = ["B", "C"].map { HookedStore(InMemoryStore(configuration: $0)) }
        try stack.addStorageAndWait(InMemoryStore(configuration: "A"))
        for store in stores { try stack.addStorageAndWait(store) }
        let a = From<DynamicObject>(entity: "A"), b = From<DynamicObject>(entity: "E", "B")
        try stack.perform(synchronous: { transaction in
            _ = try transaction.create(Into<DynamicObject>(entity: "A"))
            for store in ["B", "C"] { _ = try transaction.create(Into<DynamicObject>(entity: "E", store)) }
        })
        let isFirst = Once(), fails = Once(), committed = DispatchSemaphore(value: 0)
        stores[0].setHook { event throws(StorageError) in
            guard event == .beginRead, isFirst() else { return }
            Thread {
                try? stack.perform(synchronous: { transaction in
                    for from in [a, b] { try transaction.fetchOne(from)?.setValue(.int(1), for: "x") }
                })
                committed.signal()
            }.start()
            _ = committed.wait(timeout: .now() + 3)
        }
        stores[1].setHook { event throws(StorageError) in
            if event == .beginRead, fails() { throw StorageError(.connectionLost, "a failure") }
        }
        let (first, second) = try stack.read { transaction in
            let first = try Self.number(a, transaction)
            _ = try? transaction.fetchAll(From<DynamicObject>(entity: "E"))
            return (first, try Self.number(b, transaction))
        }
        #expect(first == second)
        for store in stores { store.setHook(nil) }
    }
}
