#if Macros
import Foundation
import Polystore
import PolystoreMacros
import TestStores
import Testing

@Model final class Mailbox: ManagedObject, SaveAwareObject {
    var address: String
    var owner: String
    /// What the hook does.
    var hook: String = ""
    @Relationship var next: Mailbox?

    func willSave() {
        switch hook {
        case "own": owner = "none"
        case "next": next?.owner = "next"
        case "clear": owner = ""
        case "normalize": address = address.lowercased()
        case "ask": if hasBeenAssigned(\.address) { address = address.lowercased() }
        default: break
        }
    }
}

@Model final class MailRoom: ManagedObject, ValidatableObject {
    @Attribute(.minimum(1)) var number: Int = 1
    var code: String
    @Relationship(minCount: 1) var boxes: Set<Mailbox>

    func validate() throws { if number == 13 { throw ValidationFailure("number", "must not be 13") } }
}

/// Required attributes without an initial value, which a commit refuses if nothing has assigned them, and the validation before a commit.
@Suite struct RequiredAttributeTests {
    private func stack(_ kind: TestStore) throws -> DataStack {
        let stack = try DataStack(Mailbox.self, MailRoom.self)
        try stack.addStorageAndWait(kind.make())
        return stack
    }

    private func erase(_ stack: DataStack) { for storage in stack.storages { try? storage.erase() } }

    /// The properties that a commit of both kinds of transactions names, also after a fetch has written the object.
    private func missing(_ stack: DataStack, _ make: (BaseTransaction) throws -> Void) throws -> [[String]] {
        func named(_ commit: () throws -> Void) -> [String] {
            do {
                try commit()
                return []
            } catch {
                let error = error as? StorageError
                return error?.code == .validationFailed
                    ? error?.details.failures.compactMap(\.property).sorted() ?? [] : ["\(error as Any)"]
            }
        }
        let work = stack.beginUnsafe()
        try make(work)
        return [
            named { try stack.perform(synchronous: { try make($0) }) },
            named {
                try stack.perform(synchronous: { transaction in
                    try make(transaction)
                    #expect(try transaction.fetchCount(From<Mailbox>()) > 0)
                })
            },
            named { try work.commit() },
        ]
    }

    private func box(_ transaction: BaseTransaction, _ hook: String, address: String? = "A@B", owner: String? = nil) throws -> Mailbox {
        let box = try transaction.create(Mailbox.self)
        box.hook = hook
        if let address { box.address = address }
        if let owner { box.owner = owner }
        return box
    }

