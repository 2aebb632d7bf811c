internal import PolystoreStorage

/// A read-only context. While an object is alive, every fetch returns the same instance for the same row.
///
/// Changes are made in transactions, and commits are merged into the live objects. A context belongs to the isolation that created it, and
/// so does everything fetched from it. A program can have any number of contexts at once.
///
/// | `merging` | a commit is visible in | effect |
/// |---|---|---|
/// | `.automatic` | objects after the next fetch or `merge()`, and soon after the commit while monitors observe; fetches immediately | a
/// view that follows commits |
/// | `.onDemand` | objects after `merge()` or `reset()`; fetches return new objects immediately, known ones unchanged | a stable view |
///
/// Commits of other processes and machines are merged like those of the stack while a monitor, a publisher or a history tracker observes.
///
/// If a store does not respond, changes of other stores are still merged. A fetch from it throws the error.
public final class ViewContext: FetchSource, MonitoredContext {
    package let core: StackCore
    private let merging: MergeTime
    private let mailbox = CommitMailbox()
    package private(set) var context: ObjectContext
    private var monitors = ContextMonitors()
    /// The monitors that were not yet fetched again after the last reset.
    private var behind = ContextMonitors()
    private var isMerging = false
    private var isPumped = false
    private var isObserving = false

    init(_ core: StackCore, merging: MergeTime) {
        self.core = core
        self.merging = merging
        context = ObjectContext(stack: core, model: core.model)
        core.commits.subscribe(mailbox)
    }

    deinit { mailbox.finish() }

    /// The context that fetches use.
    public var _fetchContext: ObjectContext {
        get throws(StorageError) {
            // If a store could not be read, fetches from it throw the error.
            if merging == .automatic { _ = mergeArrived() }
            return context
        }
    }

    /// The first error since the last `reset()` that a property could not throw, such as a relationship that could not be loaded; nil if
    /// there was none. It remains when the relationship is loaded later.
    public var loadError: StorageError? { context.loadError }

    var mergeTime: MergeTime { merging }
    var liveCount: Int { context.liveObjects.reduce(0) { $0 + $1.objects.count } }

    /// Updates the live objects to the commits since the last merge, and notifies the monitors.
    ///
    /// - Returns: Whether there was anything to merge; false also if an observer calls the method during a notification.
    /// - Throws: The error of reading, after all readable changes were merged. The objects and monitors of the stores that failed do not
    ///   change, and the next merge reads these stores completely.
    @discardableResult
    public func merge() throws(StorageError) -> Bool {
        let (hasMerged, failure) = mergeArrived()
        if let failure { throw failure }
        return hasMerged
    }

    /// Merges the commits that have arrived, store by store, as far as the stores can be read.
    private func mergeArrived() -> (hasMerged: Bool, failure: StorageError?) {
        if isMerging { return (false, nil) }
        let (hasBegun, failure) = beginAnew(), commits = mailbox.take(), context = context
        context.unread = [:]
        if commits.isEmpty { return (hasBegun, failure) }
        isMerging = true
        defer { isMerging = false }
        var unread: UnreadStores = [:]
        for batch in CommitBatch.batches(of: commits) { apply(batch, &unread) }
        let unreported = behind.alive.lazy.compactMap(\.unreadError).first.map(Self.reported)
        if unread.isEmpty { return (true, failure ?? unreported) }
        context.unread = unread
        mailbox.putBack(unread.keys)
        let reported = unread.sorted { $0.key < $1.key }.map { Self.reported($0.value) }
        return (true, failure ?? reported.first)
    }

    private static func reported(_ error: StorageError) -> StorageError {
        do throws(StorageError) { return try reporting { () throws(StorageError) in throw error } } catch { return error }
    }

    /// Applies commits. Monitors see the state before and after them. Everything is read in one snapshot, which has ended before they are
    /// notified.
    ///
    /// - Parameters:
    ///   - batch: The commits.
    ///   - unread: Stores that could not be read before. Those of the batch that cannot be read are added. Their objects do not change.
    private func apply(_ batch: CommitBatch, _ unread: inout UnreadStores) {
        // An observer may reset the context.
        let context = context, sessions = SessionPool(readingFrom: core)
        var refresh = ContextRefresh(batch, context, sessions, &unread), concerned: [Concerned] = []
        for monitor in monitors.alive where monitor.isReadable(without: unread) {
            do throws(StorageError) {
                guard try monitor.prepare(batch, sessions, refresh.stale) else { continue }
                concerned.append((monitor, batch.source(in: sessions) { monitor.isMixed(batch, with: $0) }))
            } catch  where !error.isRetryable {
                leaveBehind(monitor, error)
            } catch {
                for store in Self.unreadable(monitor.stores.isEmpty ? batch.stores : monitor.stores, sessions) { unread[store] = error }
            }
        }
        sessions.end()
        // The prepared change of a monitor is discarded together with those of the objects that it shows.
        concerned.removeAll { !$0.monitor.isReadable(without: unread) }
        refresh.leaveOut(unread)
        for (monitor, source) in concerned { monitor.willChange(source) }
        refresh.apply(to: context)
        for (monitor, source) in concerned {
            monitor.didChange(source)
            if monitor.unreadError != nil { behind.add(monitor) }
        }
    }

    /// A monitor to be notified, and the source of the change.
    private typealias Concerned = (monitor: any ContextMonitor, source: (any Hashable & Sendable)?)

