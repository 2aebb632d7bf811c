import Foundation
import PolystoreConformance
import Testing

/// The article `Capabilities.md` has a row for every capability of the original libraries, and what it names as a proof exists.
@Suite struct CapabilityTests {
    private static let folder = "Sources/Polystore/Polystore.docc"

    private let rows: [CapabilityRow]

    init() throws { rows = try Checkout.lines("\(Self.folder)/Capabilities.md").compactMap(CapabilityRow.init) }

    @Test func theNumbersRunFrom1To341() {
        #expect(rows.count == 341)
        for (expected, row) in zip(1..., rows) {
            guard row.number == expected else {
                Issue.record("row \(expected) is expected where row \(row.number) is")
                return
            }
        }
    }

    @Test func everyRowNamesACapabilityAndItsSpelling() {
        for row in rows where row.capability.isEmpty || row.spelling.isEmpty { Issue.record("row \(row.number) has an empty cell") }
    }

    @Test func everyProofExists() throws {
        let known = try Set(ConformanceSuite.cases.map(\.id)).union(TestFunctions.all())
        for row in rows {
            for name in row.proofs where !known.contains(name) {
                Issue.record("row \(row.number): \(name) is neither a test function nor a case")
            }
        }
    }

    @Test func aRowThatIsNotProvenGivesTheReason() {
        for row in rows where !row.isProven && row.reason == nil {
            Issue.record("row \(row.number): name proofs and nothing else, or begin with one of \(CapabilityRow.reasons): \(row.proof)")
        }
        for row in rows where row.reason == "not offered: " && !row.proofs.isEmpty {
            Issue.record("row \(row.number) is not offered, but has a proof")
        }
    }

    @Test func theArticleIsListed() throws {
        #expect(try Checkout.lines("\(Self.folder)/Polystore.md").contains("- <doc:Capabilities>"))
    }
}

/// A row of the article: `| 7 | capability | spelling | proof |`.
private struct CapabilityRow {
    /// How the last cell begins if it has no proof, or none for the whole row.
    static let reasons = ["not offered: ", "in part: ", "outside of tests: "]

    let number: Int
    let capability: String
    let spelling: String
    let proof: String

    /// Nil for a line that is not a row with a number.
    init?(_ line: String) {
        let cells = line.split(separator: "|", omittingEmptySubsequences: false).map { $0.trimmingCharacters(in: .whitespaces) }
        guard cells.count > 2, let number = Int(cells[1]) else { return nil }
        self.number = number
        // A bar within a cell makes further cells, so that the proof is not where it should be.
        (capability, spelling, proof) = cells.count == 6 ? (cells[2], cells[3], cells[4]) : ("", "", line)
    }

    /// The names of test functions and cases in the last cell.
    var proofs: [String] { proof.matches(of: #/`([A-Z]\w*(?:Tests|Samples)\.\w+|[A-Z]\d+\.[\w-]+)`/#).map { String($0.1) } }

    /// Whether the last cell consists of such names alone.
    var isProven: Bool { !proofs.isEmpty && proof == proofs.map { "`\($0)`" }.joined(separator: ", ") }

    /// The beginning of the last cell, if it is a known one and a text follows.
    var reason: String? { Self.reasons.first { proof.hasPrefix($0) && proof.count > $0.count } }
}

/// The test functions in the folder `Tests`.
private enum TestFunctions {
    /// The names of all of them, as `Suite.function`.
    static func all() throws -> Set<String> {
        let files = try #require(FileManager.default.enumerator(atPath: Checkout.root.appendingPathComponent("Tests").path))
        var names: Set<String> = []
        for case let file as String in files where file.hasSuffix(".swift") && !file.contains(".build/") {
            names.formUnion(functions(try Checkout.lines("Tests/\(file)")))
        }
        return names
    }

    /// The test functions of a file. Each belongs to the nearest declaration above it that is indented less.
    private static func functions(_ lines: [String]) -> [String] {
        var types: [(indentation: Int, name: Substring)] = [], names: [String] = [], isTest = false
        for line in lines {
            let indentation = line.prefix { $0 == " " }.count, code = line.dropFirst(indentation)
            if code.hasPrefix("//") { continue }
            if code.hasSuffix("{"), let type = code.firstMatch(of: #/\b(?:struct|class|enum|actor|extension) ([A-Z]\w*)/#) {
                types.removeAll { $0.indentation >= indentation }
                types.append((indentation, type.1))
            }
            if code.contains("@Test") { isTest = true }
            guard isTest, let function = code.firstMatch(of: #/\bfunc (\w+)/#) else { continue }
            isTest = false
            if let suite = types.last(where: { $0.indentation < indentation }) { names.append("\(suite.name).\(function.1)") }
        }
        return names
    }
}
