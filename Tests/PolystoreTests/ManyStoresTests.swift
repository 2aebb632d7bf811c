import PolystoreInMemory
import Testing

@testable import PolystoreObjects

@Suite struct ManyStoresTests {
    @Test func aStackTakesMoreStoresInItsLifeThanSixteenBitsCount() throws {
        let stack = try DataStack(Person.self, Animal.self, Dog.self), first = InMemoryStore()
        try stack.addStorageAndWait(first)
        try stack.perform(synchronous: { try $0.create(Person.self).name = "Old" })
        let old = try stack.fetchAll(From<Person>())[0], entry = stack.core.entries[0].entry
        try stack.removeStorage(first)
        let removed = (0..<70_000).filter { _ in
            stack.core.append(entry)
            return stack.core.remove(entry.store.storage) != nil
        }
        #expect(removed.count == 70_000)
        try stack.addStorageAndWait(InMemoryStore())
        #expect(stack.core.entries.map(\.position) == [70_001])

        try stack.perform(synchronous: { try $0.create(Person.self).name = "Ann" })
        let view = stack.makeViewContext()
        let ann = try view.fetchAll(From<Person>())
        #expect(ann.map(\.name) == ["Ann"])
        try stack.perform(synchronous: { try $0.edit(ann[0])?.name = "Bob" })
        #expect(try view.fetchAll(From<Person>())[0] === ann[0] && ann[0].name == "Bob")
        // What belongs to a store that was removed is not taken for something of another.
        #expect(old.name == "Old")
        #expect(throws: StorageError.self) { try stack.perform(synchronous: { try $0.edit(old)?.name = "New" }) }
    }
}
