#if Macros
import Foundation
import Polystore
import PolystoreCatalog
import PolystoreConformance
import PolystoreDefaults
import PolystoreInMemory
import PolystoreMacros
import Testing

/// The samples of "Testing Your Code".
@Suite(.scratch) struct TestingYourCodeSamples {
    @Model final class Account: ManagedObject {
        @Attribute(.unique) var name: String = ""
        var balance: Int = 0
    }

    struct Bank: Sendable {
        let stack: DataStack

        func open(_ name: String, with amount: Int) async throws {
            try await stack.perform { transaction in
                let account = try transaction.create(Account.self)
                (account.name, account.balance) = (name, amount)
            }
        }

        /// Whether the money was moved.
        func move(_ amount: Int, from source: String, to target: String) async throws -> Bool {
            try await stack.perform { transaction in
                guard let payer = try transaction.fetchOne(From<Account>().where(\.name == source)),
                    let payee = try transaction.fetchOne(From<Account>().where(\.name == target)), payer.balance >= amount
                else { return false }
                payer.balance -= amount
                payee.balance += amount
                return true
            }
        }
    }

    @Test func moneyIsMoved() async throws {

        let bank = Bank(stack: try DataStack.preview(Account.self))
        try await bank.open("Ann", with: 10)
        try await bank.open("Bob", with: 0)
        #expect(try await bank.move(7, from: "Ann", to: "Bob"))
        #expect(try await !bank.move(7, from: "Ann", to: "Bob"))
        #expect(try bank.stack.fetchAll(From<Account>().orderBy(.ascending(\.name))).map(\.balance) == [3, 7])
    }

    private func inFolder(_ url: String) -> String { url == "memory:" ? url : scratch(url) }

    @Test(arguments: ["memory:", "sqlite:bank.db", "lmdb:bank.lmdb"])
    func namesAreUnique(_ url: String) async throws {
        let stack = try DataStack(Account.self)
        try await stack.addStorage(StoreCatalog.standard.store(at: StoreURL(inFolder(url))))
        let bank = Bank(stack: stack)
        try await bank.open("Ann", with: 10)
        let error = await #expect(throws: StorageError.self) { try await bank.open("Ann", with: 20) }
        #expect(error?.code == .uniqueConstraintViolated && error?.details.property == "name")
    }

    @Test func relationshipsAreStrict() throws {
        let stack = try DataStack.preview(Account.self)
        stack.relationships = .strict
        #expect(stack.relationships == .strict)
    }

    @Test func aStoreFails() async throws {

        let store = FailingStore(InMemoryStore())
        let stack = try DataStack(Account.self)
        try await stack.addStorage(store)
        let bank = Bank(stack: stack)
        store.fail(.commit, with: StorageError(.diskFull, "no space is left"))
        await #expect(throws: StorageError.self) { try await bank.open("Ann", with: 10) }
        #expect(try stack.fetchCount(From<Account>()) == 0)
        try await bank.open("Ann", with: 10)
        store.fail(.beginRead, with: StorageError(.connectionLost, "the server does not respond"), times: nil)
        #expect(throws: StorageError.self) { try stack.fetchCount(From<Account>()) }
        store.repair()
        #expect(try stack.fetchCount(From<Account>()) == 1)
        store.fail(.commit, with: StorageError(.serializationFailure, "another transaction was first"), times: 2)
        let attempts = try await stack.perform { transaction in
            try transaction.create(Account.self).name = "Bob"
            return transaction.attempt
        }
        #expect(attempts > 1)
        #expect(attempts == 3)
    }

    @Test func aCommitIsDoneAlthoughItsConfirmationIsLost() async throws {
        let store = FailingStore(InMemoryStore()), stack = try DataStack(Account.self)
        try await stack.addStorage(store)
        store.fail(.confirm, with: StorageError(.commitOutcomeUnknown, "the connection was lost"))
        let error = await #expect(throws: StorageError.self) { try await Bank(stack: stack).open("Ann", with: 10) }
        #expect(error?.code == .commitOutcomeUnknown)
        #expect(try stack.fetchCount(From<Account>()) == 1)
    }

    @Test func aStoreIsNotOpened() throws {
        let store = FailingStore(InMemoryStore()), stack = try DataStack(Account.self)
        store.fail(.open, with: StorageError(.connectionLost, "the server does not respond"))
        let error = #expect(throws: StorageError.self) { try stack.addStorageAndWait(store) }
        #expect(error?.code == .connectionLost)
        try stack.addStorageAndWait(store)
        store.fail(.beginWrite, with: StorageError(.busy, "others write"))
        let refused = #expect(throws: StorageError.self) { try stack.perform(synchronous: { _ = try $0.create(Account.self) }) }
        #expect(refused?.code == .busy)
    }
}
#endif
