internal import PolystoreStorage

/// When a context takes over what transactions have committed.
public enum MergeTime: Sendable {
    /// Before each fetch, whenever `merge()` is called and, while something observes, soon after each commit.
    case automatic
    /// Only when `merge()` or `reset()` is called: until then what is loaded stays as it is.
    case onDemand
}

/// Objects to look at: while one is alive, every fetch gives the same instance for the same row.
///
/// It is read-only; changes are made in transactions, and what they commit is merged into the living objects. A context belongs to the
/// isolation that made it, so does everything fetched from it. A program can have any number, side by side.
///
/// | `merging` | a commit is seen by | |
/// |---|---|---|
/// | `.automatic` | objects after the next fetch or `merge()`, and soon after the commit where monitors observe; fetches at once | one picture that follows |
/// | `.onDemand` | objects after `merge()` or `reset()`; fetches bring new objects at once, known ones as they were | one that stands still |
///
/// Commits of other processes and machines are merged like those of the stack while a monitor, a publisher or a history tracker observes.
///
/// Where a store does not answer, what is of other stores is merged all the same; a fetch from it throws why.
public final class ViewContext: FetchSource, MonitorHome {
    let core: StackCore
    private let merging: MergeTime
    private let mailbox = CommitMailbox()
    private(set) var context: ObjectContext
    private var monitors = HomeMonitors()
    /// Those that have not begun anew since the last reset.
    private var behind = HomeMonitors()
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
            // Where a store could not be read, fetches from it say so.
            if merging == .automatic { _ = mergeArrived() }
            return context
        }
    }

    /// The first error that a property could not throw, such as a relationship that could not be loaded; nil when there was none.
    public var loadError: StorageError? { context.loadError }

    var mergeTime: MergeTime { merging }
    var liveCount: Int { context.liveObjects.reduce(0) { $0 + $1.objects.count } }

    /// Brings the living objects to what was committed since the last merge, and tells the monitors.
    ///
    /// - Returns: Whether there was anything to take over; false also when it is called by an observer that is just being told.
    /// - Throws: Whatever reading throws, after all that can be read was taken over: the objects and monitors of the stores that cannot stay
    ///   as they are, and the next merge reads everything of them again.
    @discardableResult
    public func merge() throws(StorageError) -> Bool {
        let (hasMerged, failure) = mergeArrived()
        if let failure { throw failure }
        return hasMerged
    }

    /// Takes over what arrived, store by store as far as they can be read.
    private func mergeArrived() -> (hasMerged: Bool, failure: StorageError?) {
        if isMerging { return (false, nil) }
        let (hasBegun, failure) = beginAnew(), commits = mailbox.take(), context = context
        context.unread = [:]
        if commits.isEmpty { return (hasBegun, failure) }
        isMerging = true
        defer { isMerging = false }
        var unread: UnreadStores = [:]
        for batch in CommitBatch.batches(of: commits) { apply(batch, &unread) }
        if unread.isEmpty { return (true, failure) }
        context.unread = unread
        mailbox.putBack(unread.keys)
        let reported = unread.sorted { $0.key < $1.key }.map { Self.reported($0.value) }
        return (true, failure ?? reported.first)
    }

    private static func reported(_ error: StorageError) -> StorageError {
        do throws(StorageError) { return try reporting { () throws(StorageError) in throw error } } catch { return error }
    }

    /// What is there before and after is seen by the monitors; everything is read in one snapshot, which has ended when they are told.
    ///
    /// - Parameters:
    ///   - batch: The commits.
    ///   - unread: Stores that could not be read before; those of the batch that cannot be are added. What is of them is left as it is.
    private func apply(_ batch: CommitBatch, _ unread: inout UnreadStores) {
        // An observer may reset.
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
        // What was prepared for a monitor goes with the objects that it shows.
        concerned.removeAll { !$0.monitor.isReadable(without: unread) }
        refresh.leaveOut(unread)
        for (monitor, source) in concerned { monitor.willChange(source) }
        refresh.apply(to: context)
        for (monitor, source) in concerned { monitor.didChange(source) }
    }

    /// A monitor that is to be told, and who made the change.
    private typealias Concerned = (monitor: any HomeMonitor, source: (any Hashable & Sendable)?)

    /// The stores that cannot be read; all where each of them seems to answer.
    private static func unreadable(_ stores: Set<Int>, _ sessions: SessionPool) -> Set<Int> {
        let silent = stores.filter { store in
            do throws(StorageError) { _ = try sessions.reader(store).currentToken() } catch { return true }
            return false
        }
        return silent.isEmpty ? stores : silent
    }

    /// What went wrong with one monitor is its own affair, such as a division by zero in the order of a list: the others go on.
    private func leaveBehind(_ monitor: any HomeMonitor, _ error: StorageError) {
        monitor.cannotFollow()
        try? reporting { () throws(StorageError) in throw error }
        context.fail(error)
    }

    /// Begins anew: what was fetched before stays as it is and is no longer merged. Monitors refetch; where reading fails, which `loadError`
    /// says, they do so with the next merge.
    public func reset() {
        _ = mailbox.take()
        context = ObjectContext(stack: core, model: core.model)
        behind = monitors
        if let failure = beginAnew().failure {
            context.fail(failure)
            mailbox.wake()
        }
    }

    /// Has monitors begin anew that have not done so since the last reset.
    ///
    /// - Returns: Whether there were any, and why one of them could not; it is asked again with the next merge.
    private func beginAnew() -> (hasBegun: Bool, failure: StorageError?) {
        let monitors = behind.alive
        if monitors.isEmpty { return (false, nil) }
        // What their observers fetch is not merged before all have begun. One of them may reset again.
        let wasMerging = isMerging
        isMerging = true
        defer { isMerging = wasMerging }
        var failure: StorageError?
        for monitor in monitors where behind.contains(monitor) {
            do throws(StorageError) {
                try monitor.homeDidReset()
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

    /// The context for the first fetch of a monitor: what others commit after this call comes as a change, however long the fetch takes.
    func contextToObserve() throws(StorageError) -> ObjectContext {
        try core.observe(mailbox)
        if !isObserving {
            // Objects that were there before may have missed what others have changed.
            let stores = core.entries.filter { $0.entry.store.capabilities.contains(.remoteChanges) }.map(\.position)
            if context.livePlaces.contains(where: { stores.contains($0.store) && $0.map.most > 0 }) { try findMissed(in: Set(stores)) }
            isObserving = true
        }
        return try _fetchContext
    }

    /// Has the next merge take over what others have made of living objects. What that is, is found out now: lists are told of what concerns
    /// them then, instead of being fetched anew.
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

    /// Keeps a monitor up to date for as long as it is alive: soon after each commit, in the isolation that the context belongs to. Where
    /// there is none, and with `.onDemand`, when `merge()` is called.
    func add(_ monitor: any HomeMonitor, isolation: isolated (any Actor)?) {
        monitors.add(monitor)
        guard let isolation, merging == .automatic, !isPumped else { return }
        isPumped = true
        Self.pump(mailbox, Pumped(context: self), WeakActor(isolation))
    }

    /// Has a context merge what arrives. The task holds neither the context nor its actor, which may hold the context.
    private static func pump(_ mailbox: CommitMailbox, _ pumped: Pumped, _ home: WeakActor) {
        let arrivals = mailbox.arrivals()
        Task {
            for await _ in arrivals {
                guard let actor = home.actor else { return }
                // What failed was reported; it is tried again.
                if await merge(pumped, actor) { continue }
                try? await Task.sleep(for: .seconds(1))
                mailbox.wake()
            }
        }
    }

    /// A context on its way to its isolation.
    ///
    /// Unchecked: it is opened by `merge` alone, which runs in the isolation that the context belongs to.
    private struct Pumped: @unchecked Sendable {
        weak var context: ViewContext?
    }

    private static func merge(_ pumped: Pumped, _ isolation: isolated any Actor) -> Bool { pumped.context?.mergeArrived().failure == nil }

    func remove(_ monitor: any HomeMonitor) {
        monitors.remove(monitor)
        behind.remove(monitor)
    }
}

/// An actor that is not kept alive; the main actor lives for ever by itself.
struct WeakActor: Sendable {
    private weak var other: (any Actor)?
    private let main: MainActor?

    init(_ actor: any Actor) {
        main = actor as? MainActor
        if main == nil { other = actor }
    }

    var actor: (any Actor)? { main ?? other }
}

extension DataStack {
    /// A new context to look at objects, for the isolation that asks for it.
    public func makeViewContext(merging: MergeTime = .automatic) -> sending ViewContext { ViewContext(core, merging: merging) }
}
