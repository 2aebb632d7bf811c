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
/// - Whoever asks for `events()` is told each transaction of others, in the order of each store's history, as fast as it takes them.
/// - How far its listeners have come is kept in the stores: after a restart it goes on with what they have not done. A listener has done an
///   event when it asks for the next one; the event that it was at when the program ended comes again.
/// - Transactions that every registered consumer has acknowledged are purged when they are old enough.
///
/// Stores that keep no history are left out.
public actor PersistentHistoryTracker {
    /// What listeners are told.
    public enum Event: Sendable {
        /// Somebody else has committed.
        case transaction(HistoryTransaction)
        /// Something is missing: the history does not reach back to where the tracker was, somebody writes without recording it, or nobody
        /// listened before it was purged. The store is to be read anew.
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
    private nonisolated let log: TrackerLog
    private nonisolated let monitoring = Mutex(Monitoring())
    /// How far the histories were read.
    private var positions: [Int: HistoryToken] = [:]
    /// How far they are done, where that is still to be acknowledged.
    private var offsets: [Int: TrackerLog.Offset] = [:]
    /// The stores of whose history no token is good, because somebody writes without recording it; that was told as a gap.
    private var unrecorded: Set<Int> = []
    /// Whether something has failed since the tracker began to look.
    private var hasFailed = false
    /// What was acknowledged last, and when.
    private var acknowledged: [Int: (position: HistoryToken, time: ContinuousClock.Instant)] = [:]
    private var lastPurge: ContinuousClock.Instant?
    /// When it looked for the first time.
    private var began: ContinuousClock.Instant?
    /// How long the first listener is waited for before anything is purged that it might want.
    private static let patience = Duration.seconds(5)

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
        log = TrackerLog(capacity: options.bufferedEvents)
    }

    deinit {
        monitoring.withLock { $0.task }?.cancel()
        log.finish()
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
            log.whenDone { mailbox.wake() }
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

    /// What others commit from now on while the tracker monitors; where nobody listens also what the last listener has not done, and what was
    /// found before the first, as long as `keepsHistoryFor` says. Each call gives a sequence of its own, for one consumer; it ends with the
    /// tracker. The slowest of those that are held says how fast all go on, and what is acknowledged.
    public nonisolated func events() -> AsyncStream<Event> { log.listen().events }

    /// Its consumer in each store that keeps a history. Not inlined into tasks: decision 0038, "No lock is inlined where a task waits".
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
        let purgeTime = purgeTime
        repeat {
            for consumer in consumers {
                let found = await read(consumer)
                if found.isUnsettled { isUnsettled = true }
                if found.isUnrecorded { polls = true }
                await acknowledge(consumer)
            }
            // What nobody listens to holds no purge back.
        } while purgeTime.map(log.forgetUnheard) ?? false
        if purgeTime != nil { await purge() } else if isPurgeDue { polls = true }
        if hasFailed { return .pause(.seconds(1)) }
        lastError = nil
        if isUnsettled { return .pause(.milliseconds(20)) }
        return polls ? .arrivalOrSecond : .arrival
    }

    /// Finds what others have committed to a store, as much as there is room for.
    private func read(_ consumer: HistoryConsumer) async -> (isUnsettled: Bool, isUnrecorded: Bool) {
        let store = consumer.position, author = currentAuthor
        while !Task.isCancelled {
            let room = log.room(), after = positions[store]
            if room == 0 { break }
            let found = await core.workers.observers.result { () throws(StorageError) in
                try consumer.core.nextOfOthers(consumer, after: after, author, limit: min(room, 1000))
            }
            switch found {
            case .failure(let error):
                fail(error)
                return (false, false)
            case .success(let step):
                positions[store] = step.position
                switch step.found {
                case .page(let transactions, let isLast, let isUnsettled):
                    unrecorded.remove(store)
                    log.append(
                        transactions.map {
                            TrackerLog.Item(event: .transaction($0), store: store, offset: .init(token: $0.token, isRestart: false))
                        })
                    if isLast { return (isUnsettled, false) }
                case .gap:
                    log.append([
                        TrackerLog.Item(
                            event: .gap(store: step.position.store), store: store, offset: .init(token: step.position, isRestart: true))
                    ])
                case .unrecorded:
                    if unrecorded.insert(store).inserted {
                        log.append([TrackerLog.Item(event: .gap(store: step.position.store), store: store, offset: nil)])
                    }
                    return (false, true)
                }
            }
        }
        return (false, false)
    }

    /// Keeps in a store what the listeners have done. What only this author has committed is acknowledged once a second at most: to come
    /// across it again costs nothing.
    private func acknowledge(_ consumer: HistoryConsumer) async {
        let store = consumer.position, (hasItems, done) = log.takeOffset(of: store)
        if let done {
            offsets[store] = TrackerLog.Offset(token: done.token, isRestart: done.isRestart || offsets[store]?.isRestart ?? false)
        }
        if !hasItems, let position = positions[store], !unrecorded.contains(store) {
            let isOld = acknowledged[store].map { $0.position != position && $0.time.duration(to: .now) > .seconds(1) } ?? true
            if offsets[store] != nil || isOld {
                offsets[store] = TrackerLog.Offset(token: position, isRestart: offsets[store]?.isRestart ?? false)
            }
        }
        guard let offset = offsets[store] else { return }
        let isKept: Void? = await attempt { () throws(StorageError) in
            do throws(StorageError) {
                if offset.isRestart { try consumer.restart(from: .after(offset.token)) } else { try consumer.acknowledge(offset.token) }
            } catch  where error.code == .tokenExpired {
                // Whoever reads on finds the gap.
            }
        }
        if isKept == nil { return }
        offsets[store] = nil
        acknowledged[store] = (offset.token, .now)
    }

    private var isPurgeDue: Bool {
        options.keepsHistoryFor != nil && lastPurge.map { $0.duration(to: .now) >= options.purgeInterval } ?? true
    }

    /// The time before which transactions are to be purged now; nil where that is not due, or somebody may still begin to listen.
    private var purgeTime: Date? {
        guard isPurgeDue, let age = options.keepsHistoryFor else { return nil }
        let began = began ?? .now
        self.began = began
        if !log.isHeard, began.duration(to: .now) < min(Self.patience, options.purgeInterval) { return nil }
        return Date(timeIntervalSinceNow: -age.inSeconds)
    }

    private func purge() async {
        guard let age = options.keepsHistoryFor else { return }
        lastPurge = .now
        let purge = HistoryPurge(.olderThan(age), ignoresUnseenFor: options.ignoresConsumersUnseenFor?.inSeconds)
        for consumer in consumers where !unrecorded.contains(consumer.position) {
            let known = acknowledged[consumer.position]?.position
            await attempt { () throws(StorageError) in
                // Says that the tracker lives, however slow its listeners are.
                if let known { try consumer.acknowledge(known) }
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

/// What a tracker finds in the history of a store.
private enum TrackerFinding {
    /// What others have committed.
    case page([HistoryTransaction], isLast: Bool, isUnsettled: Bool)
    /// The history does not reach back to where the tracker was.
    case gap
    /// No token is good to go on from, because somebody writes without recording it.
    case unrecorded
}

extension StackCore {
    /// What others have committed after a token, and where to go on; without one the consumer's offset says where to begin.
    fileprivate func nextOfOthers(
        _ consumer: HistoryConsumer, after: HistoryToken?, _ author: TransactionAuthor, limit: Int
    ) throws(StorageError) -> (position: HistoryToken, found: TrackerFinding) {
        let start: HistoryToken
        if let after { start = after } else { start = try consumer.register(from: .now) }
        return try withHistory(of: consumer.position) { reader throws(StorageError) in
            var scan = HistoryScan(after: start, limit: limit)
            scan.excludedAuthors = [author.name]
            do throws(StorageError) {
                let page = HistoryPage(try scan.page(reader), model), isUnsettled = page.isLast ? try reader.hasUnsettledHistory() : false
                return (page.next, .page(page.transactions, isLast: page.isLast, isUnsettled: isUnsettled))
            } catch {
                guard error.code == .tokenExpired else { throw error }
                return try isRecorded(reader) ? (HistoryScan.newest(reader), .gap) : (start, .unrecorded)
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
