import Foundation
import Testing

@testable import PolystoreSchema

@Suite struct DecimalQuotientTests {
    private func normal(_ number: Decimal) throws(ValueError) -> Value { try Attribute("price", .decimal).normalise(.decimal(number)) }

    /// Foundation keeps 39 digits where its bits suffice.
    @Test func aQuotientCanBeStored() throws {
        let quotient = Decimal(1001) / 3
        #expect(quotient.description == "333.666666666666666666666666666666666666")
        #expect(try normal(quotient) == .decimal(#require(Decimal(string: "333.66666666666666666666666666666666667"))))
        #expect(try normal(-quotient) == .decimal(#require(Decimal(string: "-333.66666666666666666666666666666666667"))))
        #expect(try normal(Decimal(1000) / 3) == .decimal(Decimal(1000) / 3))
    }

    @Test func aWholeNumberOfMoreDigitsIsRefused() throws {
        let number = try #require(Decimal(string: "100000000000000000000000000000000000001"))
        #expect(throws: ValueError.self) { try normal(number) }
        #expect(try normal(number - 1) == .decimal(#require(Decimal(string: "1e38"))))
    }
}
