import Foundation
import PolystoreStorage
import TestStores
import Testing

@testable import PolystoreObjects
@testable import PolystoreObservation

/// The events of a tracker between the histories and its listeners. Times are seconds after 1970; the present is 1000.
struct TrackerLogTests {
    private let model: StackModel
    private let first = UUID(), second = UUID()

    init() throws { model = try HistoryFixture.stack(.memory).core.model }

    private func token(_ store: UUID, _ position: Int64) -> HistoryToken { HistoryToken(store: store, position: position) }

    private func item(_ store: UUID, _ position: Int64, time: Int64) -> TrackerLog.Item {
        let token = token(store, position)
        let entry = HistoryEntry(token: token, time: time * 1_000_000, author: "\(position)", changes: HistoryChanges())
        return TrackerLog.Item(event: .transaction(HistoryTransaction(entry, model)), offset: .init(token: token, isRestart: false))
    }

    private func gap(_ store: UUID, after position: Int64?) -> TrackerLog.Item {
        TrackerLog.Item(event: .gap(store: store), offset: position.map { .init(token: token(store, $0), isRestart: true) })
    }

    /// Removes what is older than 100 seconds.
    private func remove(_ log: TrackerLog) -> Bool {
        log.removeUnheard(before: Date(timeIntervalSince1970: 900), now: Date(timeIntervalSince1970: 1000))
    }

    /// The buffered events of each store for a new listener: authors and gaps.
    private func buffered(_ log: TrackerLog) async -> [UUID: [String]] {
        log.finish()
        var found: [UUID: [String]] = [:]
        for await event in log.listen().events {
            let text = if case .transaction(let transaction) = event { transaction.author.name } else { "gap" }
            found[event.store, default: []].append(text)
        }
        return found
    }

    private func restart(_ log: TrackerLog, _ store: UUID, readTo position: Int64?) -> HistoryToken? {
        if case .missed(let token) = log.takeProgress(in: store, readTo: position.map { self.token(store, $0) }) { token } else { nil }
    }

    @Test func aYoungEventKeepsOnlyTheEventsOfItsStore() async {
        let log = TrackerLog(capacity: 10)
        log.append([
            item(first, 1, time: 950), item(second, 1, time: 800), item(first, 2, time: 800), item(second, 2, time: 950),
            item(second, 3, time: 800),
        ])
        #expect(remove(log))
        #expect(restart(log, first, readTo: 2) == nil)
        #expect(restart(log, second, readTo: 3) == token(second, 1))
        #expect(!remove(log))
        #expect(await buffered(log) == [first: ["1", "2"], second: ["gap", "2", "3"]])
    }

    @Test func anEventDatedInTheFutureIsRemovedWithAnOlderOneAfterIt() async {
        let log = TrackerLog(capacity: 10)
        log.append([item(first, 1, time: 5000)])
        #expect(!remove(log))
        log.append([item(first, 2, time: 800), item(first, 3, time: 5000)])
        #expect(remove(log))
        #expect(restart(log, first, readTo: 3) == token(first, 2))
        #expect(await buffered(log) == [first: ["gap", "3"]])
    }

    @Test func aFullBufferOfEventsDatedInTheFutureIsEmptied() {
        let log = TrackerLog(capacity: 4)
        log.append((1...2).map { item(first, $0, time: 5000) })
        #expect(!remove(log))
        log.append([item(first, 3, time: 5000)])
        #expect(remove(log))
        #expect(log.room(for: first) == 4)
    }

    @Test func aFullBufferOfAStoreLeavesRoomForOthers() {
        let log = TrackerLog(capacity: 4)
        log.append((1...3).map { item(first, $0, time: 950) })
        #expect(log.room(for: first) == 0)
        #expect(log.room(for: second) == 4)
    }

    @Test func nothingIsRemovedWhileThereIsAListener() {
        let log = TrackerLog(capacity: 10), listener = log.listen()
        log.append([item(first, 1, time: 800)])
        #expect(!remove(log))
        withExtendedLifetime(listener) {}
    }

    /// Its offset would allow a purge of entries after the gap that the tracker has not read.
    @Test func aGapWithoutAnOffsetRestartsWhereTheHistoryWasRead() {
        let log = TrackerLog(capacity: 10)
        log.append([item(first, 1, time: 800), item(first, 2, time: 950)])
        log.forgetOffsets(of: first)
        log.append([gap(first, after: 7)])
        #expect(remove(log))
        #expect(restart(log, first, readTo: 7) == token(first, 7))
    }

    @Test func aGapIsNotProcessedWhenItsListenerLeavesBesideAnother() async {
        let log = TrackerLog(capacity: 10)
        log.append([item(first, 1, time: 950), gap(first, after: 7), item(first, 8, time: 950)])
        var leaving: TrackerListener? = log.listen()
        var other: AsyncStream<PersistentHistoryTracker.Event>.Iterator?
        do {
            var events = leaving?.events.makeAsyncIterator()
            _ = await events?.next()
            _ = await events?.next()
            other = log.listen().events.makeAsyncIterator()
        }
        leaving = nil
        let next = await other?.next()
        guard case .gap(first) = next else { return #expect(Bool(false), "the other listener received \(next.debugDescription)") }
        guard case .processed(let offset, let isAll) = log.takeProgress(in: first, readTo: token(first, 8)) else {
            return #expect(Bool(false), "the events count as removed")
        }
        #expect(offset?.token == token(first, 1))
        #expect(!isAll)
        _ = await other?.next()
        guard case .processed(let later?, _) = log.takeProgress(in: first, readTo: token(first, 8)) else {
            return #expect(Bool(false), "the gap is not processed")
        }
        #expect(later.token == token(first, 7) && later.isRestart)
    }
}
