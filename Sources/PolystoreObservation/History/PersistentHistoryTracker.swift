public import PolystoreFoundation
public import PolystoreObjects
internal import Synchronization

/// A monitor of the transactions that other authors or processes commit to the stores of a stack.
///
/// ```swift
/// let tracker = PersistentHistoryTracker(stack, currentAuthor: .iOSViewContext)
/// tracker.startMonitoring()
/// for await event in tracker.events() { … }
/// ```
/// - The view contexts of the stack merge the commits of other authors, including those of other processes.
/// - Consumers of `events()` receive each transaction of other authors, in the order of each store's history, at their own speed.
/// - The stores record the progress of the listeners: after a restart the tracker continues with the events that are not processed. A
///   listener has processed an event when it requests the next one; the event that it was processing when the program ended is delivered
///   again.
/// - Transactions that every registered consumer has acknowledged are purged when they reach the configured age.
///
/// Stores without a history are skipped.
public actor PersistentHistoryTracker {
    /// An event that is delivered to listeners.
    public enum Event: Sendable {
        /// Another author has committed a transaction.
        case transaction(HistoryTransaction)
        /// Transactions are missing: the history does not reach back to the tracker's offset, a program writes without recording history,
        /// or the events were purged while there was no listener. The data of the store must be read again.
        case gap(store: UUID)

        /// The identity of the affected store.
        public var store: UUID {
            switch self {
            case .transaction(let transaction): transaction.store
            case .gap(let store): store
            }
        }
    }

    /// The author of this program's transactions, which are not reported.
    public nonisolated let currentAuthor: TransactionAuthor
    /// The options of the tracker.
    public nonisolated let options: PersistentHistoryTrackingOptions
    /// The last error, for example an unreachable store or one that cannot be watched. The operation is retried every second. Nil if there
    /// is no current error.
    public private(set) var lastError: StorageError?

    private nonisolated let core: StackCore
    private nonisolated let log: TrackerLog
    private nonisolated let additions: TrackerAdditions
    private nonisolated let monitoring = Mutex(Monitoring())
    /// The positions up to which the histories were read, by the identity of the store: a store that is removed from the stack and added
    /// again continues where it was, because the log still contains what was read.
    private var positions: [UUID: TrackerPosition] = [:]
    /// The positions in the stack of the stores in which the consumer is registered.
    private var registered: Set<Int> = []
    /// The tokens at which the consumer will restart where it is expired, because items were removed that no listener has received, by the
    /// position of the store in the stack.
    private var expired: [Int: HistoryToken?] = [:]
    /// The processed offsets that are still to be acknowledged.
    private var offsets: [UUID: TrackerLog.Offset] = [:]
    /// The stores whose history has no valid token, because a program writes without recording history. This was reported as a gap.
    private var unrecorded: Set<UUID> = []
    /// Whether an error happened since the current pass began.
    private var hasFailed = false
    /// The last acknowledged position and its time.
    private var acknowledged: [UUID: (position: HistoryToken, time: ContinuousClock.Instant)] = [:]
    /// The time of the next purge; nil before the first one.
    private var nextPurge: ContinuousClock.Instant?
    /// The time after which a history that other transactions withhold is read again.
    private var unsettledPause = shortestPause
    /// The time of the first pass.
    private var began: ContinuousClock.Instant?
    /// The time to wait for the first listener before events that it might need are purged.
    private static let patience = Duration.seconds(5)
    /// The time after which a purge that failed in a store is repeated.
    private static let purgeRetry = Duration.seconds(60)
    private static let shortestPause = Duration.milliseconds(20)

    private struct Monitoring: Sendable {
        var isOn = false
        /// The newest task. After its cancellation it may still deliver events that it has read.
        var task: Task<Void, Never>?
    }

    /// The condition for the next pass.
    private enum Next {
        /// A commit or a processed event, or the end of a time.
        case arrival(orAfter: Duration?)
        case pause(Duration)
    }

    /// Creates a tracker that is not monitoring yet.
    public init(
        _ stack: DataStack, currentAuthor: TransactionAuthor, options: PersistentHistoryTrackingOptions = PersistentHistoryTrackingOptions()
    ) {
        self.currentAuthor = currentAuthor
        self.options = options
        core = stack.core
        log = TrackerLog(capacity: options.bufferedEvents)
        additions = TrackerAdditions(consumer: Self.consumer(currentAuthor, options))
    }

    deinit {
        monitoring.withLock { $0.task }?.cancel()
        log.finish()
    }

    /// Whether the tracker is monitoring.
    public nonisolated var isMonitoring: Bool { monitoring.withLock { $0.isOn } }

    /// Starts monitoring, or does nothing if it is already active. The watches of the stores and the registration of the tracker are
    /// complete when the method returns: later commits are not missed. A store that fails is retried later. Of a store that is added to the
    /// stack later, no commit after its addition is missed.
    public nonisolated func startMonitoring() {
        monitoring.withLock { state in
            if state.isOn { return }
            state.isOn = true
            let mailbox = CommitMailbox(), last = state.task
            log.whenDone { mailbox.wake() }
            // If a store fails, all are retried in each pass of the tracker.
            try? core.observe(mailbox)
            // Before the stores are enumerated: each one is then either among them, or reported as added.
            additions.setMonitoring(true)
            core.observeAdditions(additions)
            for consumer in consumers { register(consumer) }
            state.task = Task { [weak self] in
                // The previous task must deliver what it has read first: a concurrent task would read and deliver the same events again.
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
                    case .arrival(nil): break
                    case .arrival(let time?):
                        timer = Task {
                            try? await Task.sleep(for: time)
                            if !Task.isCancelled { mailbox.wake() }
                        }
                    case .pause(let pause):
                        try? await Task.sleep(for: pause)
                        mailbox.wake()
                    }
                }
                await self?.acknowledgeAll()
            }
        }
    }

    /// Stops monitoring. The stores record the progress of the listeners up to now soon after the method has returned. Listeners still get
    /// the events that were found; the stores record the progress in these when monitoring starts again.
    public nonisolated func stopMonitoring() {
        monitoring.withLock { state in
            state.isOn = false
            additions.setMonitoring(false)
            state.task?.cancel()
        }
    }

    /// Returns the events of commits by other authors, while the tracker is monitoring: those that another listener has not processed yet,
    /// that the last listener has left or that were found before the first one, and all later ones. The sequence begins with a gap if some
    /// of them became older than `keepsHistoryFor` without a listener, in this run of the program or an earlier one. Each call returns a
    /// separate sequence for one consumer, which ends with the tracker. The slowest of the retained sequences determines the speed of all,
    /// and the acknowledged offset.
    public nonisolated func events() -> AsyncStream<Event> { log.listen().events }

    private static func consumer(_ author: TransactionAuthor, _ options: PersistentHistoryTrackingOptions) -> String {
        options.consumer ?? "tracker.\(author.name)"
    }

    /// Registers the consumer in a store when monitoring starts.
    private nonisolated func register(_ consumer: HistoryConsumer) {
        let store = core.storeID(consumer.position), read = additions.position(of: store)
        // A consumer that begins at an earlier state of the store is registered when the store is read.
        if additions.find(store)?.isAwaited ?? false { return }
        do throws(StorageError) {
            if let read { try consumer.registerExpired(after: read) } else { try consumer.register(from: .now) }
        } catch {
            if read == nil { noteForLater(consumer) }
        }
    }

    /// Records the state of a store in which the consumer could not be registered: it is registered at that state later.
    private nonisolated func noteForLater(_ consumer: HistoryConsumer) {
        if let store = core.entries.first(where: { $0.position == consumer.position })?.entry.store { additions.note(store) }
    }

    /// The tracker's consumer in each store with a history. Not inlined into tasks: decision 0038, "No lock is inlined where a task waits".
    @inline(never) private nonisolated var consumers: [HistoryConsumer] {
        let name = Self.consumer(currentAuthor, options)
        return core.entries.filter { $0.entry.store.capabilities.contains(.history) }.map {
            HistoryConsumer(name: name, core: core, position: $0.position)
        }
    }

    /// Whether a store does not report the commits of other processes, so that it must be polled every second. Not inlined into tasks
    /// either.
    @inline(never) private nonisolated var polls: Bool {
        core.entries.contains { item in
            let supported = item.entry.store.capabilities.supported
            return supported.isSuperset(of: [.history, .multipleProcesses]) && !supported.contains(.remoteChanges)
        }
    }

    // MARK: Reading

    /// Reads and delivers all available events.
    ///
    /// - Parameter mailbox: The mailbox that the stores notify of their commits. Stores that are not watched yet are added.
    private func catchUp(_ mailbox: CommitMailbox) async -> Next {
        if Task.isCancelled { return .arrival(orAfter: nil) }
        hasFailed = false
        log.beginPass()
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
            // Events without a listener must not delay a purge.
        } while purgeTime.map { log.removeUnheard(before: $0) } ?? false
        if purgeTime != nil { await purge() } else if isPurgeDue { polls = true }
        if hasFailed { return .pause(.seconds(1)) }
        lastError = nil
        var times = [polls ? .seconds(1) : nil, timeToPurge].compactMap { $0 }
        if isUnsettled { times.append(unsettledPause) }
        if log.mayHaveProgress { times.append(.seconds(1)) }
        unsettledPause = isUnsettled ? min(unsettledPause * 2, .seconds(1)) : Self.shortestPause
        return .arrival(orAfter: times.min())
    }

    /// Reads the commits of other authors in a store, as far as the buffer has room.
    private func read(_ consumer: HistoryConsumer) async -> (isUnsettled: Bool, isUnrecorded: Bool) {
        let store = core.storeID(consumer.position), author = currentAuthor
        while !Task.isCancelled {
            let room = log.room(for: store), after = positions[store], isRegistered = registered.contains(consumer.position)
            if room == 0 { break }
            let addition = isRegistered ? nil : additions.find(store)
            let start: TrackerStart =
                if let after, isRegistered { .token(after) } else { .registration(after, acknowledged[store]?.position, addition) }
            let found = await core.workers.observers.result { () throws(StorageError) in
                try consumer.core.nextOfOthers(consumer, start, author, limit: min(room, 1000))
            }
            switch found {
            case .failure(let error):
                fail(error)
                return (false, false)
            case .success(let step):
                if case .unsettled = step.found { return (true, false) }
                positions[store] = step.position
                registered.insert(consumer.position)
                additions.didRead(store, to: step.position.token, since: addition)
                switch step.found {
                case .page(let transactions, let skipped, let isLast, let isUnsettled):
                    unrecorded.remove(store)
                    if let time = skipped[0] { log.skip(Microseconds.date(time), in: store) }
                    log.append(
                        transactions.enumerated().map { index, transaction in
                            TrackerLog.Item(
                                event: .transaction(transaction), offset: .init(token: transaction.token, isRestart: false),
                                skipped: skipped[index + 1].map(Microseconds.date))
                        })
                    if isLast { return (isUnsettled, false) }
                case .gap:
                    forgetOffsets(of: store)
                    log.append([
                        TrackerLog.Item(event: .gap(store: store), offset: .init(token: step.position.token, isRestart: true))
                    ])
                case .unrecorded:
                    if unrecorded.insert(store).inserted {
                        forgetOffsets(of: store)
                        log.append([TrackerLog.Item(event: .gap(store: store), offset: nil)])
                    }
                    return (false, true)
                case .unsettled: break
                }
            }
        }
        return (false, false)
    }

    /// Discards the progress in a store before a gap, after which the consumer restarts: its history may be another one, with the same
    /// numbers.
    private func forgetOffsets(of store: UUID) {
        log.forgetOffsets(of: store)
        offsets[store] = nil
        acknowledged[store] = nil
    }

    /// Records the progress of the listeners in a store. Transactions of only this author are acknowledged at most once a second, because
    /// reading them again costs nothing.
    private func acknowledge(_ consumer: HistoryConsumer) async {
        // A store that was added again may have come back from a backup, which reading it shows.
        if !registered.contains(consumer.position) { return }
        let store = core.storeID(consumer.position), read = unrecorded.contains(store) ? nil : positions[store]?.token
        let done: TrackerLog.Offset?, isAll: Bool
        switch log.takeProgress(in: store, readTo: read) {
        case .missed(let token): return await expire(consumer, after: token)
        case .processed(let offset, let isComplete): (done, isAll) = (offset, isComplete)
        }
        expired[consumer.position] = nil
        if let done {
            offsets[store] = TrackerLog.Offset(token: done.token, isRestart: done.isRestart || offsets[store]?.isRestart ?? false)
        }
        if isAll, let read {
            let isOld = acknowledged[store].map { $0.position != read && $0.time.duration(to: .now) > .seconds(1) } ?? true
            if offsets[store] != nil || isOld {
                offsets[store] = TrackerLog.Offset(token: read, isRestart: offsets[store]?.isRestart ?? false)
            }
        }
        guard let offset = offsets[store] else { return }
        let isKept: Void? = await attempt { () throws(StorageError) in
            do throws(StorageError) {
                if offset.isRestart {
                    try consumer.restart(from: .after(offset.token))
                } else {
                    try consumer.acknowledgeOrRegister(offset.token, read)
                }
            } catch  where error.code == .tokenExpired {
                // The next read detects the gap.
            }
        }
        if isKept == nil { return }
        offsets[store] = nil
        acknowledged[store] = (offset.token, .now)
    }

    /// Records the progress in all stores after the end of monitoring. A consumer that was unregistered since then remains so.
    private func acknowledgeAll() async {
        for consumer in consumers where await attempt({ () throws(StorageError) in try consumer.isRegistered }) ?? false {
            await acknowledge(consumer)
        }
    }

    /// Records in a store that events were removed which no listener has received: until one has processed the gap in their place, the
    /// next program finds it too. Later tokens are recorded by the next purge.
    private func expire(_ consumer: HistoryConsumer, after token: HistoryToken?) async {
        if expired[consumer.position] == nil {
            if await attempt({ () throws(StorageError) in _ = try consumer.expire(after: token) }) == nil { return }
            let store = core.storeID(consumer.position)
            offsets[store] = nil
            acknowledged[store] = nil
        }
        expired[consumer.position] = .some(token)
    }

    private var isPurgeDue: Bool { options.keepsHistoryFor != nil && nextPurge.map { .now >= $0 } ?? true }

    /// The time until the next purge, from a second to an hour, because a task cannot sleep for any time; nil if there is none.
    private var timeToPurge: Duration? {
        guard options.keepsHistoryFor != nil, let nextPurge else { return nil }
        return min(max(ContinuousClock.now.duration(to: nextPurge), .seconds(1)), .seconds(3600))
    }

    /// The time before which transactions must be purged now; nil if no purge is due, or a listener may still begin.
    private var purgeTime: Date? {
        guard isPurgeDue, let age = options.keepsHistoryFor else { return nil }
        let began = began ?? .now
        self.began = began
        if !log.isHeard, began.duration(to: .now) < min(Self.patience, options.purgeInterval) { return nil }
        return Date(timeIntervalSinceNow: -age.inSeconds)
    }

    private func purge() async {
        guard let age = options.keepsHistoryFor else { return }
        var isComplete = true
        let purge = HistoryPurge(.olderThan(age), ignoresUnseenFor: options.ignoresConsumersUnseenFor?.inSeconds)
        for consumer in consumers {
            let store = core.storeID(consumer.position), known = acknowledged[store]?.position ?? TrackerPosition.beforeAll(store).token
            if !registered.contains(consumer.position) { isComplete = false }
            if unrecorded.contains(store) || !registered.contains(consumer.position) { continue }
            let gap = expired[consumer.position], read = positions[store]?.token
            let outcome = await attempt { () throws(StorageError) in
                // Shows that the tracker is active, however slow its listeners are.
                if let gap { _ = try consumer.expire(after: gap) } else { try consumer.acknowledgeOrRegister(known, read) }
                return try consumer.core.purgeHistory(purge, of: consumer.position)
            }
            if outcome == nil { isComplete = false }
        }
        nextPurge = .now + (isComplete ? options.purgeInterval : min(options.purgeInterval, Self.purgeRetry))
    }

    /// Runs a closure on a thread of the stack; returns nil after an error.
    @discardableResult
    private func attempt<R: Sendable>(_ body: @escaping @Sendable () throws(StorageError) -> R) async -> R? {
        switch await core.workers.observers.result(of: body) {
        case .success(let value): return value
        case .failure(let error):
            fail(error)
            return nil
        }
    }

    /// Records the first error of a pass.
    private func fail(_ error: StorageError) {
        if !hasFailed { lastError = error }
        hasFailed = true
    }
}

