internal import Foundation
internal import PolystoreObjects
internal import Synchronization

/// The events that a tracker has found and its listeners have not processed, in a bounded buffer.
///
/// A listener has processed an event when it requests the next one. Events that all listeners have processed can be acknowledged. Events
/// that the last listener leaves unprocessed wait for the next listener.
///
/// Functions that tasks call are not inlined: decision 0038, "No lock is inlined where a task waits".
final class TrackerLog: Sendable {
    typealias Event = PersistentHistoryTracker.Event

    /// The processed offset in the history of a store.
    struct Offset: Sendable {
        let token: HistoryToken
        /// Whether the offset does not continue from the previous one.
        let isRestart: Bool
    }

    /// The progress of the listeners in a store.
    enum Progress: Sendable {
        /// The new offset, if there is one, and whether all items are processed.
        case processed(Offset?, isAll: Bool)
        /// Items were removed, and no listener has received the gap in their place. The token is the offset after this gap; nil if it does not
        /// change the offset.
        case missed(HistoryToken?)
    }

    struct Item: Sendable {
        let event: Event
        /// The processed offset of the store's history after this item; nil if the item does not change it.
        let offset: Offset?
    }

    private struct Reader: Sendable {
        let number: Int
        let arrival: AsyncStream<Void>.Continuation
        /// The number of the first item that the reader has not processed.
        var undone: Int
        /// The number of the reader's next item.
        var next: Int
    }

    private struct State: Sendable {
        /// Numbered items. Processed ones are removed from time to time.
        var items: [Item] = []
        var first = 0
        /// The number of the first item that some listener has not processed.
        var undone = 0
        var readers: [Reader] = []
        var listeners = 0
        var offsets: [UUID: Offset] = [:]
        /// The gaps in place of items that were removed because there was no listener, by the identity of their store. They wait for the
        /// next listener.
        var unheard: [UUID: Item] = [:]
        /// Whether the tracker waits for room.
        var isBlocked = false
        var wake: (@Sendable () -> Void)?
        var lastWake: ContinuousClock.Instant?
        var isFinished = false

        var end: Int { first + items.count }
        var count: Int { end - undone }
        /// The unprocessed items.
        var waiting: ArraySlice<Item> { items[(undone - first)...] }
    }

    private let state = Mutex(State())
    private let capacity: Int

    init(capacity: Int) { self.capacity = max(capacity, 1) }

