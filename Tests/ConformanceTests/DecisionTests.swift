import Foundation
import Testing

/// The records of decisions are numbered, short and listed, and comments name records that exist.
@Suite struct DecisionTests {
    private static let folder = ".github/decisions"

    /// The names of the records, by their numbers.
    private static func records() throws -> [String: String] {
        let names = try FileManager.default.contentsOfDirectory(atPath: Checkout.root.appendingPathComponent(folder).path)
        let numbered = names.filter { $0 != "README.md" }.map { (String($0.prefix(4)), $0) }
        return Dictionary(numbered, uniquingKeysWith: { first, _ in first })
    }

    @Test func recordsAreNumberedShortAndListed() throws {
        let records = try Self.records(), index = try Checkout.lines("\(Self.folder)/README.md").joined(separator: "\n")
        for number in 1...records.count {
            let four = String(repeating: "0", count: 4 - String(number).count) + String(number)
            let name = try #require(records[four], "record \(four)")
            let lines = try Checkout.lines("\(Self.folder)/\(name)")
            #expect(lines.count <= 41, "\(name)")
            let title = lines[0].dropFirst("# \(number). ".count), date = lines[2]
            #expect(lines[0].hasPrefix("# \(number). "), "\(name)")
            #expect(lines.contains("## Context") && lines.contains("## Decision"), "\(name)")
            #expect(index.contains("| \(four) | [\(title)](\(name)) | \(date) |"), "\(name)")
        }
    }

    @Test func commentsNameRecordsThatExist() throws {
        let numbers = Set(try Self.records().keys)
        for part in ["Sources", "Backends", "Conformance", "Tests"] {
            let files = try #require(FileManager.default.enumerator(atPath: Checkout.root.appendingPathComponent(part).path))
            for case let file as String in files where file.hasSuffix(".swift") && !file.contains(".build/") {
                for line in try Checkout.lines("\(part)/\(file)") where line.contains("decision 0") {
                    for match in line.matches(of: #/decision (\d{4})/#) { #expect(numbers.contains(String(match.1)), "\(file)") }
                }
            }
        }
    }
}
