import Polystore
import PolystoreInMemory
import Synchronization
import Testing

@testable import PolystoreStorage

/// A closure that a long-running program gets from a store as often as it asks or is notified.
@Suite struct KeptClosureTests {
    /// Far more than a thread's stack has room for, if each use added a call.
    private static let uses = 1_000_000

    @Test func aStoreReportsResidualWorkAfterAnyNumberOfAnswers() throws {
        let store = try OpenStore(opening: InMemoryStore(), OpenRequest(schema: try Schema(entities: [Entity("Item")])))
        let rows = Mutex(0)
        store.residualReport = { work in rows.withLock { $0 += work.read } }
        for _ in 0..<Self.uses { _ = store.residualReport }
        store.residualReport?(ResidualWork(entity: "Item", read: 3, related: 0, found: 1))
        #expect(rows.withLock { $0 } == 3)
        try store.close()
    }

    @Test func aWatchReceivesAnyNumberOfSignals() {
        let watches = ChangeWatches {}, received = Mutex(0)
        let watch = watches.add { _ in received.withLock { $0 += 1 } }
        for _ in 0..<Self.uses { watches.signal(.history) }
        #expect(received.withLock { $0 } == Self.uses)
        watch.cancel()
    }
}
