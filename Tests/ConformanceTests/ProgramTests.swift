import Foundation
import PolystoreCatalog
import PolystoreInMemory
import PolystoreSchema
import PolystoreStorage
import Testing

@testable import PolystoreConformance

/// Random programs: that stores which keep the contract agree with the naive model, and that broken ones are found out by a small program.
@Suite struct ProgramTests {
    private func suite(_ harnesses: [StoreHarness], schema: Schema? = nil) throws -> ProgramSuite {
        try ProgramSuite(harnesses, operations: 60, schema: schema)
    }

    @Test func storesAgreeWithTheNaiveModel() throws {
        let harnesses = try ["memory:", "sqlite:", "lmdb:"].map { try StoreHarness.scratch($0, opener: StoreCatalog.standard) }
        let result = try suite(harnesses).run(programs: 12, seed: 1)
        #expect(result.differences.map { ProgramPrinter.text($0.program, $0.difference) } == [])
        #expect(result.programs == 12)
        #expect(result.operations >= 12 * 60)
    }

    @Test(arguments: [
        MutantStore.Defect.losesTheLastRow, .ignoresLimit, .ignoresOffset, .ignoresOrder, .ignoresConditions, .missesNilInInequality,
        .turnsEmptyTextIntoNil, .losesMicroseconds, .forgetsRollback, .forgetsAuthors, .leavesOutUpdates,
    ])
    func aBrokenStoreIsFoundOutByASmallProgram(_ defect: MutantStore.Defect) throws {
        let harness = try StoreHarness {
            StorePlace(store: { name in MutantStore(InMemoryStore(configuration: name), defect) }, remove: {})
        }
        let result = try suite([harness]).run(programs: 300, seed: 1, most: 1)
        let found = try #require(result.differences.first)
        #expect(found.program.operations <= 12, "\(ProgramPrinter.text(found.program, found.difference))")
    }

    /// A model of the user's own, as the command line takes one.
    @Test func aModelFileCanBeUsed() throws {
        let schema = try Schema(
            entities: [
                Entity(
                    "Person", attributes: [Attribute("name", .string), Attribute("age", .int64, isOptional: true)],
                    relationships: [Relationship("pets", to: "Pet", .toMany, inverse: "owner", deleteRule: .cascade)]),
                Entity(
                    "Pet", attributes: [Attribute("name", .string)], relationships: [Relationship("owner", to: "Person", inverse: "pets")]),
            ])
        let harness = try StoreHarness.scratch("memory:", opener: StoreCatalog.standard)
        let result = try suite([harness], schema: schema).run(programs: 10, seed: 1)
        #expect(result.differences.map { ProgramPrinter.text($0.program, $0.difference) } == [])
    }

    @Test func theSameSeedMakesTheSameProgram() throws {
        let one = try ProgramGenerator.program(seed: 7, operations: 60), two = try ProgramGenerator.program(seed: 7, operations: 60)
        #expect(one.schema == two.schema)
        #expect("\(one.steps)" == "\(two.steps)")
        #expect("\(one.steps)" != "\(try ProgramGenerator.program(seed: 8, operations: 60).steps)")
    }
}
