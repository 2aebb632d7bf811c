#if Macros
import Foundation
import PolystoreInMemory
import PolystoreMacros
import Synchronization
import Testing

/// Publishers of values whose closures read more than the classes that they name.
@Suite struct ValuePublisherTests {
    @Model final class Squad: ManagedObject {
        var name: String = ""
        @Relationship(inverse: \Runner.squad) var runners: Set<Runner>
    }

    @Model final class Runner: ManagedObject {
        var name: String = ""
        @Relationship var squad: Squad?
    }

    @Model final class Judge: ManagedObject { var name: String = "" }

    private static func stack() throws -> DataStack {
        let stack = try DataStack(Squad.self, Runner.self, Judge.self)
        try stack.addStorageAndWait(InMemoryStore())
        return stack
    }

    private static func wait(until isDone: () -> Bool) -> Bool {
        for _ in 0..<5_000 where !isDone() { usleep(1000) }
        return isDone()
    }

    @Test func whatTheClosureReadsIsFollowedToo() throws {
        let stack = try Self.stack()
        let count = try stack.publishValue(of: Squad.self) { try $0.fetchCount(From<Runner>()) }
        let led = try stack.publishValue(of: Judge.self) { try $0.fetchCount(From<Squad>().where((\Squad.runners).count > 0)) }
        let names = try stack.publishValue(of: Judge.self) { source in
            try source.fetchAll(From<Squad>()).flatMap { $0.runners.map(\.name) }.sorted()
        }
        try stack.perform(synchronous: { transaction in
            let runner = try transaction.create(Runner.self)
            runner.squad = try transaction.create(Squad.self)
        })
        #expect(Self.wait { count.value == 1 && led.value == 1 && names.value == [""] })
        try stack.perform(synchronous: { try $0.fetchOne(From<Runner>())?.name = "Ann" })
        #expect(Self.wait { names.value == ["Ann"] })
    }

    @Test func whatTheClosureDoesNotReadDoesNotRunIt() throws {
        let stack = try Self.stack(), runs = Runs()
        let count = try stack.publishValue(of: Squad.self) { source in
            runs.add()
            return try source.fetchCount(From<Runner>())
        }
        try stack.perform(synchronous: { _ = try $0.create(Judge.self) })
        try stack.perform(synchronous: { _ = try $0.create(Runner.self) })
        #expect(Self.wait { count.value == 1 })
        #expect(runs.count == 2)
    }

    private final class Runs: Sendable {
        private let number = Mutex(0)
        var count: Int { number.withLock { $0 } }
        func add() { number.withLock { $0 += 1 } }
    }
}
#endif
