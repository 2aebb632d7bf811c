import Testing

/// A file that imports Polystore beside the modules of the SDK writes the names of both without a module in front.
@Suite struct PublicNamesTests {
    @Test func noPublicNameOfPolystoreIsThatOfATypeOfTheSDK() throws {
        let taken = try Self.namesOfTheSDK()
        #expect(taken.count > 1_000)
        #expect(taken.isSuperset(of: ["Array", "Predicate", "Observable", "Mutex", "Tag", "Transaction", "Link", "Publisher"]))
        for module in ["PolystoreObjects", "PolystoreObservation", "PolystoreStorage", "PolystoreQuery", "PolystoreSchema"] {
            let names = try Self.topLevelNames(module)
            #expect(names.count > 10)
            #expect(names.intersection(taken).sorted() == [], "\(module)")
        }
    }

    /// The public types of a module of this package at the top level, by its listing.
    private static func topLevelNames(_ module: String) throws -> Set<String> {
        let declaration = #/^(\w+): .*\b(?:struct|class|enum|protocol|actor|typealias) (\w+)\b/#
        let found = try Checkout.lines(".github/api/\(module).txt").compactMap { try? declaration.firstMatch(in: $0) }
        return Set(found.filter { $0.1 == $0.2 }.map { String($0.1) })
    }

    private static func namesOfTheSDK() throws -> Set<String> {
        let lines = try Checkout.lines("Tests/ConformanceTests/SDKNames.txt").filter { !$0.hasPrefix("#") && !$0.hasPrefix("[") }
        return Set(lines.flatMap { $0.split(separator: " ").map(String.init) })
    }
}