/// The result of reading the history of a store.
private enum TrackerFinding {
    /// The commits of other authors, and the earliest times of the commits that were skipped, by the number of others before them.
    case page([HistoryTransaction], skipped: [Int: Int64], isLast: Bool, isUnsettled: Bool)
    /// The history does not reach back to the tracker's offset.
    case gap
    /// There is no valid token at which to continue, because a program writes without recording history.
    case unrecorded
    /// Whether there is a gap is not known before other transactions have ended.
    case unsettled
}

/// The position at which a tracker continues to read a store.
private enum TrackerStart {
    /// After the position up to which the store was read.
    case token(TrackerPosition)
    /// After that position, or after the consumer's offset. The consumer is registered first if necessary, at the addition of the store to
    /// the stack. The token is the last one that was acknowledged.
    case registration(TrackerPosition?, HistoryToken?, TrackerAdditions.Addition?)
}

extension HistoryConsumer {
    /// Whether the consumer is registered.
    fileprivate var isRegistered: Bool {
        get throws(StorageError) {
            try core.withHistory(of: position) { reader throws(StorageError) in try HistoryConsumers(reader).find(name) != nil }
        }
    }

    /// Registers a consumer that was unregistered by another program, as expired: what it has not processed may be purged meanwhile.
    ///
    /// - Parameter read: The token up to which the history was read.
    fileprivate func registerExpired(after read: HistoryToken) throws(StorageError) {
        if try !isRegistered { try expire(after: read) }
    }

