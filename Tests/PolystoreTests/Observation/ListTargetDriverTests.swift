import Foundation
import Testing

@testable import PolystoreObjects
@testable import PolystoreObservation

/// What a driver asks of its target.
@Suite struct ListTargetDriverTests {
    typealias Snapshot = ListSnapshotTests.Snapshot

    /// A target that applies every step by the contract, and notes what it was asked.
    private final class Recorder: ListTarget {
        typealias Object = DynamicObject
        var shown = Snapshot()
        var calls: [String] = []
        var shouldSuspendBatchUpdates = false
        var showsItself = true
        var duringStep: () -> Void = {}

        func reloadData(_ snapshot: Snapshot) {
            calls.append("reload")
            shown = snapshot
        }

        func performBatchUpdates(_ stage: ListStage<DynamicObject>, animated: Bool, show: @escaping () -> Void) {
            calls.append(animated ? "animated" : "plain")
            do {
                let changed = try ListApplication.apply(stage.changes, to: shown.contents, from: stage.snapshot.contents)
                #expect(try ListStageTests.move(stage.movedSections, in: changed) == stage.snapshot.contents)
            } catch {
                Issue.record(error)
            }
            duringStep()
            if showsItself { show() }
            shown = stage.snapshot
        }
    }

    private func snapshot(_ sections: [(String, [Int64])], updated: [Int64] = []) -> Snapshot {
        ListSnapshotTests.snapshot(sections, updated: updated)
    }

    @Test func theFirstSnapshotReloadsAndLaterOnesAreAppliedAsSteps() {
        let target = Recorder(), driver = ListTargetDriver(target)
        driver.apply(snapshot([("a", [1, 2])]))
        driver.apply(snapshot([("a", [2, 1])]))
        driver.apply(snapshot([("a", [2, 1]), ("b", [3])], updated: [2]), animated: false)
        #expect(target.calls == ["reload", "animated", "plain", "plain"])
        #expect(driver.snapshot == target.shown)
    }

    @Test func anEqualSnapshotCausesNoSteps() {
        let target = Recorder(), driver = ListTargetDriver(target)
        driver.apply(snapshot([("a", [1])]))
        driver.apply(snapshot([("a", [1])]))
        #expect(target.calls == ["reload"])
    }

    @Test func aSuspendedTargetReloads() {
        let target = Recorder(), driver = ListTargetDriver(target)
        driver.apply(snapshot([("a", [1])]))
        target.shouldSuspendBatchUpdates = true
        driver.apply(snapshot([("a", [2]), ("b", [1])], updated: [1]))
        #expect(target.calls == ["reload", "reload"])
        // It may also be suspended between two steps.
        target.shouldSuspendBatchUpdates = false
        target.duringStep = { [unowned target] in target.shouldSuspendBatchUpdates = true }
        driver.apply(snapshot([("b", [1, 3])], updated: [1]))
        #expect(target.calls == ["reload", "reload", "animated", "reload"])
        #expect(target.shown == driver.snapshot)
    }

    @Test func tooManyChangesReload() {
        let target = Recorder(), driver = ListTargetDriver(target, changeLimit: 3)
        driver.apply(snapshot([("", [1])]))
        driver.apply(snapshot([("", [1, 2, 3, 4])]))
        driver.apply(snapshot([("", [1, 2, 3, 4, 5, 6, 7, 8])]))
        #expect(target.calls == ["reload", "animated", "reload"])
    }

    @Test func theDriverHoldsTheOldListUntilTheTargetShowsTheNewOne() {
        let target = Recorder(), driver = ListTargetDriver(target)
        let old = snapshot([("", [1])]), new = snapshot([("", [1, 2])])
        driver.apply(old)
        target.duringStep = { #expect(driver.snapshot == old) }
        driver.apply(new)
        #expect(driver.snapshot == new)
        target.showsItself = false
        target.duringStep = {}
        driver.apply(old)
        #expect(driver.snapshot == old)
    }

    @Test func aSnapshotThatArrivesDuringAStepWaitsAndKeepsEarlierUpdates() {
        let target = Recorder(), driver = ListTargetDriver(target)
        driver.apply(snapshot([("", [1, 2])]))
        var isFirst = true
        target.duringStep = { [self] in
            if !isFirst { return }
            isFirst = false
            driver.apply(snapshot([("", [1, 2, 3, 4])], updated: [1]))
            driver.apply(snapshot([("", [1, 2, 3, 4, 5])], updated: [2]))
        }
        driver.apply(snapshot([("", [1, 2, 3])]))
        #expect(driver.snapshot == snapshot([("", [1, 2, 3, 4, 5])]))
        #expect(driver.snapshot.updatedItemIDs == [ListSnapshotTests.id(1), ListSnapshotTests.id(2)])
        target.duringStep = {}
        // The first, the updates of the two that waited, and their insertions.
        #expect(target.calls == ["reload", "animated", "animated", "animated"])
    }

    @Test func aTargetFollowsRandomLists() {
        let target = Recorder(), driver = ListTargetDriver(target)
        var random = RandomLists(seed: 151)
        let stores = ListStores([0: UUID(), 1: ListSnapshotTests.store], root: "Thing")
        for _ in 0..<300 {
            let list = Snapshot(
                random.list(universe: 20, sections: 5), stores: stores,
                updated: Set(random.list(universe: 20, sections: nil).items))
            driver.apply(list)
            #expect(driver.snapshot == list && target.shown == list)
        }
    }
}
