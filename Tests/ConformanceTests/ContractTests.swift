import Foundation
import PolystoreConformance
import Testing

/// `Conformance/Contract.md` and the cases of the suite name the same clauses.
///
/// With `POLYSTORE_UPDATE_CONTRACT=1` the lines that list cases are written from the cases first.
@Suite struct ContractTests {
    private let document: ContractDocument
    /// The groups of the cases that cite a clause, by the clause.
    private let groups: [String: [String]]

    init() throws {
        var groups: [String: Set<String>] = [:]
        for item in ConformanceSuite.cases {
            for clause in Self.clauses(of: item) { groups[clause, default: []].insert(String(item.id.prefix { $0 != "." })) }
        }
        self.groups = groups.mapValues { $0.sorted() }
        if ProcessInfo.processInfo.environment["POLYSTORE_UPDATE_CONTRACT"] == "1" { try ContractDocument.update(self.groups) }
        document = try ContractDocument()
    }

    private static func clauses(of item: ConformanceCase) -> [String] {
        item.clause.split(separator: ",").map { String($0.drop { $0 == " " }) }
    }

    @Test func everyCaseCitesAClause() {
        #expect(ConformanceSuite.cases.filter { Self.clauses(of: $0).isEmpty }.map(\.id) == [])
    }

    @Test func everyCitedClauseIsInTheContract() {
        #expect(Set(groups.keys).subtracting(document.clauses.map(\.name)).sorted() == [])
    }

    @Test func everyClauseHasOneHeadingAndItsAnchor() {
        #expect(!document.clauses.isEmpty)
        #expect(Set(document.clauses.map(\.name)).count == document.clauses.count)
        #expect(document.clauses.filter { $0.anchor != $0.name.lowercased() }.map(\.name) == [])
    }

    @Test func everyClauseIsTestedOrSaysWhyNot() {
        for clause in document.clauses {
            #expect((groups[clause.name] == nil) == clause.isExplained, "\(clause.name): a case, or a reason why there is none")
        }
    }

    @Test func everyClauseListsTheCasesThatCiteIt() {
        for clause in document.clauses { #expect(clause.cases == groups[clause.name, default: []], "\(clause.name)") }
    }
}

/// The clauses of the contract, as the document has them.
private struct ContractDocument {
    struct Clause {
        let name: String
        let anchor: String
        /// The groups of cases that its line lists.
        var cases: [String] = []
        /// Whether it gives a reason why no case tests it.
        var isExplained = false
    }

    private static let path = "Conformance/Contract.md"
    private static let cases = "Cases:"
    private static let explanation = "Not tested by a case: "

    private(set) var clauses: [Clause] = []

    init() throws {
        for line in try Checkout.lines(Self.path) {
            if let clause = Self.clause(line) {
                clauses.append(clause)
            } else if line.hasPrefix(Self.cases) {
                let list = line.dropFirst(Self.cases.count).drop { $0 == " " }.prefix { $0 != "." }
                if !clauses.isEmpty { clauses[clauses.count - 1].cases = list.split(separator: ",").map { String($0.drop { $0 == " " }) } }
            } else if line.hasPrefix(Self.explanation), line.count > Self.explanation.count, !clauses.isEmpty {
                clauses[clauses.count - 1].isExplained = true
            }
        }
    }

    /// The clause of a heading such as `### <a id="w5"></a>W5. Savepoints nest`.
    private static func clause(_ line: String) -> Clause? {
        guard let heading = line.wholeMatch(of: #/### <a id="(\w+)"></a>([A-Z]\d+)\. .+/#) else { return nil }
        return Clause(name: String(heading.2), anchor: String(heading.1))
    }

    /// Writes the document with the groups that cite each clause.
    static func update(_ groups: [String: [String]]) throws {
        var name = ""
        let lines = try Checkout.lines(path).map { line in
            if let heading = clause(line) { name = heading.name }
            guard line.hasPrefix(cases) else { return line }
            return groups[name].map { "\(cases) \($0.joined(separator: ", "))." } ?? cases
        }
        try lines.joined(separator: "\n").write(to: Checkout.root.appendingPathComponent(path), atomically: true, encoding: .utf8)
    }
}