    /// Acknowledges a token. A consumer that was unregistered by another program is registered again. Until the token is acknowledged it is
    /// expired, because entries after it may have been purged meanwhile.
    ///
    /// - Parameter read: The token up to which the history was read.
    fileprivate func acknowledgeOrRegister(_ token: HistoryToken, _ read: HistoryToken?) throws(StorageError) {
        do throws(StorageError) { try acknowledge(token) } catch {
            guard error.code == .notFound else { throw error }
            try expire(after: read)
            try acknowledge(token)
        }
    }
}

extension StackCore {
    /// Returns the commits of other authors, and the position at which to continue.
    fileprivate func nextOfOthers(
        _ consumer: HistoryConsumer, _ start: TrackerStart, _ author: TransactionAuthor, limit: Int
    ) throws(StorageError) -> (position: TrackerPosition, found: TrackerFinding) {
        switch start {
        case .token(let after): return try commitsOfOthers(consumer, after: after, author, limit)
        case .registration(let known, let acknowledged, let addition):
            let step = try firstOfOthers(consumer, known, acknowledged, addition, author, limit)
            // The gap is reported again if it is not processed before the program ends.
            if case .gap = step.found { try consumer.expire(after: step.position.token) }
            return step
        }
    }

    /// Returns the first commits of other authors since a store was added.
    private func firstOfOthers(
        _ consumer: HistoryConsumer, _ known: TrackerPosition?, _ acknowledged: HistoryToken?, _ addition: TrackerAdditions.Addition?,
        _ author: TransactionAuthor, _ limit: Int
    ) throws(StorageError) -> (position: TrackerPosition, found: TrackerFinding) {
        let isNew = try !consumer.isRegistered
        // Where nothing is known about the commits since the addition, the consumer begins expired: this attempt may fail later, and the
        // next one finds the consumer registered.
        let isUnknown = if let addition, addition.token == nil, known == nil { isNew } else { false }
        let offset: HistoryToken
        if isNew, let known {
            offset = try consumer.expire(after: known.token)
        } else {
            offset = try isUnknown ? consumer.expire(after: nil) : register(consumer, addition?.token)
        }
        return try withHistory(of: consumer.position) { reader throws(StorageError) in
            let start = known ?? TrackerPosition(offset)
            let match: TrackerPosition.Match = if let known { try known.find(reader) } else { .unknown }
            let isRestored =
                switch match {
                case _ where addition?.isReplacement ?? false: true
                case .same: false
                case .other: true
                case .unsettled, .unknown: isRestored(known, acknowledged, addition, offset: isNew ? nil : offset)
                }
            if isRestored {
                // A number of the other history may be a valid one later.
                if try !isRecorded(reader) { return (.beforeAll(reader.store.storeID), .unrecorded) }
                return (TrackerPosition(try newest(reader, since: addition)), .gap)
            }
            if match == .unsettled { return (start, .unsettled) }
            return try commitsOfOthers(reader, after: start, isFirst: match == .unknown, author, limit)
        }
    }

