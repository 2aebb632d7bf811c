import Polystore
import Testing

/// The error for a class that does not fit the schema of its stack names the difference.
@Suite struct ModelDifferenceTests {
    private func message(_ change: (inout Entity) -> Void) throws -> String? {
        var person = Person.declaration
        change(&person)
        let schema = try Schema(entities: [person, Animal.declaration, Dog.declaration])
        do throws(StorageError) {
            _ = try DataStack(schema: schema, models: [Person.self, Animal.self, Dog.self])
        } catch {
            return error.message
        }
        return nil
    }

    @Test func aClassThatFitsIsAccepted() throws { #expect(try message { _ in } == nil) }

    @Test func theOrderOfAttributesIsNamed() throws {
        let text = try #require(try message { $0.attributes.swapAt(0, 1) })
        #expect(
            text.contains("Person")
                && text.contains("differently from the schema: the class declares attribute \"name\" where the schema has "))
    }

    @Test func aMissingAttributeIsNamed() throws {
        let name = Person.declaration.attributes[1].name
        #expect(
            try message { ($0.attributes, $0.indexes) = ($0.attributes.filter { $0.name != name }, []) }?.contains(
                "the schema has no attribute \"\(name)\"") == true)
        #expect(
            try message { $0.attributes.append(Attribute("shoes", .int32, isOptional: true)) }?.contains(
                "the class has no attribute \"shoes\"") == true)
    }

    @Test func otherSettingsAreNamed() throws {
        #expect(try message { $0.attributes[0].defaultValue = .string("?") }?.contains("attribute \"name\" has other settings") == true)
        #expect(
            try message { $0.indexes.append(Index(["name", "age"])) }?.contains("indexes, constraints or other settings differ") == true)
    }
}
