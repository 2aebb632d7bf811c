import Foundation
import Polystore
import TestStores
import Testing

/// Transactions of stacks whose other stores take no changes, or are not there.
@Suite struct AbsentStoreTests {
    private static func schema(_ rule: DeleteRule) throws -> Schema {
        let reference = CrossReference(to: "Right", deleteRule: .nullify, inverseDeleteRule: rule)
        return try Schema(
            entities: [
                Entity("Left", attributes: [Attribute("ref", .string, isOptional: true, crossReference: reference)]),
                Entity("Right", attributes: [Attribute("x", .int64)]),
            ], configurations: ["Left": ["Left"], "Right": ["Right"]])
    }

    private func create(_ entity: String, _ stack: DataStack) throws {
        try stack.perform(synchronous: { transaction in
            let object = try transaction.create(Into<DynamicObject>(entity: entity))
            if entity == "Right" { try object.setValue(.int(1), for: "x") }
        })
    }

    /// What is read in a transaction need not be written to.
    @Test(arguments: TestStore.all.filter { $0 != .memory }) func aReadOnlyStoreIsReadInATransaction(_ kind: TestStore) throws {
        let name = "polystore_reading_\(UUID().uuidString.lowercased())"
        let writable = kind.make(named: name, configuration: "Left")
        let first = try DataStack(schema: Self.schema(.deny))
        try first.addStorageAndWait(writable)
        try create("Left", first)
        try first.removeStorage(writable)
        defer { try? kind.make(named: name, configuration: "Left").erase() }
        let stack = try DataStack(schema: Self.schema(.deny)), store = kind.make(named: name, configuration: "Left", readOnly: true)
        try stack.addStorageAndWait(store)
        try stack.addStorageAndWait(TestStore.memory.make(configuration: "Right"))
        try stack.perform(synchronous: { transaction in
            let count = try transaction.fetchCount(From<DynamicObject>(entity: "Left"))
            try transaction.create(Into<DynamicObject>(entity: "Right")).setValue(.int(Int64(count)), for: "x")
        })
        #expect(try stack.fetchAll(From<DynamicObject>(entity: "Right")).map { try $0.value("x") } == [.int(1)])
        // Nothing in it refers to what is deleted.
        try stack.perform(synchronous: { _ = try $0.delete($0.fetchAll(From<DynamicObject>(entity: "Right"))) })
        #expect(try stack.fetchCount(From<DynamicObject>(entity: "Right")) == 0)
        let refusal = #expect(throws: StorageError.self) {
            try stack.perform(synchronous: { transaction in
                _ = try transaction.fetchCount(From<DynamicObject>(entity: "Left"))
                _ = try transaction.create(Into<DynamicObject>(entity: "Left"))
            })
        }
        #expect(refusal?.code == .readOnly)
        // A detached transaction reads it too, to validate what it has read and to find what refers to a deleted object.
        let work = stack.beginUnsafe(), read = try work.fetchAll(From<DynamicObject>(entity: "Left"))
        let right = try work.create(Into<DynamicObject>(entity: "Right"))
        try right.setValue(.int(2), for: "x")
        try work.commit(validatesReads: true)
        try work.delete(right)
        try work.commit(validatesReads: true)
        #expect(try stack.fetchCount(From<DynamicObject>(entity: "Right")) == 0)
        withExtendedLifetime(read) {}
        try stack.removeStorage(store)
    }

    @Test(arguments: [DeleteRule.nullify, .cascade, .deny]) func deletionSucceedsIfTheReferringEntityIsInNoStore(_ rule: DeleteRule) throws
    {
        let stack = try DataStack(schema: Self.schema(rule))
        try stack.addStorageAndWait(TestStore.memory.make(configuration: "Right"))
        for isWhole in [false, true] {
            try create("Right", stack)
            try stack.perform(synchronous: { transaction in
                if isWhole {
                    _ = try transaction.deleteAll(From<DynamicObject>(entity: "Right"))
                } else {
                    _ = try transaction.delete(transaction.fetchAll(From<DynamicObject>(entity: "Right")))
                }
            })
            #expect(try stack.fetchCount(From<DynamicObject>(entity: "Right")) == 0)
        }
    }
}
