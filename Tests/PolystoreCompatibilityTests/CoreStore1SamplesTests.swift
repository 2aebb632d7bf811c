import Foundation
import PolystoreCompatibility
import PolystoreInMemory
import Testing

// The samples of CoreStore 1's document on transactions, one test for each. `edit` can find that the object is gone, so it is unwrapped;
// `Into(MyPersonEntity)` is `Into(MyPersonEntity.self)` since Swift 3.

@Suite struct CoreStore1SamplesTests {
    private let dataStack: DataStack

    init() throws {
        dataStack = try sampleStack()
        try dataStack.addStorageAndWait(InMemoryStore())
        try dataStack.perform(synchronous: { transaction in
            for name in ["Jane Smith", "John Smith", "Old Man"] {
                let person = try transaction.create(MyPersonEntity.self)
                person.name = name
                person.age = name == "Old Man" ? 80 : 20
            }
        })
    }

    private func people() throws -> [String] { try dataStack.fetchAll(From<MyPersonEntity>()).map { "\($0.name ?? "-") \($0.age)" } }

    private func person(_ name: String) throws -> sending MyPersonEntity {
        guard let person = try dataStack.fetchOne(From<MyPersonEntity>(), Where("name", isEqualTo: name)) else {
            throw StorageError(.notFound, name)
        }
        return person
    }

    @Test func creatingAndUpdating() throws {
        let done = Done()
        dataStack.beginAsynchronous { (transaction) -> Void in
            let person = try transaction.create(Into(MyPersonEntity.self))
            person.name = "John Smith"
            person.age = 30
            try transaction.commit { _ in done() }
        }
        #expect(done.wait() != nil)
        #expect(try people().last == "John Smith 30")
    }

    @Test func completionsComeOnTheMainQueue() throws {
        let key = DispatchSpecificKey<Bool>(), done = Done()
        DispatchQueue.main.setSpecific(key: key, value: true)
        dataStack.beginAsynchronous { (transaction) -> Void in
            _ = try transaction.create(Into(MyPersonEntity.self))
            try transaction.commit { _ in done(DispatchQueue.getSpecific(key: key) == true ? "main" : "another") }
        }
        #expect(done.wait() == "main")
    }

    @Test func aFailureAfterTheCommitReachesItsCompletion() throws {
        let done = Done()
        dataStack.beginAsynchronous { (transaction) -> Void in
            try transaction.commit { result in
                switch result {
                case .success: done("success")
                case .failure(let error): done((error as? StorageError)?.code.description ?? "another error")
                }
            }
            throw StorageError(.notFound, "after the commit")
        }
        #expect(done.wait() == "notFound")
    }

    @Test func aCommitWithoutACompletionIsStored() throws {
        let done = Done()
        dataStack.beginAsynchronous { (transaction) -> Void in
            try transaction.create(Into(MyPersonEntity.self)).name = "New Man"
            try transaction.commit()
        }
        // Asynchronous transactions run one after the other.
        dataStack.beginAsynchronous { transaction in try transaction.commit { _ in done() } }
        #expect(done.wait() != nil)
        #expect(try people().last == "New Man 0")
    }

    @Test func aCommitThatTheStoreRefusesReachesItsCompletion() throws {
        let stack = try DataStack(V2.schema()), done = Done()
        try stack.addStorageAndWait(InMemoryStore())
        stack.beginAsynchronous { (transaction) -> Void in
            let id = UUID()
            for _ in 0..<2 { try transaction.create(Into<V2.Cat>()).id = id }
            try transaction.commit { result in
                switch result {
                case .success: done("success")
                case .failure(let error): done((error as? StorageError)?.code.description ?? "another error")
                }
            }
        }
        #expect(done.wait() == "uniqueConstraintViolated")
        #expect(try stack.fetchCount(From<V2.Cat>()) == 0)
    }

    @Test func uncommittedChangesAreUndoneWithAWarning() throws {
        let logger = RecordingLogger(), warning = "warning: a transaction ended with uncommitted changes, which were rolled back"
        try logger.recording {
            try dataStack.beginSynchronous { transaction in _ = try transaction.create(Into(MyPersonEntity.self)) }
            #expect(logger.messages("uncommitted") == [warning])
            // Nothing was changed, so nothing is lost.
            try dataStack.beginSynchronous { transaction in _ = try transaction.fetchAll(From<MyPersonEntity>()) }
            #expect(logger.messages("uncommitted").count == 1)
        }
        let other = RecordingLogger()
        other.recording {
            dataStack.beginAsynchronous { transaction in _ = try transaction.create(Into(MyPersonEntity.self)) }
            #expect(other.message("uncommitted") == warning)
        }
        #expect(try people().count == 3)
    }

    @Test func updatingWhatWasFetched() throws {
        let done = Done()
        dataStack.beginAsynchronous { (transaction) -> Void in
            let person = try transaction.fetchOne(
                From(MyPersonEntity.self),
                Where("name", isEqualTo: "Jane Smith")
            )!
            person.age = person.age + 1
            try transaction.commit { _ in done() }
        }
        #expect(done.wait() != nil)
        #expect(try people()[0] == "Jane Smith 21")
    }

