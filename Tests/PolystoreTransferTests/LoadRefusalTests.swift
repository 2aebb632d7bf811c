import Foundation
import PolystoreInMemory
import PolystoreStorage
import PolystoreTransfer
import Testing

/// What a file says and a store cannot hold is refused with file, line and column, and nothing is loaded.
@Suite struct LoadRefusalTests {
    private let schema: Schema

    init() throws {
        schema = try Schema(entities: [
            Entity("Owner", attributes: [Attribute("name", .string)]),
            Entity(
                "Note",
                attributes: [
                    Attribute("text", .string, isOptional: true), Attribute("weight", .double, isOptional: true),
                    Attribute("small", .float, isOptional: true), Attribute("rank", .int16, isOptional: true),
                    Attribute("price", .decimal, isOptional: true),
                ], relationships: [Relationship("owner", to: "Owner")]),
        ])
    }

    private func load(_ text: String, _ name: String = "a.ndjson", _ mapping: String? = nil) throws -> Int {
        let store = try OpenStore(opening: InMemoryStore(), OpenRequest(schema: schema))
        let json = mapping ?? "{\"files\": [{\"file\": \"\(name)\", \"entity\": \"Note\"}]}"
        let report = try FileLoader.load(LoadMapping(json: Data(json.utf8)), into: store) { _ in FileBlocks(Data(text.utf8)) }
        return report.loaded[0].count
    }

    private func message(_ text: String, _ name: String = "a.ndjson", _ mapping: String? = nil) -> String {
        do { return "loaded \(try load(text, name, mapping))" } catch { return (error as? StorageError)?.message ?? "\(error)" }
    }

    @Test(arguments: [
        ("weight", "1e400"), ("weight", "-1e400"), ("small", "1e39"), ("rank", "32768"), ("rank", "99999999999999999999"),
        ("price", "1e-9223372036854775808"), ("price", "1e9223372036854775807"), ("price", "1e200"),
    ]) func aNumberOutOfRangeIsRefused(_ name: String, _ number: String) {
        #expect(message("{}\n{\"\(name)\": \(number)}\n").hasPrefix("a.ndjson, line 2, column \"\(name)\": "))
        #expect(message("\(name)\n\(number)\n", "a.csv").hasPrefix("a.csv, line 2, column \"\(name)\": "))
    }

    @Test func infinityIsLoadedWhereItIsWritten() throws {
        #expect(try load("{\"weight\": \"inf\"}\n{\"weight\": \"-inf\"}\n{\"weight\": 1e-400}\n{\"weight\": 1e308}\n") == 4)
    }

    @Test(arguments: ["-000", "+041", "0x41", " 041", "004", "00g0"]) func anEscapeHasFourHexadecimalDigits(_ digits: String) {
        #expect(message("{\"text\": \"\\u\(digits)\"}\n").contains("four hexadecimal digits are expected"))
    }

    @Test func noPasswordOfAURLIsShown() throws {
        for (text, shown) in [
            ("postgresql://db/shop?sslpassword=one&password=two", "postgresql://db/shop?sslpassword=***&password=***"),
            ("postgresql://db/shop?password=one&user=a&PASSWORD=two", "postgresql://db/shop?password=***&user=a&PASSWORD=***"),
            ("postgresql://app:one@db/shop?p%61ssword=two", "postgresql://app:***@db/shop?p%61ssword=***"),
            // As the library of the server reads it, and with a misspelt scheme.
            ("postgresql://app:o?ne@db/shop?user=a", "postgresql://app:***@db/shop?user=a"),
            ("postgresql://app:o@ne?two@db/shop", "postgresql://app:***@db/shop"),
            ("postgresql://app:one/two?three@db/shop?user=a", "postgresql://app:***@db/shop?user=a"),
            ("postgresql://db/shop?password=one&two&user=a", "postgresql://db/shop?password=***&***&user=a"),
            ("postgresql://db/shop?oauth_client_secret=one", "postgresql://db/shop?oauth_client_secret=***"),
            ("postgresql://db:5432/shop?options=a@b", "postgresql://db:5432/shop?options=a@b"),
            ("postgresq://app:one@db/shop", "postgresq://app:***@db/shop"),
            ("sqlite:///srv/a:b@c.db?busy=5s", "sqlite:///srv/a:b@c.db?busy=5s"),
        ] {
            let url = try StoreURL(text)
            #expect(url.redacted == shown && "\(url)" == shown && String(reflecting: url) == shown)
            var dumped = ""
            dump(url, to: &dumped)
            #expect(dumped == "- \(shown)\n")
        }
    }

    @Test func columnsWithoutAPropertyAreRefused() {
        #expect(
            message("{\"text\": \"a\", \"wieght\": 1}\n").hasPrefix(
                "a.ndjson, line 1: Note has no property for \"wieght\"; did you mean \"weight\"?"))
        #expect(
            message("text,wieght\na,1\n", "a.csv").hasPrefix("a.csv, line 1: Note has no property for \"wieght\"; did you mean \"weight\"?")
        )
        let allowed = "{\"ignoresUnknown\": true, \"files\": [{\"file\": \"a.csv\", \"entity\": \"Note\"}]}"
        #expect(message("text,wieght\na,1\n", "a.csv", allowed) == "loaded 1")
    }

    @Test func aMappingNamesFiles() {
        let error = #expect(throws: StorageError.self) { try LoadMapping(json: Data("{\"files\": []}".utf8)) }
        #expect(error?.code == .invalidConfiguration && error?.message == "the load mapping names no files")
    }

    @Test func aMappingIsCheckedBeforeItIsUsed() {
        func mapped(_ more: String) -> String {
            message("text,who\na,b\n", "a.csv", "{\"files\": [{\"file\": \"a.csv\", \"entity\": \"Note\", \(more)}]}")
        }
        #expect(mapped("\"relationships\": {\"owner\": {\"name\": \"who\"}}") == "loaded 1")
        #expect(
            mapped("\"match\": [\"a\"]").contains(
                "\"match\" is not a known key; known are file, entity, columns, relationships, on, separator"))
        #expect(mapped("\"relationship\": {}").contains("\"relationship\" is not a known key; did you mean \"relationships\"?"))
        #expect(
            mapped("\"relationships\": {\"owner\": {\"nam\": \"who\"}}").contains("Owner has no attribute \"nam\"; did you mean \"name\"?"))
        #expect(mapped("\"relationships\": {\"owner\": {\"name\": \"whom\"}}").contains("there is no column \"whom\""))
        #expect(mapped("\"columns\": {\"txt\": \"who\"}").contains("Note has no attribute \"txt\"; did you mean \"text\"?"))
    }

    @Test func textAfterAClosingQuoteIsRefused() {
        #expect(
            message("text\n\"a\"b\n", "a.csv")
                == "a.csv, line 2, column 4: expected a separator or the end of the line after a closing quote")
        #expect(message("text,rank\n\"x\"2,\"3\"\n", "a.csv").hasPrefix("a.csv, line 2, column 4: expected a separator"))
        #expect(message("text\na\n\"b\nc\n", "a.csv") == "a.csv, line 3, column 1: a quote is not closed")
    }

    @Test func errorsTruncateLongNames() {
        let long = String(repeating: "k", count: 300_000)
        #expect(message("{\"\(long)\": 1}").utf8.count < 500)
        #expect(message("\(long)\n1\n", "a.csv").utf8.count < 500)
        #expect(message("", "\(long).csv").utf8.count < 500)
    }
}
