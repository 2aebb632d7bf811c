import PolystoreQuery
import PolystoreSchema
import Testing

@Suite struct PredicateTextTests {
    @Test(arguments: [
        "age > 30", "name == \"a\\\"b\"", "x IN {1, 2.5, NIL}", "owner.name BEGINSWITH \"A\"", "a BETWEEN {1, 2}",
        "(a == 1) AND ((b == TRUE) OR (c != NIL))", "NOT (a < DATE \"2013-01-01T10:00:00Z\")", "p == DECIMAL \"1.5\"",
    ]) func printingAndParsingAreInverse(_ text: String) throws {
        let predicate = try Predicate(parsing: text)
        #expect(try Predicate(parsing: predicate.description) == predicate)
    }

    @Test func anErrorNamesThePlaceAndWhatWasExpected() {
        let error = #expect(throws: QueryError.self) { try Predicate(parsing: "age > ") }
        #expect(error?.message == "at character 7: a property or a constant is expected")
    }

    @Test func aWrongNameIsAnsweredWithTheNearest() throws {
        let schema = try Schema(entities: [Entity("Person", attributes: [Attribute("name", .string)])])
        let error = #expect(throws: QueryError.self) {
            try FetchRequest("Person", where: Predicate(parsing: "nmae == 'x'")).plan(in: schema)
        }
        #expect(error?.path == "nmae")
        #expect(error?.message.contains("did you mean \"name\"?") == true)
    }

    @Test func aWrongTypeIsAnError() throws {
        let schema = try Schema(entities: [Entity("Person", attributes: [Attribute("age", .int64)])])
        #expect(throws: QueryError.self) { try FetchRequest("Person", where: Predicate(parsing: "age == 'x'")).plan(in: schema) }
    }
}
