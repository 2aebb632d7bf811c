import Foundation
import PolystoreInMemory
import PolystoreStorage
import PolystoreTransfer
import Testing

/// Forms of files, and the models that are inferred from them.
@Suite struct RecordFormatTests {
    /// The texts and numbers that a file loads into an entity of two optional attributes.
    private func load(_ name: String, _ text: String) throws -> [String] {
        let schema = try Schema(entities: [
            Entity("Note", attributes: [Attribute("text", .string, isOptional: true), Attribute("rank", .int64, isOptional: true)])
        ])
        let store = try OpenStore(opening: InMemoryStore(), OpenRequest(schema: schema))
        _ = try FileLoader.load(LoadMapping(files: [LoadMapping.file(name, entity: "Note")]), into: store) { _ in
            // Blocks of one byte: nothing may depend on what lies in one block.
            var rest = Array(text.utf8)[...]
            return FileBlocks { rest.popFirst().map { Data([$0]) } }
        }
        let reader = try store.beginRead(), cursor = try reader.cursor(for: FetchPlan(schema, 0)), batch = RowBatch()
        defer { reader.end() }
        var found: [String] = []
        while try cursor.next(into: batch) {
            for index in 0..<batch.count {
                let row = batch.row(index), slots = schema[0].slots
                found.append(slots.indices.map { Value(row[$0], as: slots[$0].type).map { "\($0)" } ?? "?" }.joined(separator: " "))
            }
        }
        return found
    }

    @Test(arguments: [
        ("a.csv", "text,rank\na,1\n\"b;\t,\",2\n"), ("a.csv", "text;rank\na;1\n\"b;\t,\";2\n"),
        ("a.CSV", "rank\ttext\n1\ta\n2\t\"b;\t,\"\n"),
        ("a.tsv", "text\trank\na\t1\n\"b;\t,\"\t2"), ("a.txt", "text;rank\r\na;1\r\n\"b;\t,\";2\r\n"),
        ("a.ndjson", "{\"text\":\"a\",\"rank\":1}\n\n{\"text\":\"b;\\t,\",\"rank\":2}"),
        ("a.json", "[{\"text\":\"a\",\"rank\":1},\n {\"text\":\"b;\\t,\",\"rank\":2}]\n"),
        ("standard input", " [ {\"text\":\"a\",\"rank\":1} , {\"rank\":2,\"text\":\"b;\\t,\"} ]"),
        ("a.json", "{\"text\":\"a\",\"rank\":1}\n{\"text\":\"b;\\t,\",\"rank\":2}\n"),
    ])
    func theFormFollowsFromTheNameOrTheFirstLine(_ name: String, _ text: String) throws {
        let plain = try load("plain.csv", "text,rank\na,1\n\"b;\t,\",2\n")
        #expect(plain.count == 2)
        #expect(try load(name, text) == plain, "\(name)")
    }

