import Foundation
import PolystoreInMemory
import PolystoreStorage
import PolystoreTransfer
import TestStores
import Testing

/// Loads that leave out the records that cannot be loaded.
@Suite struct RejectedRecordTests {
    private let schema: Schema
    private let store: OpenStore

    init() throws {
        schema = try Schema(entities: [
            Entity(
                "Part",
                attributes: [
                    Attribute("code", .string), Attribute("size", .int64, isOptional: true, rules: AttributeRules(maximum: .int(100))),
                ],
                relationships: [Relationship("whole", to: "Part", isOptional: false)], uniqueConstraints: [UniqueConstraint(["code"])])
        ])
        store = try OpenStore(opening: InMemoryStore(), OpenRequest(schema: schema))
    }

    private func mapping(on: [String]? = nil, _ name: String = "parts.csv") -> LoadMapping {
        var file = LoadMapping.file(name, entity: "Part")
        file.relationships = ["whole": ["code": "whole"]]
        file.on = on
        return LoadMapping(files: [file])
    }

    private func load(
        _ text: String, _ rejects: LoadRejects?, on: [String]? = nil, name: String = "parts.csv"
    ) throws -> LoadReport {
        try FileLoader.load(mapping(on: on, name), into: store, rejects: rejects) { _ in FileBlocks(Data(text.utf8)) }
    }

    private func codes() throws -> [String] {
        let reader = try store.beginRead()
        defer { reader.end() }
        let cursor = try reader.cursor(for: FetchPlan(schema, 0)), batch = RowBatch()
        var found: [String] = []
        while try cursor.next(into: batch) {
            for index in 0..<batch.count {
                if case .string(let code)? = Value(batch.row(index)[0], as: .string) { found.append(code) }
            }
        }
        return found
    }

    /// `a` is its own whole. What refers to a rejected record, directly or not, is rejected too.
    private let csv = """
        code,size,whole
        a,1,a
        b,large,a
        c,101,a
        "d,e",2,b
        f,3,"d,e"
        g,4
        a,5,a
        h,6,nowhere
        i,7,

        """
    private var good: String { "j,8,a\nk,9,j\n" }

    /// The separator is found by the first line, in which names may have others.
    @Test(arguments: [",", ";", "\t", "|"]) func namesWithSeparatorsAreReadAgain(_ separator: String) throws {
        var mapping = mapping()
        mapping.ignoresUnknown = true
        let rejects = LoadRejects(), header = ["code", "whole", "size", "\",,;;\t\t||\""].joined(separator: separator)
        let row = ["a", "b", "1", "x"].joined(separator: separator)
        _ = try FileLoader.load(mapping, into: store, rejects: rejects) { _ in FileBlocks(Data("\(header)\n\(row)\n".utf8)) }
        let text = try #require(try rejects.text(ofFile: 0, named: "r.csv").map { String(decoding: $0, as: UTF8.self) })
        #expect(text.hasPrefix(header + separator) && text.contains("\n\(row)\(separator)"), "\(text)")
    }

