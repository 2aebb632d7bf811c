import PolystoreInMemory
import PolystoreStorage
import Testing

@testable import PolystoreConformance

/// A case passes only if it has checked something.
@Suite struct EmptyCaseTests {
    private let harness = Result { try StoreHarness { StorePlace(store: { InMemoryStore(configuration: $0) }, remove: {}) } }

    private func result(_ body: @escaping @Sendable (StoreHarness, Check) throws -> Void) throws -> CaseResult {
        try ConformanceCase("X001.a-case", clause: "X1", body).run(harness.get())
    }

    @Test func aCaseWithoutChecksIsSkipped() throws {
        let empty = try result { _, _ in }
        #expect(empty.status == .skipped)
        #expect(empty.messages == ["checked nothing"])
        #expect(try result { _, check in check.equal(1, 1, "numbers") }.status == .pass)
        #expect(try result { _, check in check.isTrue(true, "a condition") }.status == .pass)
        #expect(try result { _, check in check.throwing(.notFound, "an error") { throw StorageError(.notFound, "none") } }.status == .pass)
    }

    @Test func aFailedCheckIsNotForgottenWhereTheRestHasNothingToCheck() throws {
        let failed = try result { _, check in
            check.equal(1, 2, "numbers")
            throw NothingToCheck("no second part")
        }
        #expect(failed.status == .fail)
    }

    @Test func aCaseOverPairsIsSkippedOnlyIfNoPairWasChecked() throws {
        let companion = try harness.get()
        let both = try StoreHarness(companions: [companion]) { StorePlace(store: { InMemoryStore(configuration: $0) }, remove: {}) }
        func result(_ isSkipping: @escaping @Sendable (Int) -> Bool) -> CaseResult.Status {
            ConformanceCase("X002.pairs", clause: "X1") { harness, check in
                var number = 0
                try harness.withPairs("People", "Rest", check) { _ in
                    number += 1
                    if isSkipping(number) { throw NothingToCheck("no common commits") }
                    check.isTrue(true, "a pair")
                }
            }.run(both).status
        }
        #expect(result { _ in true } == .skipped)
        #expect(result { $0 == 1 } == .pass)
    }
}