    @Test func anEmptyArrayHasNoRecords() throws { #expect(try load("a.json", " [ ] \n").isEmpty) }

    @Test(arguments: [
        ("[{\"text\":\"a\"}", "line 1, column 14: the array is not closed"),
        ("[{\"text\":\"a\"},\n{\"text\":\"b]}\n", "line 2, column 1: the array or one of its objects is not closed"),
        ("[{\"text\":\"a\"}] x", "line 1, column 16: expected nothing after the array"),
        ("[1]", "line 1, column 2: expected a JSON object"),
        ("[{\"text\":\"a\"}},{\"text\":\"b\"}]", "line 1, column 14: expected a comma or ] after a value of the array"),
    ])
    func aWrongArrayIsRefusedWithItsLine(_ text: String, _ sentence: String) throws {
        let error = #expect(throws: StorageError.self) { try load("a.json", text) }
        #expect(error?.message.contains(sentence) == true, "\(String(describing: error?.message))")
    }

    @Test func emptyLinesBeforeARecordSayNothingOfTheForm() throws {
        let plain = try load("a.ndjson", "{\"text\":\"a\"}\n{\"text\":\"b\"}\n")
        #expect(plain.count == 2)
        for (name, text) in [
            ("a.json", "\n{\"text\":\"a\"}\n{\"text\":\"b\"}\n"), ("a", "\r\n \r\n[\r\n{\"text\":\"a\"},{\"text\":\"b\"}]"),
        ] { #expect(try load(name, text) == plain, "\(name)") }
        let error = #expect(throws: StorageError.self) { try load("a.csv", "\ntext\na\n") }
        #expect(error?.message.contains("line 1: expected the names of the columns, but the line is empty") == true)
    }

    private func infer(_ name: String, _ text: String) throws -> ModelInference {
        try ModelInference(FileBlocks(Data(text.utf8)), name: name, entity: "Note")
    }

    private func types(_ inference: ModelInference) -> [String] {
        inference.entity.attributes.map { "\($0.name): \($0.type.rawValue)\($0.isOptional ? "?" : "")" }
    }

    @Test func aRecordWithTooFewOrTooManyFieldsSaysNothingOfTheModel() throws {
        #expect(types(try infer("short.csv", "a,b\n1,2\n3\n4,5,6\n\nx\n")) == types(try infer("whole.csv", "a,b\n1,2\n")))
        #expect(types(try infer("short.csv", "a,b\n1\n")) == types(try infer("empty.csv", "a,b\n")))
    }

    @Test func theNarrowestTypeOfAllValuesIsInferred() throws {
        let csv = """
            flag,number,real,day,id,zip,text,none,mixed,big
            true,1,1.5,2013-01-01,00000000-0000-0000-0000-000000000001,01234,a,,1,9223372036854775808
            false,-7,2,2013-01-01T10:00:00Z,00000000-0000-0000-0000-00000000000A,98765,,,x,1
            """
        #expect(
            try types(infer("a.csv", csv)) == [
                "flag: bool", "number: int64", "real: double", "day: date", "id: uuid", "zip: string", "text: string?", "none: string?",
                "mixed: string", "big: decimal",
            ])
    }

    @Test func aDateWithPartsOfMicrosecondsStaysAText() throws {
        let csv = "a,b\n2020-01-01T00:00:00.123456789Z,2020-01-01T00:00:00.123456000Z\n"
        #expect(try types(infer("a.csv", csv)) == ["a: string", "b: date"])
    }

    /// What is stored is the number of the file, digit by digit.
    @Test func aNumberThatNoDoubleHasIsADecimal() throws {
        #expect(
            try types(infer("a.csv", "a,b,c,d\n90071992547409.93,1E5,1.5e-3,0.1\n1.5,2E3,2.5E10,7.25\n")) == [
                "a: decimal", "b: string", "c: double", "d: double",
            ])
        #expect(try types(infer("a.json", "[{\"a\": 90071992547409.93}, {\"a\": 18446744073709551616}]")) == ["a: decimal"])
        // No number of JSON is a name, and other languages write a sign.
        #expect(try types(infer("a.json", "[{\"a\": 1e5}, {\"a\": 2}]")) == ["a: double"])
        #expect(try types(infer("a.csv", "a\n1e-07\n1e+20\n3\n")) == ["a: double"])
    }

    @Test func aTextForNilIsNilBetweenQuotesToo() throws {
        let file = FileBlocks(Data("a,b\n1,\"NA\"\n2,x\n".utf8))
        #expect(types(try ModelInference(file, name: "c.csv", entity: "Note", nils: ["NA"])) == ["a: int64", "b: string?"])
    }

    @Test func membersThatAreMissingAreOptional() throws {
        let json = #"[{"b": 1, "a": true}, {"b": 2.5, "c": null}, {"b": 3, "d": "x", "e": [1]}]"#
        #expect(try types(infer("a.json", json)) == ["a: bool?", "b: double", "c: string?", "d: string?", "e: string?"])
    }

    @Test func columnsGetNamesThatAttributesCanHave() throws {
        let inference = try infer("a.csv", "dep time,dep_time,1st,\u{e9}t\u{e9},,SELF\na,b,c,d,e,f\n")
        #expect(
            inference.entity.attributes.map(\.name) == ["dep_time", "dep_time_2", "column_1st", "\u{e9}t\u{e9}", "column_", "column_SELF"])
        #expect(
            inference.columns == [
                "dep_time": "dep time", "dep_time_2": "dep_time", "column_1st": "1st", "column_": "", "column_SELF": "SELF",
            ])
    }
}
