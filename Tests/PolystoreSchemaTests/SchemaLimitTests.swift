import PolystoreSchema
import Testing

/// What is derived from a schema grows no faster than the schema.
@Suite(.timeLimit(.minutes(15))) struct SchemaLimitTests {
    private func chain(_ count: Int, _ attributes: String = "") -> String {
        let entities = (0..<count).map { number in
            "{\"name\": \"E\(number)\"\(number > 0 ? ", \"parent\": \"E\(number - 1)\"" : "")\(attributes)}"
        }
        return "{\"entities\": [\n\(entities.joined(separator: ",\n"))]}"
    }

    private func error(_ json: String) -> SchemaError? {
        do throws(SchemaError) { _ = try Schema(json: json) } catch { return error }
        return nil
    }

    @Test func aHundredParentsAreAllowedAndMoreNameTheLine() {
        #expect(error(chain(101)) == nil)
        let refusal = error(chain(3_000))
        #expect(refusal?.message == "the entity has more than 100 ancestors")
        #expect(refusal?.line != nil)
    }

    @Test func aLoopOfParentsIsNamedAsOne() {
        let json = "{\"entities\": [{\"name\": \"A\", \"parent\": \"B\"}, {\"name\": \"B\", \"parent\": \"A\"}]}"
        #expect(error(json)?.message == "its ancestors form a cycle")
    }

    @Test func manyEntitiesOfOneParentAreResolved() throws {
        let count = 10_000
        let children = (0..<count).map { Entity("E\($0)", parent: "Root", attributes: [Attribute("a", .int64)]) }
        let schema = try Schema(
            entities: [Entity("Root", isAbstract: true)] + children, configurations: ["All": ["Root"] + children.map(\.name)])
        #expect(schema.entities.count == count + 1)
        #expect(schema[0].name == "Root" && schema[0].family.count == count + 1)
        // By the bytes of the names behind the parent.
        #expect(schema.entities.dropFirst().map(\.name) == children.map(\.name).sorted())
    }

    @Test func manyRelationshipsWithInversesAreResolved() throws {
        let count = 4_000
        let entities = [
            Entity("A", relationships: (0..<count).map { Relationship("a\($0)", to: "B", .toMany, inverse: "b\($0)") }),
            Entity("B", relationships: (0..<count).map { Relationship("b\($0)", to: "A", .toMany) }),
        ]
        let schema = try Schema(entities: entities)
        #expect(schema.links.count == count)
        #expect(schema[1].relationships.allSatisfy { $0.relationship.inverse != nil })
    }

    @Test func longNamesAreShortenedInErrors() {
        let name = String(repeating: "x", count: 300_000)
        for json in [
            "{\"\(name)\": 1}", "{\"entities\": [{\"name\": \"\(name) \"}]}",
            "{\"entities\": [{\"name\": \"A\", \"parent\": \"\(name)\"}]}",
            "{\"entities\": [{\"name\": \"\(name)\", \"attributes\": [{\"name\": \"\(name)\", \"type\": \"int64\", \"\(name)\": 1}]}]}",
            "{\"a\\u001b[2J\": 1}",
        ] {
            let text = error(json)?.description ?? ""
            #expect(!text.isEmpty && text.utf8.count < 1_500 && !text.contains("\u{1b}"), "\(text.prefix(200))")
        }
    }
}
