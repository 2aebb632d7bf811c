import Foundation
import PolystoreCompatibility
import PolystoreInMemory
import Testing

/// The cases of CoreStore's error as patterns.
@Suite struct CoreStoreErrorTests {
    private struct OwnError: Error {}

    private func kind(_ error: any Error) -> String {
        do { throw error } catch CoreStoreError.userCancelled {
            return "userCancelled"
        } catch CoreStoreError.differentStorageExistsAtURL {
            return "differentStorageExistsAtURL"
        } catch CoreStoreError.mappingModelNotFound {
            return "mappingModelNotFound"
        } catch CoreStoreError.progressiveMigrationRequired {
            return "progressiveMigrationRequired"
        } catch CoreStoreError.asynchronousMigrationRequired {
            return "asynchronousMigrationRequired"
        } catch CoreStoreError.persistentStoreNotFound {
            return "persistentStoreNotFound"
        } catch CoreStoreError.userError {
            return "userError"
        } catch CoreStoreError.internalError {
            return "internalError"
        } catch CoreStoreError.unknown {
            return "unknown"
        } catch {
            return "none"
        }
    }

    @Test func errorsMatchTheCaseOfCoreStore() {
        #expect(kind(StorageError(.cancelled, "")) == "userCancelled")
        #expect(kind(StorageError(.alreadyExists, "")) == "differentStorageExistsAtURL")
        #expect(kind(StorageError(.noMigrationPath, "")) == "mappingModelNotFound")
        #expect(kind(StorageError(.dataLossRefused, "")) == "mappingModelNotFound")
        #expect(kind(StorageError(.schemaMismatch, "")) == "asynchronousMigrationRequired")
        #expect(kind(StorageError(.notFound, "")) == "persistentStoreNotFound")
        #expect(kind(StorageError(.diskFull, "")) == "internalError")
        #expect(kind(OwnError()) == "userError")
        #expect(kind(CoreStoreError(OwnError())) == "userError" && CoreStoreError(OwnError()).cause is OwnError)
        #expect(kind(CoreStoreError(nil)) == "unknown")
    }

    @Test func aSwitchMatchesCasesWithoutTheirMessages() {
        func name(_ error: CoreStoreError) -> String {
            switch error {
            case .userCancelled: "cancelled"
            case .userError: "user"
            case .internalError: "internal"
            default: "other"
            }
        }
        #expect(name(StorageError(.cancelled, "another message")) == "cancelled")
        #expect(name(StorageError(.corrupted, "")) == "internal" && name(StorageError(.notFound, "")) == "other")
    }

    @Test func errorsHaveTheNumbersAndTheDomainOfCoreStore() {
        #expect(CoreStoreError.errorDomain == "com.corestore.error")
        #expect(CoreStoreError.unknown.errorCode == 0 && StorageError(.alreadyExists, "").errorCode == 1)
        #expect(StorageError(.schemaMismatch, "").errorCode == 4 && StorageError(.timeout, "").errorCode == 5)
        #expect(CoreStoreError(OwnError()).errorCode == 6 && CoreStoreError.userCancelled.errorCode == 7)
        #expect(StorageError(.notFound, "").errorCode == CoreStoreErrorCode.persistentStoreNotFound.rawValue)
    }

    @Test func errorsAreEqualByCodeMessageAndDetailsWhateverTheirCause() {
        let error = StorageError(.busy, "a", details: .init(entity: "Person"))
        #expect(error == StorageError(.busy, "a", details: .init(entity: "Person"), cause: OwnError()))
        #expect(error != StorageError(.busy, "b", details: .init(entity: "Person")))
        #expect(error != StorageError(.timeout, "a", details: .init(entity: "Person")))
        #expect(error != StorageError(.busy, "a"))
        #expect(Set([error, StorageError(.busy, "a", details: .init(entity: "Person"))]).count == 1)
    }

    @Test(arguments: [false, true]) func aFailureIsAnErrorOfCoreStore(_ isCancelled: Bool) throws {
        let dataStack = try sampleStack(), done = Done()
        try dataStack.addStorageAndWait(InMemoryStore())
        dataStack.perform(
            asynchronous: { (transaction) -> Void in
                if isCancelled { try transaction.cancel() }
                throw OwnError()
            },
            success: { done("success") },
            failure: { (error: CoreStoreError) in
                switch error {
                case .userCancelled: done("cancelled")
                case .userError: done("\(error.cause is OwnError)")
                default: done("\(error)")
                }
            })
        #expect(done.wait() == (isCancelled ? "cancelled" : "true"))
    }

