import Foundation
import Polystore
import TestStores
import Testing

@testable import PolystoreObjects

/// A model whose history has everything: a hierarchy, pairs of a relationship, values that outlive their object.
enum HistoryFixture {
    static func schema() throws -> Schema {
        try Schema(
            entities: [
                Entity(
                    "Part",
                    attributes: [
                        Attribute("code", .string, history: .preserved), Attribute("price", .int64, isOptional: true),
                        Attribute("note", .string, isOptional: true),
                    ],
                    relationships: [Relationship("fits", to: "Part", .toMany, inverse: "fits")]),
                Entity("Wheel", parent: "Part", attributes: [Attribute("size", .int64, isOptional: true)]),
                Entity("Order", attributes: [Attribute("number", .int64)]),
            ], configurations: ["Parts": ["Part", "Wheel"], "Orders": ["Order"]])
    }

    static func stack(_ store: TestStore) throws -> DataStack {
        let stack = try DataStack(schema: schema())
        try stack.addStorageAndWait(store.make())
        return stack
    }

    /// Stacks over the same place.
    static func stacks(_ store: TestStore, _ count: Int) throws -> [DataStack] {
        let name = "polystore_\(UUID().uuidString.lowercased())"
        return try (0..<count).map { _ in
            let stack = try DataStack(schema: schema())
            try stack.addStorageAndWait(store.make(named: name))
            return stack
        }
    }

    /// The stores that two stacks of one process can have at the same time.
    static let shared = TestStore.all.filter { $0 == .sqlite || $0 == .postgresql }

    /// Runs a closure while the trackers of a stack cannot read.
    static func delayingReads(_ stack: DataStack, _ body: () throws -> Void) throws {
        let isOver = DispatchSemaphore(value: 0), haveBegun = DispatchSemaphore(value: 0)
        for _ in 0..<4 {
            stack.core.workers.observers.submit(WorkLimit()) { _, _ in
                haveBegun.signal()
                isOver.wait()
            }
        }
        for _ in 0..<4 { haveBegun.wait() }
        defer { for _ in 0..<4 { isOver.signal() } }
        try body()
    }

    /// Puts a backup at the place of a SQLite file that no store uses. A connection that only reads leaves the log when it is the last one.
    static func restore(_ backup: URL, to file: URL) throws {
        for path in [file.path, file.path + "-wal", file.path + "-shm"] where FileManager.default.fileExists(atPath: path) {
            try FileManager.default.removeItem(atPath: path)
        }
        try FileManager.default.moveItem(at: backup, to: file)
    }

    static func part(_ code: String, _ entity: String = "Part", in transaction: BaseTransaction) throws -> DynamicObject {
        let part = try transaction.create(Into<DynamicObject>(entity: entity))
        try part.setValue(.string(code), for: "code")
        return part
    }

    static func order(_ number: Int64, in transaction: BaseTransaction) throws {
        try transaction.create(Into<DynamicObject>(entity: "Order")).setValue(.int(number), for: "number")
    }

    /// The history, waited for: a store with several writers tells a commit only when none that began before it can still come.
    static func history(
        _ stack: DataStack, _ request: HistoryRequest = HistoryRequest(), of choice: StoreChoice = .only, count: Int
    ) throws -> [HistoryTransaction] {
        for _ in 0..<500 {
            let page = try stack.history(request, of: choice)
            if page.transactions.count >= count { return page.transactions }
            Thread.sleep(forTimeInterval: 0.01)
        }
        return try stack.history(request, of: choice).transactions
    }

    static func code(_ body: () throws -> Void) -> StorageError.Code? {
        do { try body() } catch { return (error as? StorageError)?.code }
        return nil
    }

    /// Whether something becomes true within ten seconds.
    static func becomes(
        isolation: isolated (any Actor)? = #isolation, _ condition: () async throws -> Bool
    ) async rethrows -> Bool {
        for _ in 0..<1000 {
            if try await condition() { return true }
            try? await Task.sleep(for: .milliseconds(10))
        }
        return false
    }
}
