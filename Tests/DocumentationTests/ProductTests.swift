import Foundation
import Testing

/// The products of the package have their places in the documentation.
@Suite struct ProductTests {
    private static let articles = "Sources/Polystore/Polystore.docc"
    /// Modules that have no page of their own: programs import `Polystore`, and the page of `PolystoreStorage` has the topics of the requests.
    private static let merged = [
        "PolystoreObjects": "Polystore", "PolystoreObservation": "Polystore", "PolystoreQuery": "PolystoreStorage",
    ]

    @Test func theLandingPageListsEveryProduct() throws {
        let names = try Checkout.lines("Package.swift").compactMap { line in
            line.firstMatch(of: #/\.(library|executable)\(name: "([\w-]+)"/#).map { String($0.2) }
        }
        let table = try Checkout.lines("\(Self.articles)/Polystore.md").drop { $0 != "| product | purpose |" }.dropFirst(2).prefix {
            $0.hasPrefix("|")
        }
        let rows = table.compactMap { row in row.firstMatch(of: #/^\| (`+|<doc:)([\w-]+)/#).map { String($0.2) } }
        #expect(names.count > 15 && rows.sorted() == names.sorted())
    }

    @Test func everyPublicDeclarationIsInATopic() throws {
        let modules = try FileManager.default.contentsOfDirectory(atPath: Checkout.root.appendingPathComponent(".github/api").path)
            .map { $0.replacing(".txt", with: "") }
        #expect(modules.count > 15)
        for module in modules.sorted() {
            let page = Self.merged[module] ?? module
            let path = page == "Polystore" ? "\(Self.articles)/Polystore.md" : "\(Self.articles)/Products/\(page).md"
            let topics = try Set(Checkout.lines(path).compactMap { $0.firstMatch(of: #/^- ``(.+)``$/#).map { String($0.1) } })
            for name in try Self.declarations(of: module) { #expect(topics.contains(name), "\(path) has no topic with ``\(name)``") }
        }
    }

    /// The names of the declarations of a module outside of types. DocC lists operators by itself.
    private static func declarations(of module: String) throws -> Set<String> {
        let lines = try Checkout.lines(".github/api/\(module).txt")
        return Set(lines.compactMap { $0.firstMatch(of: #/^([A-Za-z_]\w*(\([\w:]*\))?): /#).map { String($0.1) } })
    }
}
