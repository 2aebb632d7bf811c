import Polystore
import TestStores

extension TestStore {
    func stack() throws -> DataStack {
        let stack = try DataStack(Person.self, Animal.self, Dog.self)
        try stack.addStorageAndWait(make())
        return stack
    }
}
