import Foundation
import PolystoreStorage
import Testing

@testable import Polystore

/// In which order commits of a stack and those that its history tells are told.
@Suite struct HistoryGateTests {
    private static let store = UUID()

    private func token(_ position: Int64) -> HistoryToken { HistoryToken(store: Self.store, position: position) }
    private func entry(_ position: Int64) -> HistoryEntry {
        HistoryEntry(token: token(position), time: 0, author: "other", changes: HistoryChanges())
    }
    private func own(_ position: Int64) -> CommittedChanges {
        CommittedChanges([.init(store: 0, token: token(position), changes: HistoryChanges())], author: "own", source: nil)
    }

    /// A gate that expectations can change.
    private final class Box {
        private var gate: HistoryGate

        init(isOrdered: Bool) {
            gate = HistoryGate(isOrdered: isOrdered)
            gate.start(after: 3)
        }

        func admit(_ commit: CommittedChanges, at position: Int64) -> Bool { gate.admit(commit, at: position) }
        func pass(_ entry: HistoryEntry) -> String? { gate.pass(entry, 0)?.author }
        func doubt() { gate.doubt() }
        func settle(_ doubts: Int) -> [Int64?] { gate.settle(doubts).map { $0.parts[0].token?.position } }
    }

    @Test func aGapIsTheCommitOfSomebodyElse() {
        let gate = Box(isOrdered: true)
        #expect(gate.admit(own(4), at: 4))
        #expect(!gate.admit(own(6), at: 6))
        #expect(gate.pass(entry(4)) == nil)
        #expect(gate.pass(entry(5)) == "other")
        #expect(gate.pass(entry(6)) == "own")
        #expect(gate.pass(entry(6)) == nil)
    }

    @Test func whatWasToldIsNotToldByTheHistory() {
        let gate = Box(isOrdered: false)
        // A commit of this stack that is just being told when the gate begins.
        #expect(gate.admit(own(6), at: 6))
        #expect(gate.pass(entry(4)) == "other")
        #expect(gate.pass(entry(5)) == "other")
        #expect(gate.pass(entry(6)) == nil)
        #expect(gate.pass(entry(7)) == "other")
    }

    @Test func whatFollowsADoubtfulCommitWaitsForTheHistory() {
        let gate = Box(isOrdered: false)
        #expect(gate.admit(own(4), at: 4))
        gate.doubt()
        // The commit in doubt, 5, is there: it comes first.
        #expect(!gate.admit(own(6), at: 6) && !gate.admit(own(7), at: 7))
        #expect(gate.pass(entry(4)) == nil)
        #expect(gate.pass(entry(5)) == "other")
        #expect(gate.pass(entry(6)) == "own")
        // A look that began before the doubt says nothing.
        #expect(gate.settle(0).isEmpty)
        #expect(!gate.admit(own(8), at: 8))
        #expect(gate.settle(1) == [7, 8])
        #expect(gate.admit(own(9), at: 9))
        for position: Int64 in 7...9 { #expect(gate.pass(entry(position)) == nil) }
        #expect(gate.settle(1).isEmpty)
    }
}
