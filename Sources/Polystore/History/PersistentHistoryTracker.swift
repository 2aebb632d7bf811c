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
        /// Something is missing: the history does not reach back to where the tracker was, somebody writes without recording it, or the
        /// listener was too slow. The store is to be read anew.
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
    /// The last failure, such as a store that is out of reach or cannot be watched; it is tried again every second. Nil while all goes
    /// well.
    public private(set) var lastError: StorageError?

    private nonisolated let core: StackCore
    private nonisolated let listeners: TrackerListeners
    private nonisolated let monitoring = Mutex(Monitoring())
    private var positions: [Int: HistoryToken] = [:]
    /// The stores of whose history no token is good, because somebody writes without recording it; that was told as a gap.
    private var unrecorded: Set<Int> = []
    /// Whether something has failed since the tracker began to look.
    private var hasFailed = false
    private var acknowledged: [Int: ContinuousClock.Instant] = [:]
    private var lastPurge: ContinuousClock.Instant?

    private struct Monitoring: Sendable {
        var isOn = false
        /// The newest; it may still tell what it has read when it is cancelled.
        var task: Task<Void, Never>?
    }

    /// When to look again.
    private enum Next {
        case arrival
        case arrivalOrSecond
        case pause(Duration)
    }

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
        monitoring.withLock { $0.task }?.cancel()
        listeners.finish()
    }

    /// Whether it monitors.
    public nonisolated var isMonitoring: Bool { monitoring.withLock { $0.isOn } }

    /// Begins, or does nothing if it has. The stores are asked to watch, and the tracker is registered with them, before the return: what
    /// others commit afterwards is not missed. A store that cannot be asked is asked again later.
    public nonisolated func startMonitoring() {
        monitoring.withLock { state in
            if state.isOn { return }
            state.isOn = true
            let mailbox = CommitMailbox(), last = state.task
            // Where a store refuses, all are asked again whenever the tracker looks.
            try? core.observe(mailbox)
            for consumer in consumers { _ = try? consumer.register(from: .now) }
            state.task = Task { [weak self] in
                // What was read before is told to the end first: beside it the same would be read, and told twice.
                await last?.value
                let arrivals = mailbox.arrivals()
                var timer: Task<Void, Never>?
                defer { timer?.cancel() }
                mailbox.wake()
                for await _ in arrivals {
                    timer?.cancel()
                    _ = mailbox.take()
                    guard let next = await self?.catchUp(mailbox) else { return }
                    switch next {
                    case .arrival: break
                    case .arrivalOrSecond:
                        timer = Task {
                            try? await Task.sleep(for: .seconds(1))
                            if !Task.isCancelled { mailbox.wake() }
                        }
                    case .pause(let pause):
                        try? await Task.sleep(for: pause)
                        mailbox.wake()
                    }
                }
            }
        }
    }

    /// Ends it. What is being told is told to the end; the stores keep how far it has come.
    public nonisolated func stopMonitoring() {
        monitoring.withLock { state in
            state.isOn = false
            state.task?.cancel()
        }
    }

    /// What others commit from now on while the tracker monitors; the first call also gives what was told before it, as far as there is
    /// room. Each call gives a sequence of its own, for one consumer; it ends with the tracker.
    public nonisolated func events() -> AsyncStream<Event> { listeners.stream() }

    /// Its consumer in each store that keeps a history. Not inlined into tasks: Decisions, "No lock is inlined where a task waits".
    @inline(never) private nonisolated var consumers: [HistoryConsumer] {
        let name = options.consumer ?? "tracker.\(currentAuthor.name)"
        return core.entries.filter { $0.entry.store.capabilities.contains(.history) }.map {
            HistoryConsumer(name: name, core: core, position: $0.position)
        }
    }

    /// Whether a store does not say what other processes commit, so that it is looked into every second. Not inlined into tasks either.
    @inline(never) private nonisolated var polls: Bool {
        core.entries.contains { item in
            let supported = item.entry.store.capabilities.supported
            return supported.isSuperset(of: [.history, .multipleProcesses]) && !supported.contains(.remoteChanges)
        }
    }

    // MARK: Following

    /// Tells everything that is there.
    ///
    /// - Parameter mailbox: What the stores are to tell their commits; those that are not watched yet are asked to.
    private func catchUp(_ mailbox: CommitMailbox) async -> Next {
        if Task.isCancelled { return .arrival }
        hasFailed = false
        var isUnsettled = false, polls = self.polls
        await attempt { [core] () throws(StorageError) in try core.observe(mailbox) }
        for consumer in consumers {
            while !Task.isCancelled {
                let after = positions[consumer.position], author = currentAuthor
                let found = await core.workers.observers.result { () throws(StorageError) in
                    try consumer.core.nextOfOthers(consumer, after: after, author)
                }
                switch found {
                case .success(let step):
                    guard let page = step.page else {
                        positions[consumer.position] = step.start
                        if unrecorded.insert(consumer.position).inserted { listeners.tell(.gap(store: step.start.store)) }
                        polls = true
                        break
                    }
                    unrecorded.remove(consumer.position)
                    for transaction in page.transactions { listeners.tell(.transaction(transaction)) }
                    await advance(consumer, to: page.next, hasWork: !page.transactions.isEmpty)
                    if !page.isLast { continue }
                    if step.isUnsettled { isUnsettled = true }
                case .failure(let error) where error.code == .tokenExpired:
                    if await restart(consumer) { continue }
                case .failure(let error): fail(error)
                }
                break
            }
        }
        await purgeIfDue()
        if hasFailed { return .pause(.seconds(1)) }
        lastError = nil
        if isUnsettled { return .pause(.milliseconds(20)) }
        return polls ? .arrivalOrSecond : .arrival
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
        for consumer in consumers where !unrecorded.contains(consumer.position) {
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
        switch await core.workers.observers.result(of: body) {
        case .success(let value): return value
        case .failure(let error):
            fail(error)
            return nil
        }
    }

    /// Keeps the first failure of a look.
    private func fail(_ error: StorageError) {
        if !hasFailed { lastError = error }
        hasFailed = true
    }
}

extension StackCore {
    /// The next page of what others have committed, and after what; where it begins for the first time, the consumer's offset says where.
    /// There is no page while somebody writes without recording it.
    fileprivate func nextOfOthers(
        _ consumer: HistoryConsumer, after: HistoryToken?, _ author: TransactionAuthor
    ) throws(StorageError) -> (start: HistoryToken, page: HistoryPage?, isUnsettled: Bool) {
        let start: HistoryToken
        if let after { start = after } else { start = try consumer.register(from: .now) }
        return try withHistory(of: consumer.position) { reader throws(StorageError) in
            var scan = HistoryScan(after: start)
            scan.excludedAuthors = [author.name]
            do throws(StorageError) {
                let page = HistoryPage(try scan.page(reader), model)
                let isUnsettled = try reader.hasUnsettledHistory()
                return (start, page, page.isLast && isUnsettled)
            } catch {
                guard error.code == .tokenExpired, try !isRecorded(reader) else { throw error }
                return (start, nil, false)
            }
        }
    }

    /// Whether the newest token is good to go on from. None is while somebody writes without recording it.
    private func isRecorded(_ reader: ReadSession) throws(StorageError) -> Bool {
        do throws(StorageError) {
            _ = try reader.history(since: HistoryScan.newest(reader), limit: 1)
            return true
        } catch  where error.code == .tokenExpired {
            return false
        }
    }
}
