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

    @Test func aGapInPlaceOfRemovedEventsStaysFirstBeforeAnotherGap() async {
        let log = TrackerLog(capacity: 10)
        log.append([item(first, 1, time: 800), item(first, 2, time: 950)])
        #expect(remove(log))
        log.forgetOffsets(of: first)
        log.append([gap(first, after: 7)])
        #expect(restart(log, first, readTo: 7) == token(first, 7))
        #expect(await buffered(log) == [first: ["gap", "2", "gap"]])
    }

    @Test func anEventDatedInTheFutureIsRemovedWithAnOlderTransactionThatIsNoEvent() async {
        let log = TrackerLog(capacity: 10)
        log.append([item(first, 1, time: 5000), item(second, 1, time: 5000)])
        log.skip(Date(timeIntervalSince1970: 950), in: first)
        #expect(!remove(log))
        log.skip(Date(timeIntervalSince1970: 800), in: first)
        #expect(remove(log))
        #expect(restart(log, first, readTo: 4) == token(first, 4))
        #expect(await buffered(log) == [first: ["gap"], second: ["1"]])
    }

    @Test func whatAListenerLeavesUnprocessedBesideAnotherIsDeliveredToThat() async {
        let log = TrackerLog(capacity: 10)
        log.append([item(first, 1, time: 950), item(first, 2, time: 950), gap(first, after: 7), item(first, 8, time: 950)])
        var leaving: TrackerListener? = log.listen()
        do {
            var events = leaving?.events.makeAsyncIterator()
            for _ in 0..<2 { _ = await events?.next() }
        }
        // The first one is processed; the second one is being processed.
        let other = log.listen()
        leaving = nil
        guard case .processed(let offset, let isAll) = log.takeProgress(in: first, readTo: token(first, 8)) else {
            return #expect(Bool(false), "the events count as removed")
        }
        #expect(offset?.token == token(first, 1) && !isAll && leaving == nil)
        log.finish()
        var found: [String] = []
        for await event in other.events {
            if case .transaction(let transaction) = event { found.append(transaction.author.name) } else { found.append("gap") }
        }
        #expect(found == ["2", "gap", "8"])
    }

    /// Random operations. Each transaction is delivered to a listener, or a gap of its store is delivered after it was added.
    @Test func nothingIsLost() { for seed in 0..<2000 { expectNothingLost(seed) } }

    private func expectNothingLost(_ seed: Int) {
        var random = RandomLists(seed: seed), positions: [UUID: Int64] = [first: 0, second: 0]
        let capacity = Int.random(in: 1...12, using: &random), log = TrackerLog(capacity: capacity)
        var listeners: [TrackerListener] = [], waiting: [UUID: Set<Int64>] = [:]
        func take(_ listener: TrackerListener) -> Bool {
            switch listener.take() {
            case .transaction(let transaction)?: waiting[transaction.store]?.remove(transaction.token.position)
            case .gap(let store)?: waiting[store] = []
            case nil: return false
            }
            return true
        }
        for _ in 0..<60 {
            let store = Bool.random(using: &random) ? first : second, position = positions[store] ?? 0
            switch Int.random(in: 0..<10, using: &random) {
            case 0...2:
                let room = log.room(for: store)
                if room == 0 { continue }
                let count = Int64.random(in: 1...4, using: &random), end = position + min(Int64(room), count)
                waiting[store, default: []].formUnion((position + 1)...end)
                positions[store] = end
                log.append(((position + 1)...end).map { item(store, $0, time: [800, 950, 5000].randomElement(using: &random) ?? 0) })
            case 3: listeners.append(log.listen())
            case 4...6: if let listener = listeners.randomElement(using: &random) { _ = take(listener) }
            case 7: if let index = listeners.indices.randomElement(using: &random) { listeners.remove(at: index) }
            case 8: _ = remove(log)
            case 9 where Bool.random(using: &random): log.skip(Date(timeIntervalSince1970: 800), in: store)
            default:
                if Bool.random(using: &random), log.room(for: store) > 0 {
                    log.forgetOffsets(of: store)
                    log.append([gap(store, after: Bool.random(using: &random) ? position : nil)])
                }
            }
            if case .processed(let offset?, _) = log.takeProgress(in: store, readTo: nil), !offset.isRestart {
                // What was not delivered lies after the offset.
                let isAfter = waiting[store, default: []].allSatisfy { $0 > offset.token.position }
                #expect(isAfter, "seed \(seed)")
            }
        }
        listeners.append(log.listen())
        for listener in listeners { while take(listener) {} }
        let isNothingLeft = waiting.values.allSatisfy { $0.isEmpty }
        #expect(isNothingLeft, "seed \(seed)")
        #expect(log.room(for: first) == capacity && log.room(for: second) == capacity, "seed \(seed)")
    }
}