    @Test func editing() throws {
        let jane: MyPersonEntity = try person("Jane Smith")
        let done = Done()
        dataStack.beginAsynchronous { (transaction) -> Void in
            // WRONG: jane.age = jane.age + 1
            // RIGHT:
            let jane = try transaction.edit(jane)!  // using the same variable name protects us from misusing the non-transaction instance
            jane.age = jane.age + 1
            try transaction.commit { _ in done() }
        }
        #expect(done.wait() != nil)
        #expect(try person("Jane Smith").age == 21)
    }

    @Test func editingRelationships() throws {
        let jane: MyPersonEntity = try person("Jane Smith")
        let john: MyPersonEntity = try person("John Smith")
        let done = Done()
        dataStack.beginAsynchronous { (transaction) -> Void in
            // WRONG: jane.friends = [john]
            // RIGHT:
            let jane = try transaction.edit(jane)!
            let john = try transaction.edit(john)!
            jane.friends = [john]
            try transaction.commit { _ in done() }
        }
        #expect(done.wait() != nil)
        let names = try dataStack.read(synchronous: { source in
            try source.fetchOne(From<MyPersonEntity>(), Where("name", isEqualTo: "Jane Smith"))?.friends.compactMap(\.name)
        })
        #expect(names == ["John Smith"])
    }

    @Test func deleting() throws {
        let john: MyPersonEntity = try person("John Smith")
        let done = Done()
        dataStack.beginAsynchronous { (transaction) -> Void in
            try transaction.delete(john)
            try transaction.commit { _ in done() }
        }
        #expect(done.wait() != nil)
        #expect(try people() == ["Jane Smith 20", "Old Man 80"])
    }

    @Test(arguments: [false, true]) func deletingSeveral(_ asList: Bool) throws {
        let john: MyPersonEntity = try person("John Smith")
        let jane: MyPersonEntity = try person("Jane Smith")
        let done = Done()
        dataStack.beginAsynchronous { (transaction) -> Void in
            if asList {
                try transaction.delete([john, jane])
            } else {
                try transaction.delete(john, jane)
            }
            try transaction.commit { _ in done() }
        }
        #expect(done.wait() != nil)
        #expect(try people() == ["Old Man 80"])
    }

    @Test func deletingWhatAQueryFinds() throws {
        let done = Done()
        dataStack.beginAsynchronous { (transaction) -> Void in
            try transaction.deleteAll(
                From(MyPersonEntity.self),
                Where("age > 30")
            )
            try transaction.commit { _ in done() }
        }
        #expect(done.wait() != nil)
        #expect(try people() == ["Jane Smith 20", "John Smith 20"])
    }

    @Test func synchronously() throws {
        try dataStack.beginSynchronous { (transaction) -> Void in
            try transaction.fetchOne(From(MyPersonEntity.self))?.age = 21
            try transaction.commit()
        }
        #expect(try people()[0] == "Jane Smith 21")
    }

    @Test func detached() throws {
        func downloadJSONWithCompletion(_ body: (Int) throws -> Void) rethrows { try body(33) }
        func downloadAnotherJSONWithCompletion(_ body: (Int) throws -> Void) rethrows { try body(44) }

        let transaction = dataStack.beginDetached()
        try transaction.fetchOne(From(MyPersonEntity.self))?.name = "Detached"
        #expect(try people()[0] == "Jane Smith 20")
        try downloadJSONWithCompletion({ (json) -> Void in

            try transaction.fetchOne(From(MyPersonEntity.self))?.age = json
            try transaction.commit()
        })
        #expect(try people()[0] == "Detached 33")
        try downloadAnotherJSONWithCompletion({ (json) -> Void in

            try transaction.fetchOne(From(MyPersonEntity.self))?.age = json
            try transaction.commit()
        })
        #expect(try people()[0] == "Detached 44")
    }

    @Test func whereNewObjectsGo() throws {
        let stack = try sampleStack()
        try stack.addStorageAndWait(InMemoryStore(configuration: "Config1"))
        try stack.addStorageAndWait(InMemoryStore(configuration: "Config2"))
        try stack.beginSynchronous { (transaction) -> Void in
            let object = try transaction.create(Into<MyEntity>("Config1"))
            object.entityID = 1
            _ = try transaction.create(Into(MyPersonEntity.self))
            #expect { try transaction.create(Into(MyEntity.self)) } throws: { ($0 as? StorageError)?.code == .invalidConfiguration }
            #expect { try transaction.create(Into<MyEntity>(nil)) } throws: { ($0 as? StorageError)?.code == .notFound }
            try transaction.commit()
        }
        #expect(try stack.fetchCount(From<MyEntity>("Config1")) == 1)
        #expect(try stack.fetchCount(From<MyEntity>("Config2")) == 0)
        #expect(try stack.fetchCount(From<MyPersonEntity>("Config2")) == 1)
    }
}
