import Polystore
import TestStores
import Testing

/// Relationships with limits beside changes of other stores.
@Suite struct CountedStoresTests {
    private func schema() throws -> Schema {
        let number = Attribute("number", .int64, isOptional: true)
        return try Schema(
            entities: [
                Entity("Box", attributes: [number], relationships: [Relationship("marks", to: "Item", .toMany, maxCount: 3)]),
                Entity("Item", attributes: [number]), Entity("Other", attributes: [number]),
            ], configurations: ["Boxes": ["Box", "Item"], "Others": ["Other"]])
    }

    @Test(arguments: TestStore.all) func aCommitOpensNoStoreWithoutChanges(_ kind: TestStore) throws {
        // Stores are opened in the order of their identities, which are random.
        for _ in 0..<6 {
            let stack = try DataStack(schema: schema())
            for configuration in ["Boxes", "Others"] { try stack.addStorageAndWait(kind.make(configuration: configuration)) }
            defer { for storage in stack.storages { try? storage.erase() } }
            for names in [["Box", "Item"], ["Other"]] {
                try stack.perform(synchronous: { transaction in
                    for name in names { _ = try transaction.create(Into<DynamicObject>(entity: name)) }
                })
            }
            let work = stack.beginUnsafe()
            func one(_ name: String) throws -> DynamicObject { try #require(try work.fetchOne(From<DynamicObject>(entity: name))) }
            let box = try one("Box"), item = try one("Item"), other = try one("Other")
            try box.setObjects([item], for: "marks")
            try box.setObjects([], for: "marks")
            try other.setValue(.int(5), for: "number")
            try work.commit()
            try box.setObjects([item], for: "marks")
            try work.rollback()
            try other.setValue(.int(6), for: "number")
            try work.commit()
            #expect(try stack.fetchOne(From<DynamicObject>(entity: "Other"))?.value("number") == .int(6))
        }
    }

    /// The members of an object whose store is not there cannot be counted.
    @Test(arguments: TestStore.all) func aCommitCountsNothingThatWasRolledBack(_ kind: TestStore) throws {
        let stack = try DataStack(schema: schema()), boxes = kind.make(configuration: "Boxes"), others = kind.make(configuration: "Others")
        for storage in [boxes, others] { try stack.addStorageAndWait(storage) }
        defer { for storage in [boxes, others] { try? storage.erase() } }
        for names in [["Box", "Item"], ["Other"]] {
            try stack.perform(synchronous: { transaction in
                for name in names { _ = try transaction.create(Into<DynamicObject>(entity: name)) }
            })
        }
        let work = stack.beginUnsafe()
        func one(_ name: String) throws -> DynamicObject { try #require(try work.fetchOne(From<DynamicObject>(entity: name))) }
        let other = try one("Other")
        try one("Box").setObjects([one("Item")], for: "marks")
        try work.rollback()
        try stack.removeStorage(boxes)
        try other.setValue(.int(6), for: "number")
        try work.commit()
        #expect(try stack.fetchOne(From<DynamicObject>(entity: "Other"))?.value("number") == .int(6))
    }
}
