import Foundation
import PolystoreStorage
import Testing

@testable import PolystorePostgreSQL

/// The server's functions cut texts into the words of the contract.
@Suite(.enabled(if: TestServer.url != nil, "needs a PostgreSQL server; .ci/run starts one")) struct PostgreSQLWordsTests {
    private func withFunctions(_ body: (PostgreSQLConnection) throws -> Void) throws {
        let schema = "polystore_\(UUID().uuidString)"
        let connection = try PostgreSQLConnection(conninfo: try #require(TestServer.url), schema: schema)
        try connection.execute("CREATE SCHEMA \"\(schema)\"")
        defer { try? connection.execute("DROP SCHEMA \"\(schema)\" CASCADE") }
        try connection.execute(PostgreSQLWords.creation(schema))
        try body(connection)
    }

    private func words(_ texts: [String], _ connection: PostgreSQLConnection) throws -> [String] {
        let batch = RowBatch(capacity: 1)
        let cells = texts.map { batch.cell(for: .string($0)) }
        let result = try connection.query(
            "SELECT polystore_words(t) FROM unnest($1::text[]) WITH ORDINALITY u(t, n) ORDER BY n",
            [PostgreSQLParameter(array: cells, .string)])
        return try (0..<result.count).map { row in
            if case .string(let text) = try result.value(row, 0, as: .string, RowBatch(capacity: 1)) { text } else { "" }
        }
    }

    private func expected(_ text: String) -> String { " " + SearchWords(text).list.joined(separator: " ") + " " }

    private func difference(_ texts: [String], _ connection: PostgreSQLConnection) throws -> String? {
        for (text, found) in zip(texts, try words(texts, connection)) where !found.utf8.elementsEqual(expected(text).utf8) {
            return "\(text.unicodeScalars.map { String($0.value, radix: 16) }): \(found.unicodeScalars.map { String($0.value, radix: 16) })"
        }
        return nil
    }

    /// All planes in which anything is assigned; ideographs and syllables, which are all alike, by samples.
    @Test func theServerFoldsEveryScalarAsWeDo() throws {
        try withFunctions { connection in
            let alike: [ClosedRange<UInt32>] = [0x3400...0x9fff, 0xac00...0xd7a3, 0xe000...0xf8ff, 0x17000...0x18cff, 0x20000...0x2a6ff]
            let numbers = (Array(1...0x2fa20) + Array(0xe0000...0xe0200) as [UInt32]).filter { number in
                number % 97 == 0 || !alike.contains { $0.contains(number) }
            }
            let texts = numbers.compactMap(Unicode.Scalar.init).map { "Xé \($0)Y \($0)" }
            #expect(texts.count > 70_000)
            for start in stride(from: 0, to: texts.count, by: 10_000) {
                let found = try difference(Array(texts[start..<min(start + 10_000, texts.count)]), connection)
                #expect(found == nil)
            }
        }
    }

    @Test func theServerCutsRandomTextsAsWeDo() throws {
        try withFunctions { connection in
            var random = SystemRandomNumberGenerator()
            let scalars = Array(
                "aBé É\u{301}\u{327}ßſ ıİ-_.*\"'\\\n각각日Ω\u{1d165}\u{302e}\u{302f}\u{1d16e}\u{16ff0}ǅﬁ５٣😀\u{200d}".unicodeScalars)
            let texts = (0..<3_000).map { _ in
                var text = String.UnicodeScalarView()
                for _ in 0..<Int.random(in: 0...20, using: &random) { text.append(scalars.randomElement(using: &random) ?? "a") }
                return String(text)
            }
            let found = try difference(texts, connection)
            #expect(found == nil)
        }
    }
}
