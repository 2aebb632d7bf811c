import Dispatch
import PolystoreStorage
import Synchronization
import TestStores
import Testing

@testable import PolystoreObjects
@testable import PolystoreObservation

/// Publishers of which one fetches anew while the others of its stack are led on.
@Suite struct FollowerTests {
    /// Does something once after a snapshot was opened in which changed rows were read.
    private final class Interruption: CommitFollower {
        private let key: ObjectKey
        private let body: Mutex<(@Sendable () -> Void)?>

        init(_ key: ObjectKey, _ body: @escaping @Sendable () -> Void) {
            self.key = key
            self.body = Mutex(body)
        }

        func follow(_ look: FollowerLook) throws(StorageError) {
            guard let root = look.batch.entities[0]?.first else { return }
            _ = try look.batch.rows.rows(root, [key.key], 0, look.sessions)
            body.withLock { body in
                defer { body = nil }
                return body
            }?()
        }
    }

    /// Asks after each batch, as the last one.
    private final class Witness: CommitFollower {
        let isLocal = true
        let batches = DispatchSemaphore(value: 0)
        private let body: @Sendable () -> String
        private let answers = Mutex<[String]>([])

        init(_ body: @escaping @Sendable () -> String) { self.body = body }

        func follow(_ look: FollowerLook) {
            let answer = body()
            answers.withLock { $0.append(answer) }
            batches.signal()
        }

        var all: [String] { answers.withLock { $0 } }
    }

    @Test(arguments: TestStore.all) func aRefetchedListIsNotRevertedByOlderChanges(_ store: TestStore) throws {
        let stack = try store.stack()
        let ann = try stack.perform(synchronous: { transaction in
            let ann = try transaction.create(Person.self), ben = try transaction.create(Person.self)
            (ann.name, ben.name) = ("Ann", "Ben")
            return ann.objectID
        })
        let byName = From<Person>().orderBy(.ascending(\.name))
        let list = try stack.publishList(byName), object = try ObjectPublisher(ann, stack), problems = Mutex<[String]>([])
        let interruption = Interruption(ann.key) {
            do {
                _ = try stack.perform(synchronous: { try $0.delete([try #require(try $0.fetchOne(From<Person>().where(\.name == "Ann")))]) }
                )
                try list.refetch(byName)
                try object.begin()
            } catch { problems.withLock { $0.append("\(error)") } }
        }
        let witness = Witness { "\(list.snapshot.count) \(object.snapshot != nil)" }
        for follower in [interruption, object, witness] as [any CommitFollower] { try stack.core.publish(follower) }
        _ = try stack.perform(synchronous: { try #require(try $0.fetchOne(From<Person>().where(\.name == "Ann"))).age = 1 })
        for _ in 0..<2 { #expect(witness.batches.wait(timeout: .now() + 30) == .success) }
        #expect(witness.all == ["1 false", "1 false"])
        #expect(problems.withLock { $0 } == [])
    }
}