    @Test func theRestIsLoadedAndTheRejectedRecordsCanBeLoadedAfterCorrections() throws {
        let rejects = LoadRejects()
        let report = try load(csv + good, rejects)
        #expect(report.loaded.map(\.count) == [3])
        #expect(try codes() == ["a", "j", "k"])
        let text = try #require(rejects.text(ofFile: 0, named: "r.csv").map { String(decoding: $0, as: UTF8.self) })
        let lines = text.split(separator: "\n").map(String.init)
        #expect(lines.count == 9 && lines[0] == "code,size,whole,polystore_reason")
        #expect(
            lines[1]
                == #"b,large,a,"parts.csv, line 3, column ""size"": ""large"" is no value of type int64; expected digits within its range""#
        )
        #expect(lines[2].hasPrefix(#"c,101,a,"parts.csv, line 4, column ""size"": "#))
        #expect(lines[3].hasPrefix(#""d,e",2,b,"parts.csv, line 5, column ""whole"": Part.whole is required, but no object"#))
        #expect(lines[4].hasPrefix(#"f,3,"d,e","parts.csv, line 6"#))
        #expect(lines[5] == #"g,4,"parts.csv, line 7: expected 3 fields, but found 2""#)
        #expect(lines[6].hasPrefix(#"a,5,a,"parts.csv, line 8: an earlier object in the files has the same code"#))
        #expect(lines[7].hasPrefix("h,6,nowhere,") && lines[8].hasPrefix("i,7,,"))
        // The same again, without corrections: nothing more can be loaded, and the form does not grow.
        let again = LoadRejects()
        #expect(try load(text, again).loaded.map(\.count) == [0])
        let second = try #require(again.text(ofFile: 0, named: "r.csv").map { String(decoding: $0, as: UTF8.self) })
        #expect(second.split(separator: "\n").count == 9 && second.hasPrefix("code,size,whole,polystore_reason\n"))
        #expect(second.contains("\n" + lines[5] + "\n"))
        let corrected = text.replacingOccurrences(of: "b,large", with: "b,3").replacingOccurrences(of: "g,4,", with: "g,4,a,")
            .replacingOccurrences(of: "nowhere", with: "k")
        let last = LoadRejects()
        #expect(try load(corrected, last).loaded.map(\.count) == [5])
        #expect(try codes().sorted() == ["a", "b", "d,e", "f", "g", "h", "j", "k"])
        #expect(last.records(ofFile: 0).map(\.line) == [3, 7, 9])
    }

    @Test func withoutAListTheFirstRecordEndsTheLoad() throws {
        let error = #expect(throws: StorageError.self) { try load(csv + good, nil) }
        #expect(error?.message.hasPrefix("parts.csv, line 7: expected 3 fields, but found 2") == true)
        #expect(try codes().isEmpty)
    }

    @Test func tooManyRejectedRecordsEndTheLoad() throws {
        let error = #expect(throws: StorageError.self) { try load(csv + good, LoadRejects(most: 7)) }
        #expect(error?.code == .limitExceeded && error?.message.hasPrefix("more than 7 records were rejected") == true)
        #expect(try codes().isEmpty)
        #expect(throws: Never.self) { try load(csv + good, LoadRejects(most: 8)) }
    }

    @Test func objectsOfJSONAreRejectedInTheirForm() throws {
        let rejects = LoadRejects()
        let text = """
            {"code": "a", "whole": "a"}
            {"code": "b", "size": "x", "whole": "a"}
            {"code": "c", "whole": "a"
            {"code": "d", "extra": 1, "whole": "a"}
            """
        #expect(try load(text, rejects, name: "parts.ndjson").loaded.map(\.count) == [1])
        let lines = try #require(rejects.text(ofFile: 0, named: "r.ndjson").map { String(decoding: $0, as: UTF8.self) }).split(
            separator: "\n")
        #expect(lines.count == 3)
        #expect(lines[0].hasPrefix(#"{"code":"b","size":"x","whole":"a","polystore_reason":"parts.ndjson, line 2, column \"size\""#))
        #expect(lines[1].hasPrefix(#"{"polystore_record":"{\"code\": \"c\", \"whole\": \"a\"","polystore_reason":"parts.ndjson, line 3"#))
        #expect(lines[2].hasPrefix(#"{"code":"d","extra":1,"whole":"a","polystore_reason":"parts.ndjson, line 4: Part has no property"#))
        let array = LoadRejects()
        #expect(
            try load(#"[{"code": "e", "whole": "a"}, {"code": 5}, {"code": "f", "whole": "e"}]"#, array, name: "p.json").loaded[0].count
                == 2)
        #expect(array.count == 1)
    }

    /// The record of a text that is no object has to be corrected; it is no object without values.
    @Test func aTextThatWasNotCorrectedIsRejectedAgain() throws {
        let schema = try Schema(entities: [Entity("Log", attributes: [Attribute("text", .string, isOptional: true)])])
        let store = try OpenStore(opening: InMemoryStore(), OpenRequest(schema: schema))
        var mapping = LoadMapping(files: [LoadMapping.file("log.ndjson", entity: "Log")])
        mapping.ignoresUnknown = true
        var text = "{\"text\": \"a\"}\n{\"text\": \"b\"\n", count = 1
        for _ in 0..<3 {
            let rejects = LoadRejects(), bytes = Array(text.utf8)
            let report = try FileLoader.load(mapping, into: store, rejects: rejects) { _ in FileBlocks(Data(bytes)) }
            #expect(report.loaded.map(\.count) == [count] && rejects.count == 1)
            text = String(decoding: try #require(try rejects.text(ofFile: 0, named: "r.ndjson")), as: UTF8.self)
            #expect(text.hasPrefix(#"{"polystore_record":"{\"text\": \"b\"","polystore_reason":"log.ndjson, line "#), "\(text)")
            count = 0
        }
        let error = #expect(throws: StorageError.self) {
            try FileLoader.load(mapping, into: store) { _ in FileBlocks(Data(text.utf8)) }
        }
        #expect(error?.message.contains("replace the line with the corrected text") == true)
    }

    @Test func aRecordWithAWrongQuoteIsRejectedWithItsBytes() throws {
        let rejects = LoadRejects()
        #expect(try load("code,size,whole\na,1,a\n\"b \"\"x\"\"\"y,1,a\r\nc,2,\"a\"x\nd,3,a\n", rejects).loaded.map(\.count) == [2])
        let text = String(decoding: try #require(try rejects.text(ofFile: 0, named: "r.csv")), as: UTF8.self)
        let fault = "expected a separator or the end of the line after a closing quote"
        #expect(
            text
                == """
                code,size,whole,polystore_reason
                "b ""x""\"y,1,a,"parts.csv, line 3, column 10: \(fault)"
                c,2,"a"x,"parts.csv, line 4, column 8: \(fault)"

                """)
        let again = LoadRejects()
        #expect(try load(text, again).loaded.map(\.count) == [0])
        #expect(try again.text(ofFile: 0, named: "r.csv") == Array(text.utf8))
        #expect(again.records(ofFile: 0)[0].reason.hasSuffix("line 2, column 10: \(fault)"))
        #expect(try codes() == ["a", "d"])
    }

    /// What follows a wrong quote belongs to the record up to its end, which is not a line break in quotes.
    @Test func theRestOfARecordWithAWrongQuoteIsNoOtherRecord() throws {
        let rejects = LoadRejects()
        let csv = "code,size,whole\na,1,a\n\"b\"x,\"2\nc,3,\"\"a\"\"\",a\nd,4,a\n"
        #expect(try load(csv, rejects).loaded.map(\.count) == [2])
        #expect(try codes() == ["a", "d"] && rejects.count == 1)
        let text = String(decoding: try #require(try rejects.text(ofFile: 0, named: "r.csv")), as: UTF8.self)
        #expect(text.contains("\n\"b\"x,\"2\nc,3,\"\"a\"\"\",a,\"parts.csv, line 3, column 4: "), "\(text)")
        let again = LoadRejects()
        #expect(try load(text, again).loaded.map(\.count) == [0])
        #expect(try again.text(ofFile: 0, named: "r.csv") == Array(text.utf8))
    }

    @Test(arguments: [
        ("size", "1.0", "\"1.0\" is no value of type int64; expected digits within its range"),
        (
            "day", "2024-01-02T10:00:00",
            "\"2024-01-02T10:00:00\" is no value of type date; add the time zone: Z, or an offset such as +02:00"
        ),
        ("day", "2024-02-30", "\"2024-02-30\" is no value of type date; expected a day of the calendar, such as 2013-01-31"),
        ("flag", "maybe", "\"maybe\" is no value of type bool; expected true, false, yes, no, t, f, 1 or 0"),
    ]) func aValueIsNamedWithWhatWouldBeRight(_ column: String, _ value: String, _ sentence: String) throws {
        let schema = try Schema(entities: [
            Entity(
                "Part",
                attributes: [
                    Attribute("size", .int64, isOptional: true), Attribute("day", .date, isOptional: true),
                    Attribute("flag", .bool, isOptional: true), Attribute("kind", .string, defaultValue: .string("plain")),
                ])
        ])
        let store = try OpenStore(opening: InMemoryStore(), OpenRequest(schema: schema))
        let mapping = LoadMapping(files: [LoadMapping.file("p.csv", entity: "Part")])
        let error = #expect(throws: StorageError.self) {
            try FileLoader.load(mapping, into: store) { _ in FileBlocks(Data("\(column)\n\(value)\n".utf8)) }
        }
        #expect(error?.message.contains("p.csv, line 2, column \"\(column)\": \(sentence)") == true, "\(String(describing: error))")
        // No column is needed for an attribute with a default.
        #expect(try FileLoader.load(mapping, into: store) { _ in FileBlocks(Data("\(column)\n\n".utf8)) }.loaded.map(\.count) == [1])
    }

    @Test func updatesAreRejectedToo() throws {
        _ = try load("code,size,whole\na,1,a\nb,2,a\n", nil)
        let rejects = LoadRejects()
        let report = try load("code,size,whole\na,5,a\nb,x,a\n,3,a\nc,3,d\nd,200,a\ne,4,b\n", rejects, on: ["code"])
        #expect(report.loaded.map(\.count) == [1] && report.loaded.map(\.updated) == [1])
        #expect(try codes() == ["a", "b", "e"])
        #expect(rejects.records(ofFile: 0).map(\.line) == [3, 4, 5, 6])
    }

    @Test func valuesOfTheStoreAreTakenOnce() throws {
        _ = try load("code,size,whole\na,1,a\n", nil)
        let rejects = LoadRejects()
        #expect(try load("code,size,whole\na,2,a\nb,2,a\nb,3,a\nc,4,a\n", rejects).loaded.map(\.count) == [2])
        #expect(try codes().sorted() == ["a", "b", "c"])
        #expect(rejects.records(ofFile: 0).map(\.line) == [2, 4])
    }

    @Test func aRejectedRecordDoesNotStandInTheWayOfOthers() throws {
        // The first `a` is rejected for its own whole, so the second one is no duplicate.
        let rejects = LoadRejects()
        #expect(try load("code,size,whole\na,1,nowhere\na,2,a\nc,3,a\n", rejects).loaded.map(\.count) == [2])
        #expect(try codes() == ["a", "c"])
        #expect(rejects.records(ofFile: 0).map(\.line) == [2])
    }

    @Test func oneToOneReferencesOfRejectedRecordsAreFree() throws {
        let schema = try Schema(entities: [
            Entity(
                "Key", attributes: [Attribute("code", .string)],
                relationships: [
                    Relationship("door", to: "Door", inverse: "key"), Relationship("second", to: "Door", isOptional: false),
                ]),
            Entity("Door", attributes: [Attribute("code", .string)], relationships: [Relationship("key", to: "Key", inverse: "door")]),
        ])
        let store = try OpenStore(opening: InMemoryStore(), OpenRequest(schema: schema)), rejects = LoadRejects()
        var keys = LoadMapping.file("keys", entity: "Key")
        keys.relationships = ["door": ["code": "door"], "second": ["code": "second"]]
        let files = ["doors": "code\np\nq\n", "keys": "code,door,second\na,p,nowhere\nb,p,q\nc,p,q\n"]
        let report = try FileLoader.load(
            LoadMapping(files: [LoadMapping.file("doors", entity: "Door"), keys]), into: store, rejects: rejects
        ) { FileBlocks(Data((files[$0] ?? "").utf8)) }
        #expect(report.loaded.map(\.count) == [2, 1])
        #expect(rejects.records(ofFile: 1).map(\.line) == [2, 4])
    }

    @Test func recordsOfOneLineAreDifferentRecords() throws {
        let rejects = LoadRejects()
        let text = #"[{"code":"a","whole":"a"},{"code":"b","whole":"a"},{"code":"b","whole":"a"},{"code":"c","whole":"a"}]"#
        #expect(try load(text, rejects, name: "p.json").loaded.map(\.count) == [3])
        #expect(rejects.count == 1)
    }

    @Test(arguments: [("code,size,whole\nx,y,z\n", "r.ndjson"), (#"{"code": 1}"#, "r.csv"), ("code;size;whole\nx;y;z\n", "r.tsv")])
    func aNameOfAnotherFormIsRefused(_ text: String, _ name: String) throws {
        let rejects = LoadRejects()
        let error = #expect(throws: StorageError.self) {
            try FileLoader.load(
                mapping(on: nil, "parts"), into: store, rejects: rejects,
                willCommit: { () throws(StorageError) in
                    _ = try rejects.text(ofFile: 0, named: name)
                }
            ) { _ in FileBlocks(Data((text + "\n").utf8)) }
        }
        #expect(error?.code == .invalidConfiguration && error?.message.contains("end the name with") == true)
        #expect(try codes().isEmpty)
    }
}
