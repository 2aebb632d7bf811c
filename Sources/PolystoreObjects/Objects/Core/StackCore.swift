package import PolystoreFoundation
internal import PolystoreStorage
internal import Synchronization

/// The model and the stores, shared by a stack and everything created from it.
package final class StackCore: Sendable {
    package struct Entry: Sendable {
        package let store: OpenStore
        /// The entities that are routed to the store.
        let entities: Set<EntityIndex>

        /// Whether objects of an entity are routed to the store.
        package func holds(_ entity: EntityIndex) -> Bool { entities.contains(entity) }
    }

    private struct State: Sendable {
        /// The stores in the order of their positions. Positions are never reused, so that objects of a removed store can be recognized.
        var entries: [(position: Int, entry: Entry)] = []
        /// The position of the next store.
        var next = 0
        /// The positions of removed stores that are not closed yet, with their identities.
        var leaving: [Int: UUID] = [:]

        /// Returns the index of a position among the entries.
        func index(of position: Int) -> Int? {
            var low = 0, high = entries.count
            while low < high {
                let middle = (low + high) / 2
                if entries[middle].position < position { low = middle + 1 } else { high = middle }
            }
            return low < entries.count && entries[low].position == position ? low : nil
        }
        var replacement = Replacement()
        var relationships = RelationshipLoading.lazy
        var reportedRows = 10_000
        var instrumentation: (any StoreInstrumentation)?
        var slowRequest: Duration?
        var logsRequests = false
        var recordsRequests = false
        var pageSecret: [UInt8] = (0..<32).map { _ in UInt8.random(in: .min ... .max) }
    }

    /// A stack without a model and stores, to resolve key paths without a real stack.
    static let none = StackCore(model: .none)

    package let model: StackModel
    package let workers = StackWorkers()
    /// The queue of completions for which the caller names no queue.
    let completions = DispatchQueue(label: "polystore.completions")
    let commits = CommitHub()
    let joint = JointCommits()
    let unanswered = UnansweredChecks()
    let additions = StoreAdditions()
    let gate = WorkGate()
    let requests = RequestRecorder()
    /// The change watches of the stores, by position, while the stack is observed.
    let following = Mutex<[Int: Following]>([:])
    /// A lock that is held while a watch begins, or ends because the stack is no longer observed.
    let startingToFollow = Mutex(())
    /// Whether newly added stores must be watched.
    let isFollowing = Atomic(false)
    /// The number of additions and removals of stores. Cached facts about the stores are valid until it changes.
    let storeChanges = Atomic(0)
    /// The number of cursors and streams with a snapshot of their own.
    let openStreams = Atomic(0)
    /// Whether requests are measured, for an instrumentation or a log.
    let measuresRequests = Atomic(false)
    private let state = Mutex(State())
    /// The components of other layers that live as long as the stack, one of each class.
    private let components = Mutex<[ObjectIdentifier: any AnyObject & Sendable]>([:])

    init(model: StackModel) { self.model = model }

    deinit { for item in following.withLock({ Array($0.values) }) { item.watch?.cancel() } }

    /// Returns the component of a class, which is created at the first call and then retained by the stack.
    package func component<Component: AnyObject & Sendable>(_ create: (StackCore) -> Component) -> Component {
        components.withLock { components in
            if let known = components[ObjectIdentifier(Component.self)] as? Component { return known }
            let component = create(self)
            components[ObjectIdentifier(Component.self)] = component
            return component
        }
    }

    /// The loading of relationships that were not prefetched.
    var relationships: RelationshipLoading {
        get { state.withLock { $0.relationships } }
        set { state.withLock { $0.relationships = newValue } }
    }

    /// The number of rows from which evaluation outside the store is reported.
    var reportedRows: Int {
        get { state.withLock { $0.reportedRows } }
        set { state.withLock { $0.reportedRows = newValue } }
    }

    /// Reports a request that read additional rows because its store could not evaluate it completely.
    func report(_ work: ResidualWork, of storeType: String) {
        if work.read + work.related < reportedRows { return }
        let related = work.related > 0 ? " and \(work.related) related rows" : ""
        StoreLogging.notice(
            "\(work.read) rows of \(work.entity)\(related) were read for \(work.found), because the \(storeType) store cannot evaluate a part of the request; "
                + "explain shows which part")
    }

    /// Reports once that a store cannot be reached, and once that it can be reached again.
    static func reportReachability(_ error: StorageError?, of storeType: String) {
        if let error {
            StoreLogging.log(.warning, "the \(storeType) store cannot be reached: \(error.message)")
        } else {
            StoreLogging.log(.notice, "the \(storeType) store can be reached again")
        }
    }

    /// The instrumentation that measures the stack.
    var instrumentation: (any StoreInstrumentation)? {
        get { state.withLock { $0.instrumentation } }
        set { changeMeasuring { $0.instrumentation = newValue } }
    }

    /// The duration from which a request is logged as a warning.
    var slowRequest: Duration? {
        get { state.withLock { $0.slowRequest } }
        set { changeMeasuring { $0.slowRequest = newValue } }
    }

    /// Whether each request is logged.
    var logsRequests: Bool {
        get { state.withLock { $0.logsRequests } }
        set { changeMeasuring { $0.logsRequests = newValue } }
    }

    /// Whether the stack keeps statistics about its requests.
    var recordsRequests: Bool {
        get { state.withLock { $0.recordsRequests } }
        set { changeMeasuring { $0.recordsRequests = newValue } }
    }

    private func changeMeasuring(_ change: (inout sending State) -> Void) {
        state.withLock { state in
            change(&state)
            let isMeasured =
                state.instrumentation != nil || state.slowRequest != nil || state.logsRequests || state.recordsRequests
            measuresRequests.store(isMeasured, ordering: .relaxed)
        }
    }

    /// Reports a request to the instrumentation, the statistics and the logger.
    func report(_ report: RequestReport, _ request: RecordedRequest?) {
        let (instrumentation, slowRequest, isLogged, isRecorded) = state.withLock {
            ($0.instrumentation, $0.slowRequest, $0.logsRequests, $0.recordsRequests)
        }
        instrumentation?.didAnswer(report)
        if isRecorded { requests.add(report, request) }
        if let slowRequest, report.duration >= slowRequest {
            StoreLogging.log(.warning, "slow request: \(report)")
        } else if isLogged {
            StoreLogging.log(.trace, "\(report)")
        }
    }

    /// The secret that signs page cursors.
    var pageSecret: [UInt8] {
        get { state.withLock { $0.pageSecret } }
        set { state.withLock { $0.pageSecret = newValue } }
    }

    /// Adds a store and returns its position; nil after the beginning of a shutdown.
    @discardableResult
    func append(_ entry: Entry) -> Int? {
        let position: Int? = state.withLock { state in
            // Under this lock: what was added before the gate was closed is found, and closed, by the shutdown.
            if gate.isClosed { return nil }
            state.entries.append((state.next, entry))
            state.next += 1
            storeChanges.add(1, ordering: .releasing)
            return state.next - 1
        }
        countWork()
        return position
    }

    /// Removes a store; returns nil if it is not in the stack.
    func remove(_ store: any StorageInterface) -> Entry? {
        defer { countWork() }
        return state.withLock { state in
            guard let index = state.entries.firstIndex(where: { $0.entry.store.isSame(as: store) }) else { return nil }
            storeChanges.add(1, ordering: .releasing)
            let (position, entry) = state.entries.remove(at: index)
            state.leaving[position] = entry.store.storeID
            return entry
        }
    }

    /// Ends the removal of a store, which is closed.
    func didRemove(_ position: Int) { state.withLock { $0.leaving[position] = nil } }

    /// Waits for the commits to a store that is being removed. One that ended after another instance of the store was added would be
    /// delivered twice: as a commit of this stack, and as one from the history at the new position.
    func waitForRemoval(of storeID: UUID) {
        let positions = state.withLock { state in state.leaving.filter { $0.value == storeID }.keys }
        for position in positions { waitForCommits(to: position, atMost: JointCommits.patience) }
    }

    /// Puts a store at the place of another one, so that there is no moment without a store for its entities.
    ///
    /// - Returns: The positions of both, and the former store; nil if it is not in the stack.
    func replace(_ store: any StorageInterface, by other: OpenStore) -> (former: Int, current: Int, store: OpenStore)? {
        defer { countWork() }
        return state.withLock { state in
            guard let index = state.entries.firstIndex(where: { $0.entry.store.isSame(as: store) }) else { return nil }
            let former = state.entries.remove(at: index)
            state.entries.append((state.next, Entry(store: other, entities: former.entry.entities)))
            state.next += 1
            storeChanges.add(1, ordering: .releasing)
            return (former.position, state.next - 1, former.entry.store)
        }
    }

    /// The replacement of a store of the stack.
    struct Replacement: Sendable {
        /// Whether one is going on, so that a write transaction that the store refuses waits and is repeated.
        var isRunning = false
        /// The number of replacements that have ended.
        var ended = 0
    }

    /// The replacement that is going on, and the number of earlier ones.
    var replacement: Replacement { state.withLock { $0.replacement } }

    /// Begins to replace a store.
    ///
    /// - Throws: `busy` if another one is being replaced.
    func beginReplacement() throws(StorageError) {
        let isFirst = state.withLock { state in
            defer { state.replacement.isRunning = true }
            return !state.replacement.isRunning
        }
        if !isFirst { throw StorageError(.busy, "another store of the stack is being moved; repeat the call when that has ended") }
    }

    /// Ends the replacement of a store.
    func endReplacement() {
        state.withLock { state in
            state.replacement.isRunning = false
            state.replacement.ended += 1
        }
    }

    /// Sets the numbers of closures that run concurrently to what the stores serve.
    private func countWork() {
        workers.reads.setWidth { StackWorkers.concurrentReads(entries.map(\.entry.store.capabilities)) }
        countWriters()
    }

    /// Sets the number of write transactions that begin concurrently to the number that all stores accept. Additional ones would wait
    /// inside a store, and not in the order of their submission.
    ///
    /// A single store with one writer limits the number to one. The stores to which a closure writes are known only when it does so. A
    /// closure that waits there for another one would keep its locks on servers, and its position before closures that do not need the
    /// store. Closures that run on the calling thread are not counted.
    private func countWriters() {
        workers.writes.setWidth {
            let stores = entries.map(\.entry.store)
            return !stores.isEmpty && stores.allSatisfy { $0.capabilities.contains(.concurrentWriters) } ? Self.concurrentWriters : 1
        }
    }

    /// The number of concurrent writers for stores that support them.
    private static let concurrentWriters = 4

    /// The stores, in the order in which they were added. Not inlined into tasks: decision 0038, "No lock is inlined where a task waits".
    package var entries: [(position: Int, entry: Entry)] {
        @inline(never) get { state.withLock { $0.entries } }
    }

    func entry(_ position: Int) throws(StorageError) -> Entry {
        let entry = state.withLock { state in state.index(of: position).map { state.entries[$0].entry } }
        guard let entry else { throw StorageError(.storeClosed, "the store was removed from its stack; fetch the object again") }
        return entry
    }

    /// Whether a store is still in the stack.
    package func hasStore(_ position: Int) -> Bool { state.withLock { $0.index(of: position) != nil } }

    func store(_ position: Int) throws(StorageError) -> OpenStore { try entry(position).store }

    /// Returns the identity of a store; the placeholder if it is not in the stack.
    @inline(never)
    package func storeID(_ position: Int) -> UUID { (try? entry(position).store.storeID) ?? UUID.placeholder }

    /// Returns the position of the store with an identity, or nil if the store is not in the stack.
    package func position(of storeID: UUID) -> Int? { entries.first { $0.entry.store.storeID == storeID }?.position }

    /// Returns the stores that hold an entity: all of them, or those of the named configurations.
    ///
    /// - Throws: `notFound` before any store was added, and for an entity that no store holds; `storeClosed` after a shutdown.
    package func stores(for entity: EntityIndex, _ configurations: [String?]?) throws(StorageError) -> [Int] {
        let all = entries
        let name = model.schema.entities[entity].name
        if all.isEmpty, gate.isClosed { throw WorkGate.closed }
        guard !all.isEmpty else {
            throw StorageError(.notFound, "the stack has no store yet; add one with addStorage before using \(name)")
        }
        let found = all.filter { item in
            item.entry.entities.contains(entity) && (configurations?.contains { $0 == item.entry.store.configuration } ?? true)
        }
        guard !found.isEmpty else {
            if gate.isClosed { throw WorkGate.closed }
            let wanted = configurations?.map { $0 ?? "Default" }.joined(separator: ", ")
            throw StorageError(
                .notFound, "no store of this stack contains \(name)\(wanted.map { " in configuration \($0)" } ?? "")",
                details: .init(entity: name))
        }
        return found.map(\.position)
    }
}

extension StackModel {
    /// A model without entities.
    static let none = StackModel()

    private init() {
        schema = .empty
        types = []
        entities = [:]
        inverses = []
        rules = []
        hasRules = false
        isSaveAware = []
        hasSaveAware = false
        isChecked = []
        hasCounts = false
        references = []
    }
}
