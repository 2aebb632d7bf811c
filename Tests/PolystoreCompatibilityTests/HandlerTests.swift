import Foundation
import PolystoreCompatibility
import PolystoreInMemory
import Testing

/// The handlers of `perform(asynchronous:)` as an object of the main actor gives them, without annotations.
@Suite(.timeLimit(.minutes(2))) @MainActor struct HandlerTests {
    private final class Pet: CoreStoreObject {
        @Field.Stored("name") var name: String = ""
    }

    private struct Own: Error {}

    @MainActor private final class Controller {
        let dataStack: DataStack
        var calls: [String] = []

        init(_ dataStack: DataStack) { self.dataStack = dataStack }

        func note(_ call: String) { calls.append(call) }

        func show(_ pet: Pet) { note("created \((try? dataStack.fetchExisting(pet))?.name ?? "nothing")") }

        func save() {
            dataStack.perform(
                asynchronous: { transaction -> Void in
                    let pet = try transaction.create(Into<Pet>())
                    pet.name = "Rex"
                },
                completion: { result in
                    switch result {
                    case .success: self.note("completed")
                    case .failure(let error): self.note("\(error)")
                    }
                })
            dataStack.perform(
                asynchronous: { transaction -> Pet in try transaction.create(Into<Pet>()) },
                success: { pet in self.show(pet) },
                failure: { error in self.note("\(error)") })
            dataStack.perform(
                asynchronous: { transaction -> Pet in try transaction.create(Into<Pet>()) },
                completion: { result in
                    if case .success(let pet) = result { self.show(pet) }
                })
            dataStack.perform(
                asynchronous: { _ -> Void in throw Own() }, success: { self.note("saved") },
                failure: { error in self.note("failed \(error.cause is Own)") })
        }
    }

    @Test func handlersRunOnTheMainActorInOrder() async throws {
        let stack = try DataStack(CoreStoreSchema(modelVersion: "1", entities: [Entity<Pet>("Pet")]))
        try stack.addStorageAndWait(InMemoryStore())
        let controller = Controller(stack)
        controller.save()
        while controller.calls.count < 4 { try await Task.sleep(for: .milliseconds(1)) }
        #expect(controller.calls == ["completed", "created ", "created ", "failed true"])
    }
}
