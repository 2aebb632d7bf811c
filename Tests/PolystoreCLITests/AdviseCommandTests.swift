import Foundation
import Testing

/// The requests and the messages of `polystore advise`.
@Suite struct AdviseCommandTests {
    private let program: Program
    private let store: String

    init() throws {
        program = try Program()
        store = "sqlite:\(program.folder.path)/a.db"
        let file = try program.file("notes.ndjson", #"{"text": "a", "n": 1}"# + "\n")
        let loaded = try program.run(["load", store, file, "--infer", "--entity", "Note", "-q"])
        try #require(loaded.code == 0, "\(loaded)")
    }

    private func advise(_ requests: String, _ more: String...) throws -> (code: Int32, output: String, error: String) {
        try program.run(["advise", store, "--requests", try program.file("requests", requests)] + more)
    }

    @Test func linesMayEndAsInWindows() throws {
        let good = #"{"entity": "Note", "where": "n == 5"}"#
        let found = try advise(good + "\r\n\r\n" + #"{"entity": "Note", "where": "text == 'a'"}"# + "\r\n")
        #expect(found.code == 0 && found.output.contains("line 1: ") && found.output.contains("line 3: "), "\(found)")
        let wrong = try advise(good + "\r\n" + #"{"entity": "Note", "where": "nonsense == 5"}"# + "\r\n")
        #expect(wrong.code == 2 && wrong.error.contains("requests, line 2: "), "\(wrong)")
    }

    @Test func allPartsOfARequestAreChecked() throws {
        let parts = [
            #""select": ["nonsense"]"#, #""select": ["n", "@count AS c"], "groupBy": ["n"], "having": "nonsense > 1""#,
            #""sum": "nonsense""#,
            #""prefetch": ["nonsense"]"#,
        ]
        for part in parts {
            let found = try advise("{\"entity\": \"Note\", \(part)}\n")
            #expect(found.code == 2 && found.error.contains("line 1: ") && found.error.contains("nonsense"), "\(part): \(found)")
        }
    }

    @Test func aLongRequestIsShortened() throws {
        let condition = "n == 5 AND text != '\(String(repeating: "x", count: 5_000))'"
        let found = try advise("{\"entity\": \"Note\", \"where\": \"\(condition)\"}\n")
        #expect(found.code == 0 && found.output.contains("line 1: Note where n == 5") && found.output.utf8.count < 1_000, "\(found)")
    }

    /// The measured store has no part in such errors.
    @Test func errorsNameWhatTheyAreAbout() throws {
        let wrong = try advise(#"{"entity": "Nobody"}"# + "\n")
        #expect(wrong.code == 2 && !wrong.error.contains("a.db"), "\(wrong)")
        let empty = try advise("\n")
        #expect(empty.code == 2 && empty.error.contains("contains no requests") && !empty.error.contains("a.db"), "\(empty)")
        let request = #"{"entity": "Note", "where": "n == 5"}"# + "\n"
        let nowhere = try advise(request, "--try", "sqlite:/nowhere/at/all")
        #expect(nowhere.code == 5 && nowhere.error.contains("/nowhere/at/all") && !nowhere.error.contains("a.db"), "\(nowhere)")
        let other = try advise(request, "--try", "memory:")
        #expect(other.code == 2 && other.error.contains("sqlite") && other.error.contains("memory"), "\(other)")
    }
}
