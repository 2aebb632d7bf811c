import Foundation
import Testing

/// Every Swift sample of the documentation is code of this target, whose tests run it.
///
/// A sample is in one of the files of this folder, with its lines one after the other. Indentation, empty lines and imports do not
/// count, and `scratch("pets.db")` in a test is `"pets.db"` in the documentation.
@Suite struct SampleTests {
    /// Samples that are not code of a program, by a part of their first line.
    private static let exceptions = [
        "// swift-tools-version": "a manifest is not part of a program",
        "// Package.swift": "a manifest is not part of a program",

        "let server = BrowseServer(": "the web server is a package of its own, whose tests start it",
    ]

    @Test func everySwiftSampleIsCodeOfATest() throws {
        let tests = try Self.files("Tests/DocumentationTests", "swift").map { try Self.code(of: Checkout.lines($0)) }
        let samples = try Self.samples()
        #expect(tests.count > 5 && samples.count > 30)
        for sample in samples where !Self.exceptions.keys.contains(where: { sample.first.contains($0) }) {
            #expect(tests.contains { Self.contains($0, sample.code) }, "\(sample.file):\(sample.line): \(sample.first)")
        }
    }

    @Test func everyExceptionIsASample() throws {
        let samples = try Self.samples()
        for exception in Self.exceptions.keys { #expect(samples.contains { $0.first.contains(exception) }, "\(exception)") }
    }

    /// A block of Swift in an article.
    private struct Sample {
        let file: String
        /// The number of its first line, counted from 1.
        let line: Int
        let code: [String]
        var first: String { code.first ?? "an empty sample" }
    }

    private static func samples() throws -> [Sample] {
        let articles = try ["README.md"] + files("Sources/Polystore/Polystore.docc", "md")
        return try articles.flatMap { file in try blocks(of: Checkout.lines(file), in: file) }
    }

    private static func blocks(of lines: [String], in file: String) -> [Sample] {
        var samples: [Sample] = [], start: Int?
        for (number, line) in lines.enumerated() {
            let mark = line.trimmingCharacters(in: .whitespaces)
            guard mark.hasPrefix("```") else { continue }
            if let begin = start {
                if lines[begin].hasSuffix("```swift") {
                    samples.append(Sample(file: file, line: begin + 2, code: code(of: Array(lines[(begin + 1)..<number]))))
                }
                start = nil
            } else {
                start = number
            }
        }
        return samples
    }

    /// The lines that are compared.
    private static func code(of lines: [String]) -> [String] {
        lines.map { $0.trimmingCharacters(in: .whitespaces).replacing(#/scratch\(("[^"]*")\)/#) { String($0.1) } }
            .filter { !$0.isEmpty && !$0.hasPrefix("import ") }
    }

    private static func contains(_ lines: [String], _ sample: [String]) -> Bool {
        guard let first = sample.first else { return false }
        return lines.indices.contains { lines[$0] == first && lines[$0...].starts(with: sample) }
    }

    private static func files(_ folder: String, _ ext: String) throws -> [String] {
        let names = FileManager.default.enumerator(atPath: Checkout.root.appendingPathComponent(folder).path)
        return (names?.compactMap { $0 as? String } ?? []).filter { $0.hasSuffix(".\(ext)") }.map { "\(folder)/\($0)" }.sorted()
    }
}

/// The files of the checkout that the tests were built from.
enum Checkout {
    /// The folder that holds `Package.swift`.
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The lines of a text file, by its path below the root.
    static func lines(_ path: String) throws -> [String] {
        let text = try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
        return text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }
}