    /// Sets a closure that is called after items were processed.
    @inline(never) func whenDone(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.wake = body } }

    /// Returns the number of items that can be added; 0 if the tracker should wait until more items are processed, when it is woken.
    @inline(never) func room() -> Int {
        state.withLock { state in
            let room = capacity - state.count
            state.isBlocked = room < (capacity + 1) / 2
            return state.isBlocked ? 0 : room
        }
    }

    /// Whether there are listeners.
    var isHeard: Bool { @inline(never) get { state.withLock { !$0.readers.isEmpty } } }

    @inline(never) func append(_ items: [Item]) {
        let arrivals = state.withLock { state in
            state.items += items
            return state.readers.map(\.arrival)
        }
        for arrival in arrivals { arrival.yield() }
    }

    /// Returns the progress of the listeners in a store since the last call.
    ///
    /// - Parameter token: The token up to which the history of the store was read.
    @inline(never) func takeProgress(in store: UUID, readTo token: HistoryToken?) -> Progress {
        state.withLock { state in
            let isAll = !state.waiting.contains { $0.event.store == store }
            guard let gap = state.unheard[store] else { return .processed(state.offsets.removeValue(forKey: store), isAll: isAll) }
            // Without items after it the gap includes everything that was read.
            if isAll, gap.offset != nil, let token {
                state.unheard[store] = Item(event: gap.event, offset: Offset(token: token, isRestart: true))
            }
            return .missed(state.unheard[store]?.offset?.token)
        }
    }

    /// Discards the offsets of a store before a gap, because its history no longer has their transactions. The items remain.
    @inline(never) func forgetOffsets(of store: UUID) {
        state.withLock { state in
            state.offsets[store] = nil
            state.unheard[store] = nil
            for (index, item) in state.items.enumerated() where item.event.store == store {
                state.items[index] = Item(event: item.event, offset: nil)
            }
        }
    }

    /// Replaces items that are older than a time by a gap for the next listener, if there are no listeners.
    ///
    /// - Returns: Whether any items were removed.
    @inline(never) func removeUnheard(before time: Date) -> Bool {
        state.withLock { state in
            guard state.readers.isEmpty else { return false }
            let old = state.waiting.prefix { item in
                if case .transaction(let transaction) = item.event { transaction.time < time } else { true }
            }
            for item in old {
                let store = item.event.store, token = (item.offset ?? state.unheard[store]?.offset)?.token
                state.unheard[store] = Item(event: .gap(store: store), offset: token.map { Offset(token: $0, isRestart: true) })
                state.offsets[store] = nil
            }
            state.undone += old.count
            Self.compact(&state)
            return !old.isEmpty
        }
    }

    // MARK: Listeners

    /// Returns a listener for future items. If it is the only listener, it begins with the unprocessed items, after a gap in place of those
    /// that were removed.
    @inline(never) func listen() -> TrackerListener {
        let (arrivals, arrival) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let (number, isFinished) = state.withLock { state in
            var start = state.end
            if state.readers.isEmpty {
                Self.compact(&state)
                let gaps = state.unheard.values
                state.items.insert(contentsOf: gaps, at: 0)
                state.first -= gaps.count
                state.unheard = [:]
                state.undone = state.first
                start = state.first
            }
            state.listeners += 1
            state.readers.append(Reader(number: state.listeners, arrival: arrival, undone: start, next: start))
            return (state.listeners, state.isFinished)
        }
        if isFinished { arrival.finish() }
        return TrackerListener(self, number, arrivals)
    }

    /// Returns the next event of a listener, which has processed the previous ones; nil if it must wait.
    @inline(never) func next(_ listener: Int) -> Event? {
        let (event, wake) = state.withLock { state -> (Event?, (@Sendable () -> Void)?) in
            guard let index = state.readers.firstIndex(where: { $0.number == listener }) else { return (nil, nil) }
            let before = state.undone
            state.readers[index].undone = state.readers[index].next
            Self.settle(&state)
            let wake = state.undone > before ? wakeIfDue(&state) : nil
            let next = state.readers[index].next
            if next == state.end { return (nil, wake) }
            state.readers[index].next += 1
            return (state.items[next - state.first].event, wake)
        }
        wake?()
        return event
    }

    /// Removes a listener. The other listeners may have processed its remaining items.
    @inline(never) func leave(_ listener: Int) {
        let wake = state.withLock { state -> (@Sendable () -> Void)? in
            state.readers.removeAll { $0.number == listener }
            let before = state.undone
            Self.settle(&state)
            return state.undone > before ? wakeIfDue(&state) : nil
        }
        wake?()
    }

    /// Ends all listeners after the buffered items.
    @inline(never) func finish() {
        let arrivals = state.withLock { state in
            state.isFinished = true
            return state.readers.map(\.arrival)
        }
        for arrival in arrivals { arrival.finish() }
    }

    /// Advances to the first item that some listener has not processed. Without listeners nothing counts as processed.
    private static func settle(_ state: inout State) {
        if let undone = state.readers.map(\.undone).min(), undone > state.undone { advance(&state, to: undone) }
    }

    private static func advance(_ state: inout State, to undone: Int) {
        for item in state.items[(state.undone - state.first)..<(undone - state.first)] {
            guard let offset = item.offset else { continue }
            let store = item.event.store, isRestart = offset.isRestart || state.offsets[store]?.isRestart ?? false
            state.offsets[store] = Offset(token: offset.token, isRestart: isRestart)
        }
        state.undone = undone
        // Each item is moved only a small number of times.
        if (undone - state.first) * 2 > state.items.count { compact(&state) }
    }

    private static func compact(_ state: inout State) {
        state.items.removeFirst(state.undone - state.first)
        state.first = state.undone
    }

    /// Returns the closure that wakes the tracker if it is due: all items are processed, there is room, or the last wake-up was more than a
    /// second ago.
    private func wakeIfDue(_ state: inout State) -> (@Sendable () -> Void)? {
        let hasRoom = state.isBlocked && capacity - state.count >= (capacity + 1) / 2
        let now = ContinuousClock.now
        let isDue = state.lastWake.map { $0.duration(to: now) > .seconds(1) } ?? true
        guard state.count == 0 || hasRoom || isDue else { return nil }
        state.isBlocked = state.isBlocked && !hasRoom
        state.lastWake = now
        return state.wake
    }
}
