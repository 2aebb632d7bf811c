public import Foundation
public import PolystoreStorage
internal import Synchronization

/// Follows what others commit to the stores of a stack, under other authors or in other processes, for as long as it monitors.
///
/// ```swift
/// let tracker = PersistentHistoryTracker(stack, currentAuthor: .iOSViewContext)
/// tracker.startMonitoring()
/// for await event in tracker.events() { … }
/// ```
/// - The view contexts of the stack merge what others commit, those of other processes included.
/// - Whoever asks for `events()` is told each transaction of others, in the order of each store's history.
/// - How far it has come is kept in the stores: it goes on after a restart with what was committed meanwhile.
/// - Transactions that every registered consumer has acknowledged are purged when they are old enough.
///
/// Stores that keep no history are left out.
public actor PersistentHistoryTracker {
    /// What listeners are told.
    public enum Event: Sendable {
        /// Somebody else has committed.
        case transaction(HistoryTransaction)
        /// Something is missing: the history does not reach back to where the tracker was, or the listener was too slow. The store is to
        /// be read anew.
        case gap(store: UUID)

        /// The identity of the store that it is about.
        public var store: UUID {
            switch self {
            case .transaction(let transaction): transaction.store
            case .gap(let store): store
            }
        }
    }

    /// Who writes here: transactions of this author are not told.
    public nonisolated let currentAuthor: TransactionAuthor
    /// How it works.
    public nonisolated let options: PersistentHistoryTrackingOptions
    /// The last failure, such as a store that is out of reach; it is tried again every second. Nil while all goes well.
    public private(set) var lastError: StorageError?

    private nonisolated let core: StackCore
    private nonisolated let listeners: TrackerListeners
    private nonisolated let monitoring = Mutex<Task<Void, Never>?>(nil)
    private var positions: [Int: HistoryToken] = [:]
    private var acknowledged: [Int: ContinuousClock.Instant] = [:]
    private var lastPurge: ContinuousClock.Instant?

    /// A tracker that does not monitor yet.
    public init(
        _ stack: DataStack, currentAuthor: TransactionAuthor, options: PersistentHistoryTrackingOptions = PersistentHistoryTrackingOptions()
    ) {
        self.currentAuthor = currentAuthor
        self.options = options
        core = stack.core
        listeners = TrackerListeners(capacity: options.bufferedEvents)
    }

    deinit {
        monitoring.withLock { $0 }?.cancel()
        listeners.finish()
    }

    /// Whether it monitors.
    public nonisolated var isMonitoring: Bool { monitoring.withLock { $0 != nil } }

    /// Begins, or does nothing if it has. The stores are asked to watch, and the tracker is registered with them, before the return: what
    /// others commit afterwards is not missed. A store that cannot be asked is asked again later.
    public nonisolated func startMonitoring() {
        monitoring.withLock { task in
            if task != nil { return }
            let mailbox = CommitMailbox()
            try? core.observe(mailbox)
            for consumer in consumers { _ = try? consumer.register(from: .now) }
            task = Task { [weak self] in
                let arrivals = mailbox.arrivals()
                mailbox.wake()
                for await _ in arrivals {
                    _ = mailbox.take()
                    guard let pause = await self?.catchUp() else { return }
                    if pause == .zero { continue }
                    try? await Task.sleep(for: pause)
                    mailbox.wake()
                }
            }
        }
    }

    /// Ends it. What is being told is told to the end; the stores keep how far it has come.
    public nonisolated func stopMonitoring() {
        monitoring.withLock { task in
            task?.cancel()
            task = nil
        }
    }

    /// What others commit from now on while the tracker monitors. Each call gives a sequence of its own, for one consumer; it ends with the
    /// tracker.
    public nonisolated func events() -> AsyncStream<Event> { listeners.stream() }

    /// Its consumer in each store that keeps a history.
    private nonisolated var consumers: [HistoryConsumer] {
        let name = options.consumer ?? "tracker.\(currentAuthor.name)"
        return core.entries.filter { $0.entry.store.capabilities.contains(.history) }.map {
            HistoryConsumer(name: name, core: core, position: $0.position)
        }
    }

    // MARK: Following

    /// Tells everything that is there.
    ///
    /// - Returns: The time after which to look again; zero to wait for the next commit.
    private func catchUp() async -> Duration {
        lastError = nil
        var pause = Duration.zero
        for consumer in consumers {
            while !Task.isCancelled {
                let after = positions[consumer.position], author = currentAuthor
                let found = await core.workers.result { () throws(StorageError) in
                    try consumer.core.nextOfOthers(consumer, after: after, author)
                }
                switch found {
                case .success(let step):
                    for transaction in step.page.transactions { listeners.tell(.transaction(transaction)) }
                    await advance(consumer, to: step.page.next, hasWork: !step.page.transactions.isEmpty)
                    if !step.page.isLast { continue }
                    if step.isUnsettled { pause = max(pause, .milliseconds(20)) }
                case .failure(let error) where error.code == .tokenExpired:
                    if await restart(consumer) { continue }
                case .failure(let error): lastError = error
                }
                break
            }
        }
        await purgeIfDue()
        return lastError == nil ? pause : .seconds(1)
    }

    /// Goes on. What only this author has committed is acknowledged once a second at most: to come across it again costs nothing.
    private func advance(_ consumer: HistoryConsumer, to token: HistoryToken, hasWork: Bool) async {
        if positions[consumer.position] == token { return }
        positions[consumer.position] = token
        if !hasWork, let last = acknowledged[consumer.position], last.duration(to: .now) < .seconds(1) { return }
        acknowledged[consumer.position] = .now
        await attempt { () throws(StorageError) in try consumer.acknowledge(token) }
    }

    private func restart(_ consumer: HistoryConsumer) async -> Bool {
        let token = await attempt { () throws(StorageError) in try consumer.restart(from: .now) }
        guard let token else { return false }
        positions[consumer.position] = token
        listeners.tell(.gap(store: token.store))
        return true
    }

    private func purgeIfDue() async {
        guard let age = options.keepsHistoryFor else { return }
        if let lastPurge, lastPurge.duration(to: .now) < options.purgeInterval { return }
        lastPurge = .now
        let purge = HistoryPurge(.olderThan(age), ignoresUnseenFor: options.ignoresConsumersUnseenFor?.inSeconds)
        for consumer in consumers {
            let position = positions[consumer.position]
            await attempt { () throws(StorageError) in
                if let position { try consumer.acknowledge(position) }
                return try consumer.core.purgeHistory(purge, of: consumer.position)
            }
        }
    }

    /// Does something in a store on a thread of the stack; nil where it failed.
    @discardableResult
    private func attempt<R: Sendable>(_ body: @escaping @Sendable () throws(StorageError) -> R) async -> R? {
        switch await core.workers.result(of: body) {
        case .success(let value): return value
        case .failure(let error):
            lastError = error
            return nil
        }
    }
}

extension StackCore {
    /// The next page of what others have committed; where it begins for the first time, the consumer's offset says where.
    fileprivate func nextOfOthers(
        _ consumer: HistoryConsumer, after: HistoryToken?, _ author: TransactionAuthor
    ) throws(StorageError) -> (page: HistoryPage, isUnsettled: Bool) {
        var start = after
        if start == nil { start = try consumer.register(from: .now) }
        return try withHistory(of: consumer.position) { reader, store throws(StorageError) in
            var scan = HistoryScan(after: start)
            scan.excludedAuthors = [author.name]
            let page = HistoryPage(try scan.page(reader, store: store), model)
            let isUnsettled = try reader.hasUnsettledHistory()
            return (page, page.isLast && isUnsettled)
        }
    }
}
