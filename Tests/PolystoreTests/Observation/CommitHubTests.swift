import Foundation
import PolystoreStorage
import Synchronization
import Testing

@testable import PolystoreObjects
@testable import PolystoreObservation

/// In which order commits of a stack and those that its histories name are told.
@Suite struct CommitHubTests {
    private static let stores = [UUID(), UUID()]

    private func token(_ position: Int64, _ store: Int) -> HistoryToken { HistoryToken(store: Self.stores[store], position: position) }

    private func own(_ author: String, _ positions: [Int: Int64]) -> CommittedChanges {
        let parts = positions.sorted { $0.key < $1.key }.map { store, position in
            CommittedChanges.Part(store: store, token: token(position, store), changes: HistoryChanges())
        }
        return CommittedChanges(parts, author: author)
    }

    /// A hub, and what it has told.
    private final class Scene: CommitSubscriber {
        let hub = CommitHub()
        private let authors = Mutex<[String]>([])

        init(isOrdered: [Bool]) {
            hub.subscribe(self)
            for (store, isOrdered) in isOrdered.enumerated() {
                hub.follow(store, isOrdered: isOrdered)
                hub.start(store, after: 3)
            }
        }

        func receive(_ changes: CommittedChanges) { authors.withLock { $0.append(changes.author) } }

        /// What was told since the last time.
        var told: [String] {
            authors.withLock { authors in
                defer { authors = [] }
                return authors
            }
        }
    }

    /// A commit of the stack, at once.
    private func commit(_ author: String, _ positions: [Int: Int64], _ scene: Scene) -> Set<Int> {
        scene.hub.end(scene.hub.begin(positions.keys), own(author, positions))
    }

    /// The history of a store is read; entries of others are told by their positions.
    private func read(_ positions: ClosedRange<Int64>, _ store: Int, _ scene: Scene) {
        scene.hub.advance(
            store, positions.map { HistoryEntry(token: token($0, store), time: 0, author: "\(store).\($0)", changes: HistoryChanges()) })
    }

    @Test func aGapInPositionsIsACommitOfAnotherProcess() {
        let scene = Scene(isOrdered: [true])
        #expect(commit("a", [0: 4], scene) == [])
        #expect(commit("b", [0: 6], scene) == [0])
        #expect(scene.told == ["a"])
        read(4...6, 0, scene)
        read(6...6, 0, scene)
        #expect(scene.told == ["0.5", "b"])
    }

    @Test func deliveredCommitsAreNotDeliveredAgainFromTheHistory() {
        let scene = Scene(isOrdered: [false])
        #expect(commit("a", [0: 6], scene) == [])
        read(4...7, 0, scene)
        #expect(scene.told == ["a", "0.4", "0.5", "0.7"])
    }

    /// Where positions do not say whether others have committed in between, the history is read now and then, so that it has not to be read
    /// as a whole when the first of them comes.
    @Test func theHistoryIsReadAfterManyCommits() {
        let scene = Scene(isOrdered: [false])
        var reads = 0
        for position in 4...2_003 where !commit("a", [0: Int64(position)], scene).isEmpty { reads += 1 }
        #expect((1...10).contains(reads))
        read(4...2_003, 0, scene)
        #expect(scene.told == Array(repeating: "a", count: 2_000))
        #expect(scene.hub.position(0) == 2_003)
    }

    @Test func commitsAfterOneInDoubtWaitForTheHistory() {
        let scene = Scene(isOrdered: [false])
        _ = commit("a", [0: 4], scene)
        scene.hub.doubt(0)
        // The commit in doubt, 5, is there: it comes first.
        #expect(commit("b", [0: 6], scene) == [0])
        _ = commit("c", [0: 7], scene)
        read(4...6, 0, scene)
        #expect(scene.told == ["a", "0.5", "b"])
        // A look that began before the doubt says nothing.
        scene.hub.settle(0, doubts: 0)
        _ = commit("d", [0: 8], scene)
        #expect(scene.told == [])
        scene.hub.settle(0, doubts: 1)
        #expect(commit("e", [0: 9], scene) == [])
        #expect(scene.told == ["c", "d", "e"])
        read(7...9, 0, scene)
        #expect(scene.told == [])
    }

    @Test func aCommitThatWaitsForOneStoreDelaysLaterCommitsOfTheOthers() {
        let scene = Scene(isOrdered: [true, true])
        // Somebody else has 4 of the first store.
        #expect(commit("both", [0: 5, 1: 4], scene) == [0])
        _ = commit("later", [1: 5], scene)
        read(4...6, 1, scene)
        #expect(scene.told == [])
        read(4...5, 0, scene)
        #expect(scene.told == ["0.4", "both", "later", "1.6"])
        #expect(commit("last", [0: 6, 1: 7], scene) == [])
        #expect(scene.told == ["last"])
    }

    @Test func aCommitWaitsForEachOfItsStores() {
        let scene = Scene(isOrdered: [true, true])
        #expect(commit("both", [0: 5, 1: 5], scene) == [0, 1])
        read(4...5, 0, scene)
        #expect(scene.told == ["0.4"])
        read(4...5, 1, scene)
        #expect(scene.told == ["1.4", "both"])
    }

    @Test func commitsOfTwoOrdersDoNotWaitForEachOther() {
        let scene = Scene(isOrdered: [false, true])
        scene.hub.doubt(0)
        // The server has given its numbers before the file was locked.
        _ = commit("first", [0: 7, 1: 5], scene)
        _ = commit("second", [0: 6, 1: 6], scene)
        read(4...8, 0, scene)
        #expect(scene.told == ["0.4", "0.5"])
        read(4...6, 1, scene)
        #expect(scene.told == ["1.4", "first", "second", "0.8"])
    }

    @Test func waitingForCommitsDoesNotWaitForTheHistory() {
        let scene = Scene(isOrdered: [true]), ended = Mutex(0)
        let ticket = scene.hub.begin([0])
        scene.hub.afterCommits(to: 0) { ended.withLock { $0 += 1 } }
        #expect(ended.withLock { $0 } == 0)
        // It has ended, though it waits for the history.
        #expect(scene.hub.end(ticket, own("a", [0: 5])) == [0])
        #expect(ended.withLock { $0 } == 1)
        scene.hub.afterCommits(to: 0) { ended.withLock { $0 += 1 } }
        #expect(ended.withLock { $0 } == 2 && scene.told == [])
    }
}
