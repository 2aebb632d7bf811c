#if Macros
import Polystore
import PolystoreInMemory
import PolystoreMacros
import Testing

/// The samples of "Concurrency".
@Suite(.scratch) struct ConcurrencySamples {
    @Model final class Note: ManagedObject {
        var text: String = ""
        var isDone: Bool = false
    }

    actor Desk {
        private let context: ViewContext

        init(_ stack: DataStack) { context = stack.makeViewContext() }

        func texts() throws -> [String] { try context.fetchAll(From<Note>().orderBy(.ascending(\.text))).map(\.text) }
    }

    private func download() async throws -> String { "Tea" }

    @Test func tasksAndTransactionsGoTogether() async throws {
        let stack = try DataStack(Note.self)
        try await stack.addStorage(InMemoryStore())
        let record = try await download()
        let id = try await stack.perform { transaction in
            let note = try transaction.create(Note.self)
            note.text = record
            return note.objectID
        }
        try await stack.perform { _ = try $0.create(Note.self) }
        let count = try stack.perform(synchronous: { transaction in
            try transaction.deleteAll(From<Note>().where(\.text == ""))
        })
        #expect(count == 1)
        let (notes, done) = try await stack.read { transaction in
            try (transaction.fetchCount(From<Note>()), transaction.fetchCount(From<Note>().where(\.isDone == true)))
        }
        print(done, "of", notes)
        let ids = try stack.fetchIDs(From<Note>().where(\.isDone == false))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for id in ids {
                group.addTask {
                    guard let note = try stack.fetchExisting(id) else { return }  // deleted meanwhile
                    print(note.text)
                }
            }
            try await group.waitForAll()
        }
        if let snapshot = try stack.snapshot(of: id) {
            await MainActor.run { print(snapshot.text) }
        }
        let found = try await stack.read(timeout: .seconds(5)) { try $0.fetchCount(From<Note>()) }
        #expect(printed == ["0 of 1", "Tea", "Tea"] && found == 1)
        let longest = try await stack.read { source in
            var longest = 0
            for note in try source.fetchAll(From<Note>()) {
                try source.checkCancellation()
                longest = max(longest, note.text.count)  // or something that takes longer
            }
            return longest
        }
        #expect(longest == 3)
        #expect(try await Desk(stack).texts() == ["Tea"])
        for health in await stack.checkHealth(timeout: .seconds(2)) { print(health) }
        #expect(printed.last?.hasPrefix("memory: ") == true && printed.last?.hasSuffix(" ms") == true)
        for queue in stack.queueStatistics { print(queue) }  // writes: 1 of 1 running, 12 waiting
        #expect(printed.suffix(4).first?.hasPrefix("writes: ") == true)
        let hasEnded = try await stack.shutdown(draining: .seconds(10))
        if !hasEnded { print("some transactions were ended, and have stored nothing") }
        #expect(hasEnded && stack.storages.isEmpty)
    }
}
#endif