    /// Returns the newest token at an addition, if it is known and valid, or now.
    private func newest(_ reader: ReadSession, since addition: TrackerAdditions.Addition?) throws(StorageError) -> HistoryToken {
        if let token = addition?.token, try isValid(token, reader) { return token }
        return try HistoryScan.newest(reader)
    }

    /// Returns whether a store came back from a backup, as far as the numbers show it.
    ///
    /// - Parameter offset: The offset of the consumer; nil if it was not registered.
    private func isRestored(
        _ known: TrackerPosition?, _ acknowledged: HistoryToken?, _ addition: TrackerAdditions.Addition?, offset: HistoryToken?
    ) -> Bool {
        // The history ends earlier: the numbers after that are given again.
        if let addition, addition.isSettled, let token = addition.token, let former = known?.token ?? addition.offset,
            token.position < former.position
        {
            return true
        }
        // The offset in a store does not move backwards. The consumer may have been registered meanwhile, by an attempt that failed later.
        guard let acknowledged else { return false }
        guard let offset, addition?.token == nil || addition?.offset != nil else { return true }
        return offset.position < acknowledged.position
    }

    /// Registers a consumer.
    ///
    /// - Parameter token: The token after which a new consumer begins; nil for the newest.
    /// - Returns: The offset of the consumer, or the token if the history no longer reaches back to it.
    private func register(_ consumer: HistoryConsumer, _ token: HistoryToken?) throws(StorageError) -> HistoryToken {
        guard let token else { return try consumer.register(from: .now) }
        do throws(StorageError) { return try consumer.register(from: .after(token)) } catch {
            guard error.code == .tokenExpired else { throw error }
            _ = try consumer.register(from: .now)
            return token
        }
    }