    // MARK: Errors of transactions

    private func dataStack() throws -> DataStack {
        let dataStack = try sampleStack()
        try dataStack.addStorageAndWait(InMemoryStore())
        return dataStack
    }

    private static func outcome(_ error: CoreStoreError) -> String {
        switch error {
        case .userCancelled: "cancelled"
        case .userError: "user \(error.cause is OwnError)"
        default: "\(error)"
        }
    }

    private static func fail(_ transaction: WriteTransaction, _ isCancelled: Bool) throws {
        _ = try transaction.create(MyPersonEntity.self)
        if isCancelled { try transaction.cancel() }
        throw OwnError()
    }

    @Test(arguments: [false, true]) func aSynchronousTransactionThrowsAnErrorOfCoreStore(_ isCancelled: Bool) throws {
        let dataStack = try dataStack(), expected = isCancelled ? "cancelled" : "user true"
        do {
            try dataStack.perform(synchronous: { try Self.fail($0, isCancelled) })
            Issue.record("nothing was thrown")
        } catch { #expect(Self.outcome(error) == expected) }
        do {
            try dataStack.perform(synchronous: { try Self.fail($0, isCancelled) }, waitForAllObservers: false)
            Issue.record("nothing was thrown")
        } catch { #expect(Self.outcome(error) == expected) }
        do {
            try dataStack.perform(synchronous: { try Self.fail($0, isCancelled) }, sourceIdentifier: "test")
            Issue.record("nothing was thrown")
        } catch { #expect(Self.outcome(error) == expected) }
        #expect(try dataStack.fetchCount(From<MyPersonEntity>()) == 0)
    }

    @Test(arguments: [false, true]) func anAsynchronousTransactionFailsWithAnErrorOfCoreStore(_ isCancelled: Bool) throws {
        let dataStack = try dataStack(), expected = isCancelled ? "cancelled" : "user true"
        let done = Done()
        dataStack.perform(
            asynchronous: { (transaction) -> Void in try Self.fail(transaction, isCancelled) },
            completion: { (result) -> Void in
                switch result {
                case .success: done("success")
                case .failure(.userCancelled): done("cancelled")
                case .failure(let error): done(Self.outcome(error))
                }
            })
        #expect(done.wait() == expected)
        dataStack.perform(
            asynchronous: { (transaction) -> Void in try Self.fail(transaction, isCancelled) }, sourceIdentifier: "test",
            completion: { result in
                switch result {
                case .success: done("success")
                case .failure(let error): done(Self.outcome(error))
                }
            })
        #expect(done.wait() == expected)
        dataStack.perform(
            asynchronous: { (transaction) -> Void in try Self.fail(transaction, isCancelled) }, success: { done("success") },
            failure: { (error) -> Void in done(Self.outcome(error)) })
        #expect(done.wait() == expected)
    }

    @Test(arguments: [false, true]) func anAwaitedTransactionThrowsAnErrorOfCoreStore(_ isCancelled: Bool) async throws {
        let dataStack = try dataStack()
        do {
            try await dataStack.async.perform { try Self.fail($0, isCancelled) }
            Issue.record("nothing was thrown")
        } catch { #expect(Self.outcome(error) == (isCancelled ? "cancelled" : "user true")) }
    }

    @Test func theNativeFormsThrowTheErrorOfTheProgram() async throws {
        let dataStack = try dataStack()
        #expect(throws: OwnError.self) { try dataStack.perform(author: .none, synchronous: { try Self.fail($0, false) }) }
        await #expect(throws: OwnError.self) { try await dataStack.perform { try Self.fail($0, false) } }
    }

    @Test func anErrorOfAStoreRemainsItself() throws {
        let dataStack = try dataStack()
        do {
            try dataStack.perform(synchronous: { _ in throw StorageError(.busy, "a") })
            Issue.record("nothing was thrown")
        } catch { #expect(error == StorageError(.busy, "a")) }
        #expect(CoreStoreError.userError(error: OwnError()) == CoreStoreError(OwnError()))
        #expect(CoreStoreError.userError(error: OwnError()).cause is OwnError)
    }
}
