internal import PolystoreFoundation
internal import PolystoreObjects
internal import Synchronization

/// The events that a tracker has found and its listeners have not processed, in a buffer that is bounded for each store.
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
        /// Items were removed, and no listener has received the gap in their place. The token is the offset after this gap, or the one up to
        /// which the history was read if the gap does not change the offset; nil if no token is valid.
        case missed(HistoryToken?)
    }

    struct Item: Sendable {
        let event: Event
        /// The processed offset of the store's history after this item; nil if the item does not change it.
        let offset: Offset?
        /// The earliest time of the transactions after this item, and before the next one of the store, that are no events; nil if there are
        /// none.
        var skipped: Date?
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
        /// The numbers of unprocessed items by store.
        var counts: [UUID: Int] = [:]
        /// The stores for whose items the tracker waits for room.
        var blocked: Set<UUID> = []
        var wake: (@Sendable () -> Void)?
        var lastWake: ContinuousClock.Instant?
        /// Whether items were processed without waking the tracker since its current pass began.
        var hasProgress = false
        var isFinished = false

        var end: Int { first + items.count }
    }

    private let state = Mutex(State())
    private let capacity: Int

    init(capacity: Int) { self.capacity = max(capacity, 1) }

    /// Sets a closure that is called after items were processed.
    @inline(never) func whenDone(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.wake = body } }

    /// Begins a pass of the tracker.
    @inline(never) func beginPass() { state.withLock { $0.hasProgress = false } }

    /// Whether items were processed during the pass of the tracker, or may be soon, without waking it, so that it must look again.
    var mayHaveProgress: Bool {
        @inline(never) get { state.withLock { $0.hasProgress || !Self.isWakeDue($0) } }
    }

    /// Returns the number of items of a store that can be added; 0 if the tracker should wait until more items are processed, when it is
    /// woken. A store with many items does not prevent the tracker from reading another.
    @inline(never) func room(for store: UUID) -> Int {
        state.withLock { state in
            if hasRoom(for: store, state) { return capacity - state.counts[store, default: 0] }
            state.blocked.insert(store)
            return 0
        }
    }

    /// Whether at least half of the buffer of a store is free.
    private func hasRoom(for store: UUID, _ state: State) -> Bool {
        capacity - state.counts[store, default: 0] >= (capacity + 1) / 2
    }

    /// Whether there are listeners.
    var isHeard: Bool { @inline(never) get { state.withLock { !$0.readers.isEmpty } } }

    @inline(never) func append(_ items: [Item]) {
        let arrivals = state.withLock { state in
            state.items += items
            for item in items { state.counts[item.event.store, default: 0] += 1 }
            return state.readers.map(\.arrival)
        }
        for arrival in arrivals { arrival.yield() }
    }

    /// Records the earliest time of transactions that are no events, after the last item of a store.
    @inline(never) func skip(_ time: Date, in store: UUID) {
        state.withLock { state in
            guard state.counts[store, default: 0] > 0, let last = state.items.lastIndex(where: { $0.event.store == store }) else { return }
            state.items[last].skipped = min(state.items[last].skipped ?? time, time)
        }
    }

    /// Returns the progress of the listeners in a store since the last call.
    ///
    /// - Parameter token: The token up to which the history of the store was read; nil if it is not known or no longer valid.
    @inline(never) func takeProgress(in store: UUID, readTo token: HistoryToken?) -> Progress {
        state.withLock { state in
            let isAll = state.counts[store, default: 0] == 0
            guard let gap = state.unheard[store] else { return .processed(state.offsets.removeValue(forKey: store), isAll: isAll) }
            // Without items after it the gap includes everything that was read.
            if isAll, gap.offset != nil, let token {
                state.unheard[store] = Item(event: gap.event, offset: Offset(token: token, isRestart: true))
            }
            return .missed(state.unheard[store]?.offset?.token ?? token)
        }
    }

    /// Discards the offsets of a store before a gap, because its history no longer has their transactions. The items remain, and so does a
    /// gap in place of items before them.
    @inline(never) func forgetOffsets(of store: UUID) {
        state.withLock { state in
            state.offsets[store] = nil
            state.unheard[store] = state.unheard[store].map { Item(event: $0.event, offset: nil) }
            for (index, item) in state.items.enumerated() where item.event.store == store {
                state.items[index] = Item(event: item.event, offset: nil, skipped: item.skipped)
            }
        }
    }

    /// Replaces items that are older than a limit by a gap for the next listener, if there are no listeners. In each store the first younger
    /// item ends the removal. Transactions dated in the future are removed with an older transaction after them, as by a purge of the
    /// history, or if the buffer is full, because those that the tracker has not read yet could be older.
    ///
    /// - Returns: Whether any items were removed.
    @inline(never) func removeUnheard(before limit: Date, now: Date = Date()) -> Bool {
        state.withLock { state in
            guard state.readers.isEmpty else { return false }
            Self.compact(&state)
            // For each store, the end of the items to remove.
            var ends: [UUID: Int] = [:], young: Set<UUID> = []
            for (index, item) in state.items.enumerated() where !young.contains(item.event.store) {
                let store = item.event.store
                switch item.event {
                case .transaction(let transaction) where transaction.time >= limit:
                    if transaction.time <= now {
                        young.insert(store)
                    } else if item.skipped.map({ $0 < limit }) ?? false || !hasRoom(for: store, state) {
                        ends[store] = index + 1
                    }
                case .transaction, .gap: ends[store] = index + 1
                }
            }
            if ends.isEmpty { return false }
            let items = state.items
            state.items = []
            for (index, item) in items.enumerated() {
                let store = item.event.store
                guard index < ends[store] ?? 0 else {
                    state.items.append(item)
                    continue
                }
                let token = (item.offset ?? state.unheard[store]?.offset)?.token
                state.unheard[store] = Item(event: .gap(store: store), offset: token.map { Offset(token: $0, isRestart: true) })
                state.offsets[store] = nil
                state.counts[store, default: 0] -= 1
            }
            return true
        }
    }

    // MARK: Listeners

    /// Returns a listener, which begins with the items that some listener has not processed, because that listener may leave. If it is the
    /// only one, a gap in place of those that were removed comes first.
    @inline(never) func listen() -> TrackerListener {
        let (arrivals, arrival) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let (number, isFinished) = state.withLock { state in
            if state.readers.isEmpty {
                Self.compact(&state)
                for store in state.unheard.keys { state.counts[store, default: 0] += 1 }
                state.items.insert(contentsOf: state.unheard.values, at: 0)
                state.first -= state.unheard.count
                state.undone = state.first
                state.unheard = [:]
            }
            state.listeners += 1
            state.readers.append(Reader(number: state.listeners, arrival: arrival, undone: state.undone, next: state.undone))
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
            let store = item.event.store
            state.counts[store, default: 0] -= 1
            guard let offset = item.offset else { continue }
            let isRestart = offset.isRestart || state.offsets[store]?.isRestart ?? false
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
        let free = state.blocked.filter { hasRoom(for: $0, state) }
        guard state.undone == state.end || !free.isEmpty || Self.isWakeDue(state) else {
            state.hasProgress = true
            return nil
        }
        state.blocked.subtract(free)
        state.lastWake = .now
        return state.wake
    }

    private static func isWakeDue(_ state: State) -> Bool { state.lastWake.map { $0.duration(to: .now) > .seconds(1) } ?? true }
}
