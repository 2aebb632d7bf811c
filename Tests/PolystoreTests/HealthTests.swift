import Dispatch
import Polystore
import Synchronization
import TestStores
import Testing

/// The condition of the stores of a stack.
@Suite struct HealthTests {
    @Test(arguments: TestStore.all) func aStoreThatCanBeReadHasNoError(_ kind: TestStore) async throws {
        let name = "polystore_health_\(UInt64.random(in: 0...(.max)))", store = kind.make(named: name)
        let stack = try DataStack(Person.self, Animal.self, Dog.self)
        #expect(await stack.checkHealth().isEmpty)
        try stack.addStorageAndWait(store)
        let health = try #require(await stack.checkHealth().first)
        #expect(health.error == nil && !health.isReadOnly && health.storeType == type(of: store).storeType && health.configuration == nil)
        try await stack.shutdown()
        #expect(await stack.checkHealth().isEmpty)
        if kind == .memory { return }
        let reader = try DataStack(Person.self, Animal.self, Dog.self)
        try reader.addStorageAndWait(kind.make(named: name, readOnly: true))
        #expect(await reader.checkHealth().map(\.isReadOnly) == [true])
        try await reader.shutdown()
        try kind.make(named: name).erase()
    }

    @Test func aFailingStoreIsNamedBesideTheOthers() async throws {
        let schema = try Schema(
            entities: [Entity("One", attributes: [Attribute("x", .int64)]), Entity("Two", attributes: [Attribute("x", .int64)])],
            configurations: ["One": ["One"], "Two": ["Two"]])
        let stack = try DataStack(schema: schema), failing = HookedStore(TestStore.memory.make(configuration: "One"))
        try stack.addStorageAndWait(failing)
        try stack.addStorageAndWait(TestStore.sqlite.make(configuration: "Two"))
        failing.setHook { event throws(StorageError) in
            if event == .beginRead { throw StorageError(.connectionLost, "the server is gone") }
        }
        let health = await stack.checkHealth()
        #expect(health.map(\.configuration) == ["One", "Two"] && health.map { $0.error?.code } == [.connectionLost, nil])
        #expect(health[0].description.hasSuffix(" (One): connectionLost, the server is gone"))
        failing.setHook(nil)
        #expect(await stack.checkHealth().allSatisfy { $0.error == nil })
    }

    private final class Reads: Sendable { let count = Atomic(0) }

    /// Stores that do not answer, although the limit of the check is over, delay neither the checks of others nor the answer.
    @Test func storesThatDoNotAnswerDelayNoOther() async throws {
        let names = (0..<10).map { "E\($0)" }
        let schema = try Schema(
            entities: names.map { Entity($0, attributes: [Attribute("x", .int64)]) },
            configurations: Dictionary(uniqueKeysWithValues: names.map { ($0, [$0]) }))
        let stack = try DataStack(schema: schema), isFree = DispatchSemaphore(value: 0), reads = Reads()
        var hanging: [HookedStore] = []
        for (index, name) in names.enumerated() {
            let store = HookedStore(TestStore.memory.make(configuration: name))
            try stack.addStorageAndWait(store)
            if index >= 6 { continue }
            hanging.append(store)
            store.setHook { event in
                if event != .beginRead { return }
                reads.count.add(1, ordering: .relaxed)
                isFree.wait()
            }
        }
        for _ in 0..<2 {
            // Long enough for the healthy ones on a busy machine.
            let health = await stack.checkHealth(timeout: .seconds(10))
            #expect(health.prefix(6).allSatisfy { $0.error?.code == .timeout } && health.suffix(4).allSatisfy { $0.error == nil })
        }
        // A read that hangs is not begun again.
        #expect(reads.count.load(ordering: .relaxed) == 6)
        for store in hanging { store.setHook(nil) }
        for _ in hanging { isFree.signal() }
        while await stack.checkHealth(timeout: .seconds(30)).contains(where: { $0.error != nil }) {}
    }

    /// A cancelled task receives its answer while the store hangs, and the store is not read again until all reads have ended.
    @Test(.timeLimit(.minutes(2))) func aCancelledCheckIsAnswered() async throws {
        let stack = try DataStack(Person.self, Animal.self, Dog.self), store = HookedStore(TestStore.memory.make())
        try stack.addStorageAndWait(store)
        let isFree = DispatchSemaphore(value: 0), reads = Reads()
        store.setHook { event in
            if event != .beginRead { return }
            reads.count.add(1, ordering: .relaxed)
            isFree.wait()
        }
        let checks = (0..<2).map { _ in Task { await stack.checkHealth(timeout: .seconds(3600)).map(\.error?.code) } }
        while reads.count.load(ordering: .relaxed) < 2 { try await Task.sleep(for: .milliseconds(1)) }
        for check in checks {
            check.cancel()
            #expect(await check.value == [.cancelled])
        }
        #expect(await Task { await stack.checkHealth().map(\.error?.code) }.value == [.timeout])
        // One read ends, the other one still hangs.
        isFree.signal()
        try await Task.sleep(for: .milliseconds(50))
        #expect(await stack.checkHealth().map(\.error?.code) == [.timeout])
        #expect(reads.count.load(ordering: .relaxed) == 2)
        store.setHook(nil)
        isFree.signal()
        while await stack.checkHealth(timeout: .seconds(30)).contains(where: { $0.error != nil }) {}
    }
}
