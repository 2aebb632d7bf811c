import Polystore
import PolystoreStorage
import TestStores
import Testing

/// Deleting what is referred to by relationships that have no way back.
@Suite struct OneSidedReferenceTests {
    private typealias Object = DynamicObject

    private func stack(_ kind: TestStore, isOptional: Bool = true) throws -> DataStack {
        let schema = try Schema(entities: [
            Entity("Owner", relationships: [Relationship("target", to: "Target", isOptional: isOptional)]),
            Entity("Special", parent: "Owner"),
            Entity("Target"), Entity("Below", parent: "Target"),
        ])
        let stack = try DataStack(schema: schema)
        try stack.addStorageAndWait(kind.make())
        return stack
    }

    /// An owner and a special one of the same object, and one of another.
    private func fill(_ stack: DataStack) throws -> (target: ObjectID<Object>, other: ObjectID<Object>) {
        try stack.perform(synchronous: { transaction in
            let target = try transaction.create(Into<Object>(entity: "Below"))
            let other = try transaction.create(Into<Object>(entity: "Target"))
            for (entity, object) in [("Owner", target), ("Special", target), ("Owner", other)] {
                try transaction.create(Into<Object>(entity: entity)).setObject(object, for: "target")
            }
            return (target.objectID, other.objectID)
        })
    }

    private func count(_ stack: DataStack, _ condition: String) throws -> Int {
        try stack.fetchCount(From<Object>(entity: "Owner").where(Where(format: condition)))
    }

    @Test(arguments: TestStore.all) func theReferencesBecomeNil(_ kind: TestStore) throws {
        let stack = try stack(kind), (target, _) = try fill(stack)
        try stack.perform(synchronous: { transaction in try transaction.delete(try #require(try transaction.fetchExisting(target))) })
        #expect(try count(stack, "target == NIL") == 2)
        #expect(try count(stack, "target != NIL") == 1)
        #expect(try stack.fetchAll(From<Object>(entity: "Owner")).map(\.version) == [2, 2, 1])
    }

    @Test(arguments: TestStore.all) func referencesOfBatchesAndPendingObjectsBecomeNil(_ kind: TestStore) throws {
        let stack = try stack(kind)
        _ = try fill(stack)
        try stack.perform(synchronous: { transaction in
            let new = try transaction.create(Into<Object>(entity: "Target")), owner = try transaction.create(Into<Object>(entity: "Owner"))
            try owner.setObject(new, for: "target")
            try transaction.delete(new)
            #expect(try owner.object("target") == nil)
            _ = try transaction.deleteAll(From<Object>(entity: "Target"))
        })
        #expect(try count(stack, "target == NIL") == 4)
    }

    @Test(arguments: TestStore.all) func aDetachedDeletionConflictsWithLaterReferences(_ kind: TestStore) throws {
        let stack = try stack(kind), (target, other) = try fill(stack)
        let work = stack.beginUnsafe()
        try work.delete(try #require(try work.fetchExisting(other)))
        try stack.perform(synchronous: { transaction in
            let owner = try transaction.create(Into<Object>(entity: "Owner"))
            try owner.setObject(try transaction.fetchExisting(other), for: "target")
        })
        #expect(throws: StorageError.self) { try work.commit() }
        #expect(try count(stack, "target != NIL") == 4)
        let second = stack.beginUnsafe()
        try second.delete(try #require(try second.fetchExisting(target)))
        try second.commit()
        #expect(try count(stack, "target == NIL") == 2)
    }

    @Test(arguments: TestStore.all) func requiredReferencesPreventTheDeletion(_ kind: TestStore) throws {
        let stack = try stack(kind, isOptional: false), (target, _) = try fill(stack)
        let error = #expect(throws: StorageError.self) {
            try stack.perform(synchronous: { transaction in try transaction.delete(try #require(try transaction.fetchExisting(target))) })
        }
        #expect(error?.code == .validationFailed)
        #expect(try count(stack, "target != NIL") == 3)
    }
}