    /// Returns the stores that cannot be read, or all if each of them seems to respond.
    private static func unreadable(_ stores: Set<Int>, _ sessions: SessionPool) -> Set<Int> {
        let silent = stores.filter { store in
            do throws(StorageError) { _ = try sessions.reader(store).currentToken() } catch { return true }
            return false
        }
        return silent.isEmpty ? stores : silent
    }

    /// Handles the failure of one monitor, such as a division by zero in the order of a list. It does not affect the others.
    private func leaveBehind(_ monitor: any ContextMonitor, _ error: StorageError) {
        monitor.cannotFollow()
        try? reporting { () throws(StorageError) in throw error }
        context.fail(error)
    }

    /// Resets the context. Objects fetched before do not change and are no longer merged. Monitors fetch again. If reading fails,
    /// `loadError` contains the error, and they fetch again with the next merge.
    public func reset() {
        _ = mailbox.take()
        context = ObjectContext(stack: core, model: core.model)
        behind = monitors
        if let failure = beginAnew().failure {
            context.fail(failure)
            mailbox.wake()
        }
    }

    /// Resets the monitors that were not yet fetched again after the last reset, or after a change that they could not read.
    ///
    /// - Returns: Whether there were any, and the error of one that failed. The next merge tries it again.
    private func beginAnew() -> (hasBegun: Bool, failure: StorageError?) {
        let monitors = behind.alive
        if monitors.isEmpty { return (false, nil) }
        // The fetches of their observers do not merge before all monitors are reset. An observer may reset the context again.
        let wasMerging = isMerging
        isMerging = true
        defer { isMerging = wasMerging }
        var failure: StorageError?
        for monitor in monitors where behind.contains(monitor) {
            do throws(StorageError) {
                try monitor.contextDidReset()
            } catch  where error.isRetryable {
                failure = failure ?? Self.reported(error)
                continue
            } catch {
                leaveBehind(monitor, error)
            }
            behind.remove(monitor)
        }
        return (true, failure)
    }

    // MARK: Monitors

    /// Returns the context for the first fetch of a monitor. Commits made outside the stack after this call are reported as changes,
    /// regardless of the duration of the fetch.
    package func contextToObserve() throws(StorageError) -> ObjectContext {
        try core.observe(mailbox)
        if !isObserving {
            // Objects that were loaded before may have missed changes made outside the stack.
            let stores = core.entries.filter { $0.entry.store.capabilities.contains(.remoteChanges) }.map(\.position)
            if context.livePlaces.contains(where: { stores.contains($0.store) && $0.map.most > 0 }) { try findMissed(in: Set(stores)) }
            isObserving = true
        }
        return try _fetchContext
    }

    /// Makes the next merge apply changes to live objects that were made outside the stack. The changes are determined now, so that lists
    /// receive those that concern them and need not be fetched again.
    private func findMissed(in stores: Set<Int>) throws(StorageError) {
        guard let batch = CommitBatch.batches(of: [.unknown(stores)]).first else { return }
        let sessions = SessionPool(readingFrom: core)
        defer { sessions.end() }
        var unread: UnreadStores = [:]
        let refresh = ContextRefresh(batch, context, sessions, &unread)
        if let failure = unread.values.first { throw failure }
        let parts = refresh.changes().map { CommittedChanges.Part(store: $0.store, token: nil, changes: $0.changes) }
        mailbox.receive(CommittedChanges(parts, author: "", isRemote: true))
    }

    /// Keeps a monitor up to date while it is alive: soon after each commit, in the isolation that the context belongs to. Without an
    /// isolation, and with `.onDemand`, `merge()` updates it.
    package func add(_ monitor: any ContextMonitor, isolation: isolated (any Actor)?) {
        monitors.add(monitor)
        followCommits(isolation: isolation)
    }

    /// Merges every commit soon after it has ended, in the isolation that the context belongs to. Has no effect without an isolation, and
    /// with `.onDemand`.
    package func followCommits(isolation: isolated (any Actor)?) {
        guard let isolation, merging == .automatic, !isPumped else { return }
        isPumped = true
        Self.pump(mailbox, Pumped(context: self), WeakActor(isolation))
    }

    /// Merges the commits that arrive into a context. The task retains neither the context nor its actor, which may retain the context.
    private static func pump(_ mailbox: CommitMailbox, _ pumped: Pumped, _ home: WeakActor) {
        let arrivals = mailbox.arrivals()
        Task {
            for await _ in arrivals {
                guard let actor = home.actor else { return }
                // The error was reported; the merge is tried again.
                if await merge(pumped, actor) { continue }
                try? await Task.sleep(for: .seconds(1))
                mailbox.wake()
            }
        }
    }

    /// A context transferred to its isolation.
    ///
    /// Unchecked: only `merge` accesses it, which runs in the isolation that the context belongs to.
    private struct Pumped: @unchecked Sendable {
        weak var context: ViewContext?
    }

    private static func merge(_ pumped: Pumped, _ isolation: isolated any Actor) -> Bool { pumped.context?.mergeArrived().failure == nil }

    package func remove(_ monitor: any ContextMonitor) {
        monitors.remove(monitor)
        behind.remove(monitor)
    }
}

extension ViewContext: QuerySource {
    /// Runs a closure with the context.
    public func _withQueryContext<R>(
        _ includesPendingChanges: Bool, _ body: (ObjectContext) throws(StorageError) -> R
    ) throws(StorageError) -> R { try body(try _fetchContext) }
}
