import Polystore
import Synchronization
import TestStores
import Testing

/// Changes of many rows are written in batches, whose sizes have a limit in bytes.
@Suite struct BatchSizeTests {
    /// A stack over a store that counts how often changes are applied to it.
    private final class Scene: Sendable {
        let stack: DataStack
        private let count = Mutex(0)

        init(_ kind: TestStore) throws {
            stack = try DataStack(
                schema: Schema(
                    entities: [
                        Entity(
                            "Page", attributes: [Attribute("number", .int64), Attribute("text", .string)],
                            uniqueConstraints: [UniqueConstraint(["number"])])
                    ]))
            let store = HookedStore(kind.make())
            try stack.addStorageAndWait(store)
            store.setHook { [weak self] event throws(StorageError) in if event == .apply { self?.count.withLock { $0 += 1 } } }
        }

        /// Returns how often changes are applied in a transaction.
        func applications(_ body: (WriteTransaction) throws -> Void) throws -> Int {
            count.withLock { $0 = 0 }
            try stack.perform(synchronous: body)
            return count.withLock { $0 }
        }
    }

    private static let pages = From<DynamicObject>(entity: "Page")

    private static func assign(_ page: DynamicObject, _ number: Int, _ text: String) throws {
        try page.setValue(.int(Int64(number)), for: "number")
        try page.setValue(.string(text), for: "text")
    }

    @Test(arguments: TestStore.all) func aBatchOfLongValuesHasFewRows(_ store: TestStore) throws {
        let scene = try Scene(store), text = String(repeating: "x", count: 1 << 20)
        let inserts = try scene.applications { transaction in
            _ = try transaction.insertAll(Into<DynamicObject>(entity: "Page"), sources: 0..<32) { try Self.assign($0, $1, text) }
        }
        #expect(inserts == 8)
        // The new values have to be checked, so that no statement of the store computes them.
        let next = QueryExpression.function(.add, [.path("number"), .value(.int(100))])
        let updates = try scene.applications { transaction in
            let count = try transaction.updateAll(Self.pages, .set(named: "number", to: next))
            #expect(count == 32)
        }
        // Unique values are written together.
        #expect(updates == 1)
        #expect(try scene.stack.fetchCount(Self.pages.where(Where(format: "number >= %@", arguments: [100]))) == 32)
        _ = try scene.applications { transaction in
            let count = try transaction.deleteAll(Self.pages)
            #expect(count == 32)
        }
        #expect(try scene.stack.fetchCount(Self.pages) == 0)
    }

    @Test(arguments: TestStore.all) func aBatchOfShortValuesHasManyRows(_ store: TestStore) throws {
        let scene = try Scene(store)
        let inserts = try scene.applications { transaction in
            let ids = try transaction.insertAll(Into<DynamicObject>(entity: "Page"), sources: 0..<4_097) {
                try Self.assign($0, $1, "\($1)")
            }
            #expect(ids.count == 4_097)
        }
        #expect(inserts == 2)
        #expect(try scene.stack.fetchCount(Self.pages) == 4_097)
    }

    @Test(arguments: TestStore.all) func anUpsertOfLongValuesWritesEachRow(_ store: TestStore) throws {
        let scene = try Scene(store), text = String(repeating: "x", count: 1 << 20)
        // Each number occurs twice, so that the second value is written into the row of the first one.
        try scene.stack.perform(synchronous: { transaction in
            let sources = (0..<8).flatMap { [($0, "old"), ($0, "\($0)" + text)] }
            _ = try transaction.upsertAll(Into<DynamicObject>(entity: "Page"), onNamed: ["number"], sources: sources) {
                try Self.assign($0, $1.0, $1.1)
            }
        })
        let pages = try scene.stack.fetchAll(Self.pages.orderBy(.ascending("number")))
        #expect(try pages.map { try $0.value("text") } == (0..<8).map { .string("\($0)" + text) })
    }
}