    @Test(arguments: TestStore.all) func whatAHookAssignsIsAssigned(_ kind: TestStore) throws {
        let stack = try stack(kind)
        defer { erase(stack) }
        #expect(try missing(stack) { _ = try box($0, "own") } == [[], [], []])
        #expect(try stack.fetchAll(From<Mailbox>()).map(\.owner) == ["none", "none", "none"])
        // An empty text is a value like others.
        #expect(try missing(stack) { _ = try box($0, "clear") } == [[], [], []])
        // Another object's hook, in both orders of creation.
        #expect(
            try missing(stack) { transaction in
                let first = try box(transaction, ""), middle = try box(transaction, "next", owner: "x"), last = try box(transaction, "")
                middle.next = last
                try box(transaction, "next", owner: "x").next = first
            } == [[], [], []])
        #expect(try stack.fetchCount(From<Mailbox>().where(\.owner == "next")) == 6)
    }

    @Test(arguments: TestStore.all) func whatStaysUnassignedIsReportedAfterTheHooks(_ kind: TestStore) throws {
        let stack = try stack(kind)
        defer { erase(stack) }
        #expect(try missing(stack) { _ = try box($0, "none") } == [["owner"], ["owner"], ["owner"]])
        #expect(try missing(stack) { _ = try box($0, "own", address: nil) } == [["address"], ["address"], ["address"]])
        #expect(try missing(stack) { _ = try box($0, "ask", address: nil) } == Array(repeating: ["address", "owner"], count: 3))
        // The placeholder that a hook reads and assigns counts as assigned.
        #expect(try missing(stack) { _ = try box($0, "normalize", address: nil, owner: "x") } == [[], [], []])
        #expect(try stack.fetchAll(From<Mailbox>()).map(\.address) == ["", "", ""])
    }

    @Test(arguments: TestStore.all) func objectsOfEarlierTransactionsMissNothing(_ kind: TestStore) throws {
        let stack = try stack(kind)
        defer { erase(stack) }
        try stack.perform(synchronous: { _ = try box($0, "", owner: "x") })
        try stack.perform(synchronous: { transaction in
            let box = try transaction.fetchAll(From<Mailbox>())[0]
            box.hook = "ask"
            #expect(box.hasBeenAssigned(\.address) && box.hasBeenAssigned(\.hook))
        })
        #expect(try stack.fetchAll(From<Mailbox>()).map(\.address) == ["a@b"])
        let work = stack.beginUnsafe(), known = try #require(try work.fetchOne(From<Mailbox>()))
        known.hook = "own"
        try work.commit()
        #expect(try stack.fetchAll(From<Mailbox>()).map(\.owner) == ["none"])
    }

    @Test(arguments: TestStore.all) func anObjectKnowsWhatWasAssigned(_ kind: TestStore) throws {
        let stack = try stack(kind)
        defer { erase(stack) }
        try stack.perform(synchronous: { transaction in
            let box = try transaction.create(Mailbox.self)
            #expect(!box.hasBeenAssigned(\.address) && !box.hasBeenAssigned(\.owner))
            // Neither has to be assigned.
            #expect(box.hasBeenAssigned(\.hook) && box.hasBeenAssigned(\.next))
            box.address = ""
            #expect(try transaction.fetchCount(From<Mailbox>()) == 1)
            #expect(box.hasBeenAssigned(\.address) && !box.hasBeenAssigned(\.owner))
            box.owner = "x"
            #expect(box.hasBeenAssigned(\.owner))
        })
        #expect(try stack.fetchAll(From<Mailbox>())[0].hasBeenAssigned(\.owner))
    }

    // MARK: Validation before a commit

    /// The error of a call.
    private func error(_ body: () throws -> Void) -> StorageError? {
        do {
            try body()
            return nil
        } catch {
            return error as? StorageError
        }
    }

    /// A room that breaks all kinds of rules.
    private func wrongRoom(_ transaction: BaseTransaction) throws -> MailRoom {
        let room = try transaction.create(MailRoom.self), other = try transaction.create(MailRoom.self)
        room.number = 0
        (other.number, other.code) = (13, "x")
        return room
    }

    private static let problems = ["boxes", "boxes", "code", "number", "number"]

    @Test(arguments: TestStore.all) func aValidationSaysWhatTheCommitWouldSay(_ kind: TestStore) throws {
        let stack = try stack(kind)
        defer { erase(stack) }
        var validated: StorageError?
        let committed = error {
            try stack.perform(synchronous: { transaction in
                _ = try wrongRoom(transaction)
                validated = error { try transaction.validate() }
            })
        }
        #expect(validated != nil && validated == committed)
        #expect(validated?.code == .validationFailed)
        #expect(validated?.details.failures.compactMap(\.property).sorted() == Self.problems)
        let work = stack.beginUnsafe()
        try work.validate()
        _ = try wrongRoom(work)
        let before = error { try work.validate() }
        #expect(before?.details.failures.compactMap(\.property).sorted() == Self.problems)
        #expect(before == error { try work.commit() } && before == error { try work.validate() })
    }

    @Test(arguments: TestStore.all) func aTransactionGoesOnAfterAValidation(_ kind: TestStore) throws {
        let stack = try stack(kind)
        defer { erase(stack) }
        func correct(_ transaction: BaseTransaction) throws {
            let room = try wrongRoom(transaction)
            #expect(error { try transaction.validate() }?.code == .validationFailed)
            // The members of a deleted object are not counted.
            try transaction.delete(transaction.insertedObjects(MailRoom.self).filter { $0 !== room })
            #expect(error { try transaction.validate() }?.details.failures.compactMap(\.property).sorted() == ["boxes", "code", "number"])
            (room.number, room.code, room.boxes) = (1, "a", [try box(transaction, "own", owner: "mine")])
            try transaction.validate()
            // The hook has not run.
            #expect(room.boxes.map(\.owner) == ["mine"])
        }
        try stack.perform(synchronous: { try correct($0) })
        let work = stack.beginUnsafe()
        try correct(work)
        try work.commit()
        #expect(try stack.fetchAll(From<Mailbox>()).map(\.owner) == ["none", "none"])
        #expect(try stack.fetchCount(From<MailRoom>()) == 2)
    }

    /// As in Core Data, where only a save calls `willSave`.
    @Test(arguments: TestStore.all) func whatOnlyAHookAssignsIsNotThereYet(_ kind: TestStore) throws {
        let stack = try stack(kind)
        defer { erase(stack) }
        try stack.perform(synchronous: { transaction in
            _ = try box(transaction, "own")
            #expect(error { try transaction.validate() }?.details.property == "owner")
        })
        #expect(try stack.fetchAll(From<Mailbox>()).map(\.owner) == ["none"])
    }

    @Test func aTransactionThatHasEndedIsNotValidated() throws {
        let stack = try stack(.memory)
        var ended: WriteTransaction?
        try stack.perform(synchronous: { ended = $0 })
        #expect(error { try ended?.validate() }?.code == .storeClosed)
        var validated: StorageError?
        let cancelled = error {
            try stack.perform(synchronous: { transaction in
                _ = error { try transaction.cancel() }
                validated = error { try transaction.validate() }
            })
        }
        #expect(cancelled?.code == .cancelled && validated?.code == .cancelled)
    }
}
#endif
