import Foundation
import PolystoreStorage
import PolystoreTransfer
import TestStores
import Testing

/// What is loaded keeps the rules of the model, as what is committed.
@Suite struct LoadRuleTests {
    private static let pets = "[{\"file\": \"p.csv\", \"entity\": \"Pet\", \"relationships\": {\"owner\": {\"name\": \"owner\"}}}]"

    private func schema() throws -> Schema {
        try Schema(entities: [
            Entity(
                "Owner", attributes: [Attribute("name", .string)],
                relationships: [Relationship("pets", to: "Pet", .toMany, inverse: "owner", maxCount: 2)]),
            Entity(
                "Pet",
                attributes: [
                    Attribute("name", .string, rules: AttributeRules(minLength: 2, maxLength: 5, pattern: "[a-z]+")),
                    Attribute("age", .int64, isOptional: true, rules: AttributeRules(minimum: .int(0), maximum: .int(30))),
                ], relationships: [Relationship("owner", to: "Owner", isOptional: false, inverse: "pets")]),
        ])
    }

    private func files(_ kind: TestStore = .memory) throws -> Files {
        let files = try Files(schema(), kind)
        try files.load("[{\"file\": \"o.csv\", \"entity\": \"Owner\"}]", ["o.csv": "name\nAda\nBob\n"])
        return files
    }

    @Test(arguments: [
        ("rex,-5,Ada", "\"age\": the value must be at least 0"), ("rex,31,Ada", "\"age\": the value must be at most 30"),
        ("r,1,Ada", "\"name\": the value must have at least 2 characters"),
        ("rexrex,1,Ada", "\"name\": the value must have at most 5 characters"),
        ("Rex,1,Ada", "\"name\": the value must match [a-z]+"),
        ("rex,1,", "\"owner\": Pet.owner is required, but the column is nil"),
        ("rex,1,Eve", "\"owner\": Pet.owner is required, but no object of Owner has these values"),
    ]) func aRowThatBreaksARuleIsRefused(_ row: String, _ expected: String) throws {
        let files = try files()
        defer { files.close() }
        #expect(files.message(Self.pets, ["p.csv": "name,age,owner\ntom,,Ada\n\(row)\n"]) == "p.csv, line 3, column \(expected)")
        #expect(try files.values("Pet", "name").isEmpty)
        #expect(files.message(Self.pets, ["p.csv": "name,age,owner\ntom,,Ada\nrex,30,Bob\n"]) == "loaded [2]")
    }

    @Test func aRequiredRelationshipWithoutColumnsIsRefused() throws {
        let files = try files()
        defer { files.close() }
        let message = files.message("[{\"file\": \"p.csv\", \"entity\": \"Pet\"}]", ["p.csv": "name\nrex\n"])
        #expect(message.contains("Pet.owner is required, but has no columns"))
    }

    @Test(arguments: TestStore.all) func aToManyRelationshipOverItsMaximumCountIsRefused(_ kind: TestStore) throws {
        let files = try files(kind)
        defer { files.close() }
        try files.load(Self.pets, ["p.csv": "name,age,owner\nrex,1,Ada\n"])
        #expect(
            files.message(Self.pets, ["p.csv": "name,age,owner\ntom,1,Ada\ntim,1,Ada\n"])
                == "Owner.pets must have 0 to 2 objects; nothing was loaded")
        #expect(files.message(Self.pets, ["p.csv": "name,age,owner\ntom,1,Ada\ntim,1,Bob\n"]) == "loaded [2]")
    }

    @Test(arguments: TestStore.all) func aDuplicateNamesItsLineAndValue(_ kind: TestStore) throws {
        let schema = try Schema(entities: [
            Entity("Note", attributes: [Attribute("mail", .string)], uniqueConstraints: [UniqueConstraint(["mail"])])
        ])
        let files = try Files(schema, kind), mapping = "[{\"file\": \"n.csv\", \"entity\": \"Note\"}]"
        defer { files.close() }
        #expect(
            files.message(mapping, ["n.csv": "mail\na@x\nb@x\na@x\n"])
                == "n.csv, line 4: an earlier object in the files has the same mail (\"a@x\"); nothing was loaded")
        try files.load(mapping, ["n.csv": "mail\na@x\nb@x\n"])
        #expect(
            files.message(mapping, ["n.csv": "mail\nc@x\nb@x\n"])
                == "n.csv, line 3: an object of the store has the same mail (\"b@x\"); nothing was loaded")
        #expect(try files.values("Note", "mail") == [.string("a@x"), .string("b@x")])
    }

    // MARK: Nil

    private func texts(_ csv: String, nils: String? = nil) throws -> [Value] {
        let schema = try Schema(entities: [
            Entity(
                "Note",
                attributes: [
                    Attribute("id", .int64), Attribute("text", .string, isOptional: true, defaultValue: .string("none")),
                    Attribute("n", .int64, isOptional: true),
                ])
        ])
        let files = try Files(schema, .memory)
        defer { files.close() }
        let mapping = "{\(nils.map { "\"nil\": \($0), " } ?? "")\"files\": [{\"file\": \"n.csv\", \"entity\": \"Note\"}]}"
        _ = try FileLoader.load(LoadMapping(json: Data(mapping.utf8)), into: files.store) { _ in FileBlocks(Data(csv.utf8)) }
        return try files.values("Note", "text")
    }

    @Test func onlyAnEmptyFieldWithoutQuotesIsNilByItself() throws {
        #expect(
            try texts("id,text,n\n1,NA,1\n2,,2\n3,\"\",\n4,null,\"\"\n") == [.string("NA"), .null, .string(""), .string("null")])
        #expect(try texts("id,text\n1,NA\n2,\n", nils: "[\"NA\"]") == [.null, .string("")])
        #expect(try texts("id\n1\n") == [.string("none")])
    }

    // MARK: Blocks

    @Test func aFileInSmallBlocksIsTheSameFile() throws {
        let schema = try Schema(entities: [Entity("Note", attributes: [Attribute("id", .int64), Attribute("text", .string)])])
        for size in 1...9 {
            let files = try Files(schema, .memory)
            defer { files.close() }
            try files.load(
                "[{\"file\": \"a.CSV\", \"entity\": \"Note\"}, {\"file\": \"b.ndjson\", \"entity\": \"Note\"}]",
                [
                    "a.CSV": "\u{feff}id,text\r\n1,\"a\"\"\r\nb, c\"\r\n2,\u{20ac}\n3,d\r4,e",
                    "b.ndjson": "{\"id\": 5, \"text\": \"f\"}\n\n{\"id\": 6, \"text\": \"\\u20ac\"}",
                ], blockSize: size)
            let expected = ["a\"\r\nb, c", "\u{20ac}", "d", "e", "f", "\u{20ac}"].map(Value.string)
            #expect(try files.values("Note", "text") == expected, "\(size)")
        }
    }

    @Test func notANumberIsRefused() throws {
        let schema = try Schema(entities: [
            Entity("Note", attributes: [Attribute("a", .double, isOptional: true), Attribute("d", .decimal, isOptional: true)])
        ])
        let files = try Files(schema, .memory)
        defer { files.close() }
        for text in ["a\nnan", "a\nNaN", "d\nNaN", "d\ninf", "d\n-Infinity"] {
            let message = files.message("[{\"file\": \"n.csv\", \"entity\": \"Note\"}]", ["n.csv": text])
            #expect(message.hasPrefix("n.csv, line 2, column \"\(text.prefix(1))\": "), "\(message)")
        }
    }
}