    private func commitsOfOthers(
        _ consumer: HistoryConsumer, after start: TrackerPosition, _ author: TransactionAuthor, _ limit: Int
    ) throws(StorageError) -> (position: TrackerPosition, found: TrackerFinding) {
        try withHistory(of: consumer.position) { reader throws(StorageError) in
            try commitsOfOthers(reader, after: start, isFirst: false, author, limit)
        }
    }

    /// - Parameter isFirst: Whether these are the first commits since the store was added.
    private func commitsOfOthers(
        _ reader: ReadSession, after start: TrackerPosition, isFirst: Bool, _ author: TransactionAuthor, _ limit: Int
    ) throws(StorageError) -> (position: TrackerPosition, found: TrackerFinding) {
        var scan = HistoryScan(after: start.token, limit: limit)
        scan.excludedAuthors = [author.name]
        do throws(StorageError) {
            let read = try scan.page(reader), isUnsettled = read.isLast ? try reader.hasUnsettledHistory() : false
            let newest = try HistoryScan.newest(reader)
            // The store came back from a backup, about whose addition nothing is known. The newest token can also be low because of a
            // running transaction.
            if isFirst, newest.position < start.token.position {
                return isUnsettled ? (start, .unsettled) : (TrackerPosition(newest), .gap)
            }
            let position = read.time.map { TrackerPosition(read.next, time: $0) } ?? start, page = HistoryPage(read, model)
            return (position, .page(page.transactions, skipped: read.skippedTimes, isLast: page.isLast, isUnsettled: isUnsettled))
        } catch {
            guard error.code == .tokenExpired else { throw error }
            return try isRecorded(reader) ? (TrackerPosition(HistoryScan.newest(reader)), .gap) : (start, .unrecorded)
        }
    }

    /// Returns whether the newest token is valid for continuing. No token is valid while a program writes without recording history.
    private func isRecorded(_ reader: ReadSession) throws(StorageError) -> Bool { try isValid(HistoryScan.newest(reader), reader) }

    /// Returns whether the history reaches back to a token.
    private func isValid(_ token: HistoryToken, _ reader: ReadSession) throws(StorageError) -> Bool {
        do throws(StorageError) {
            _ = try reader.history(since: token, limit: 1)
            return true
        } catch  where error.code == .tokenExpired {
            return false
        }
    }
}
