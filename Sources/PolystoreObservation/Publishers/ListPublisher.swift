internal import PolystoreFoundation
public import Observation
public import PolystoreObjects
internal import Synchronization

/// A publisher of the objects of a fetch: each change of the list is a new snapshot, which is sendable.
///
/// It belongs to no isolation. The threads of the stack keep the list up to date, using the changes of commits. A program can read the
/// `snapshot` at any time, wait for `snapshots` or `updates` in a task, add a callback, or read it in a view: it is `Observable`.
/// ```swift
/// let people = try stack.publishList(From<Person>().orderBy(.ascending(\.name)))
/// for await update in people.updates { table.apply(update.snapshot) }
/// ```
public final class ListPublisher<Object: ManagedObject>: Sendable, Observable {
    /// One step of a list, or several for a slow consumer.
    public struct Update: Sendable {
        /// The current contents of the list.
        public let snapshot: ListSnapshot<Object>
        /// The changes since the snapshot of the previous update; nil if they are unknown and the list must be reloaded: in the first
        /// update, after a refetch, and if more was missed than is recorded.
        public let changes: ListChanges?
        /// The source identifier of the transaction that made the change; nil for changes made outside the stack, and if several changes
        /// are one update.
        public let sourceIdentifier: (any Hashable & Sendable)?
    }

    /// The record of one step, or of several consecutive ones.
    struct Note: PublishedNote {
        /// The changes of the objects; nil for a list that was fetched again.
        let changes: Changes?
        let source: (any Hashable & Sendable)?

        /// The maximum number of objects recorded one by one. A slow consumer that missed more reloads its list.
        private static var most: Int { 10_000 }

        struct Changes: Sendable {
            typealias Item = ListContents.Item

            /// The objects that were present before and whose values changed.
            var updated: Set<Item> = []
            /// The objects that were inserted, and those that were removed.
            var came: Set<Item> = [], left: Set<Item> = []
            /// Whether too many objects were inserted and removed to record them.
            var isLong = false

            init(_ step: ListEngine.Step, _ changes: ListChanges, from old: ListContents) {
                updated = step.updated
                isLong = changes.inserted.count + changes.deleted.count > Note.most
                if isLong { return }
                came = Self.items(changes.inserted, of: step.contents)
                left = Self.items(changes.deleted, of: old)
            }

            private static func items(_ paths: [IndexPath], of contents: ListContents) -> Set<Item> {
                if paths.isEmpty { return [] }
                let starts = SectionStarts(contents.sections)
                return Set(paths.lazy.compactMap(starts.position).map { contents.items[$0] })
            }

            /// Appends later changes. Returns false if the result would be too large. For a consumer that missed the removal and
            /// reinsertion of an object, its values changed.
            mutating func append(_ next: Changes) -> Bool {
                updated.formUnion(next.updated.subtracting(came))
                updated.formUnion(next.came.intersection(left))
                came.formUnion(next.came.subtracting(left))
                left.formUnion(next.left.subtracting(came))
                return !isLong && !next.isLong && updated.count + came.count + left.count <= Note.most
            }
        }

        /// Returns the combined note; nil for a list that was fetched again and then changed: a consumer that has seen the fetch has missed
        /// only the changes after it.
        func joined(with next: Note) -> Note? {
            guard let others = next.changes else { return Note(changes: nil, source: nil) }
            guard var changes else { return nil }
            return Note(changes: changes.append(others) ? changes : nil, source: nil)
        }

        var size: Int { changes.map { $0.updated.count + $0.came.count + $0.left.count } ?? 0 }

        /// The note without its changes. A consumer that missed it reloads its list.
        var forgotten: Note { Note(changes: nil, source: source) }

        /// Returns the combined changes of all notes; nil if they are unknown.
        static func changes(of notes: [Note]) -> Changes? {
            guard var all = notes.first?.changes else { return nil }
            for note in notes.dropFirst() {
                guard let next = note.changes, all.append(next) else { return nil }
            }
            return all
        }
    }

    /// The state that commits and refetches access one at a time.
    private struct State {
        let engine: ListEngine
        let sectionBy: SectionBy<Object>?
        /// The time of the complete fetch.
        let fetch = ContinuousClock.now
    }

    private let core: StackCore
    private let state: Locked<State>
    private let published: PublishedValue<ListSnapshot<Object>, Note>
    private let registrar = ObservationRegistrar()
    private let callbacks = Callbacks()

    init(_ from: From<Object>, _ sectionBy: SectionBy<Object>?, _ core: StackCore) throws(StorageError) {
        self.core = core
        let query = try ListQuery(from, sectionBy, core.model)
        state = Locked(State(engine: ListEngine(query, core), sectionBy: sectionBy))
        published = PublishedValue(ListSnapshot())
    }

    /// Fetches the first snapshot. Commits during the fetch are queued.
    func begin() throws(StorageError) { try begin { ($0.engine, $0.sectionBy) } }

    private func begin(_ list: (State) throws(StorageError) -> (ListEngine, SectionBy<Object>?)) throws(StorageError) {
        let core = core
        try state.withLock { state throws(StorageError) in
            let (next, sectionBy) = try list(state)
            let sessions = SessionPool(readingFrom: core)
            defer { sessions.end() }
            try next.fetch(sessions)
            state = State(engine: next, sectionBy: sectionBy)
            published.publish(Self.snapshot(next, core), Note(changes: nil, source: nil))
        }
        tell()
    }

    private static func snapshot(_ engine: ListEngine, _ core: StackCore, updated: Set<ListContents.Item> = []) -> ListSnapshot<Object> {
        ListSnapshot(
            engine.contents, stores: ListStores(core, root: engine.query.root), updated: updated)
    }

    /// The current contents of the list. During a callback of the publisher it is the snapshot of that call: its updates are all since the
    /// last call, and later changes are reported with the next one.
    public var snapshot: ListSnapshot<Object> {
        registrar.access(self, keyPath: \.snapshot)
        return PublisherCall.current?.snapshot(of: self) ?? published.value
    }

    /// The current snapshot, then each newer one. A slow consumer receives the newest one and never misses the last.
    public var snapshots: some AsyncSequence<ListSnapshot<Object>, Never> & Sendable { Updates(self).map(\.snapshot) }

    /// Like `snapshots`, with the changes from each to the next. The changes of an element include the steps that a slow consumer missed:
    /// applied to the previous snapshot they result in this one.
    public var updates: Updates { Updates(self) }

    /// The updates of a list.
    public struct Updates: AsyncSequence, Sendable {
        private let publisher: ListPublisher<Object>

        init(_ publisher: ListPublisher<Object>) { self.publisher = publisher }

        /// Starts with the current snapshot.
        public func makeAsyncIterator() -> Iterator { Iterator(publisher) }

        /// An iterator that waits for updates and retains the publisher.
        public struct Iterator: AsyncIteratorProtocol {
            private let publisher: ListPublisher<Object>
            private var steps: PublishedValue<ListSnapshot<Object>, Note>.Iterator
            private var last: ListSnapshot<Object>?

            init(_ publisher: ListPublisher<Object>) {
                self.publisher = publisher
                steps = publisher.published.steps().makeAsyncIterator()
            }

            /// Returns the next update, or nil if the task was cancelled or the stack was shut down.
            public mutating func next() async -> Update? {
                guard let (snapshot, notes) = await steps.next() else { return nil }
                defer { last = snapshot }
                return publisher.update(from: last, to: snapshot, notes)
            }
        }
    }

    private func update(from old: ListSnapshot<Object>?, to new: ListSnapshot<Object>, _ notes: [Note]) -> Update {
        let source = notes.count == 1 ? notes.first?.source : nil
        guard let old, let missed = Note.changes(of: notes) else {
            var new = new
            new.isAnew = true
            return Update(snapshot: new, changes: nil, sourceIdentifier: source)
        }
        var snapshot = ListSnapshot<Object>(new.contents, stores: new.stores, updated: missed.updated)
        let changes = snapshot.changes(from: old)
        // Objects that were inserted or removed in between do not count as updated.
        if old.stores == new.stores {
            snapshot.updated = Set(changes.updated.compactMap { old.starts.position(of: $0) }.map { old.contents.items[$0] })
        }
        return Update(snapshot: snapshot, changes: changes, sourceIdentifier: source)
    }

    // MARK: Callbacks

    /// Calls a closure after each change, in the isolation of the caller, while the observer is alive.
    ///
    /// - Parameters:
    ///   - observer: The observer, which is referenced weakly.
    ///   - notifyInitial: Whether the closure is also called once for the current snapshot.
    ///   - isolation: The isolation in which the closure is called.
    ///   - callback: A closure called with the publisher.
    public func addObserver<Observer: AnyObject>(
        _ observer: Observer, notifyInitial: Bool = false, isolation: isolated any Actor = #isolation,
        _ callback: @escaping (ListPublisher<Object>) -> Void
    ) {
        addObserver(observer, notifyInitial: notifyInitial, isolation: isolation) { publisher, _ in callback(publisher) }
    }

    /// Calls a closure after each change, also with the source identifier of the transaction; nil for changes made outside the stack, and
    /// if several changes are one call.
    public func addObserver<Observer: AnyObject>(
        _ observer: Observer, notifyInitial: Bool = false, isolation: isolated any Actor = #isolation,
        _ callback: @escaping (ListPublisher<Object>, _ sourceIdentifier: (any Hashable & Sendable)?) -> Void
    ) {
        callbacks.add(observer, published, notifyInitial: notifyInitial, isolation: isolation) { [weak self] value, notes in
            guard let self else { return }
            var snapshot = value
            if let changes = Note.changes(of: notes) {
                snapshot.updated = []
                snapshot = snapshot.updating(changes.updated)
            } else {
                snapshot.isAnew = true
            }
            PublisherCall.run(snapshot, of: self) { callback(self, notes.count == 1 ? notes.first?.source : nil) }
        }
    }

    /// Removes an observer.
    public func removeObserver(_ observer: AnyObject) { callbacks.remove(observer) }

    /// Fetches the objects of a request, with the current sections. The next snapshot requires a reload.
    ///
    /// - Throws: The error of the request. The list does not change then.
    public func refetch(_ from: From<Object>) throws(StorageError) { try refetch(from) { $0.sectionBy } }

    /// Fetches the objects of a request, with other sections.
    public func refetch(_ from: From<Object>, sectionBy: SectionBy<Object>?) throws(StorageError) { try refetch(from) { _ in sectionBy } }

    private func refetch(_ from: From<Object>, _ sectionBy: (State) -> SectionBy<Object>?) throws(StorageError) {
        let core = core
        try reporting { () throws(StorageError) in
            try begin { state throws(StorageError) in
                let sectionBy = sectionBy(state)
                return (ListEngine(try ListQuery(from, sectionBy, core.model), core), sectionBy)
            }
        }
    }

    private func tell() { registrar.withMutation(of: self, keyPath: \.snapshot) {} }

    deinit { published.finish() }
}

extension ListPublisher: CommitFollower {
    var isLocal: Bool { state.withLock { $0.engine.isLocal } }

    func follow(_ look: FollowerLook) throws(StorageError) {
        let isChanged = try state.withLock { state throws(StorageError) in
            let engine = state.engine
            var source: (any Hashable & Sendable)?
            let step = try look.look(after: state.fetch, core) { look throws(StorageError) in
                let step = try engine.step(look.batch, look.sessions)
                if let step { source = look.source { engine.mixes(step, of: look.batch, with: $0) } }
                return step
            }
            guard let step else { return false }
            let changes = step.changes.map { Note.Changes(step, $0, from: engine.contents) }
            engine.take(step)
            var snapshot = Self.snapshot(engine, core, updated: step.updated)
            snapshot.isAnew = changes == nil
            published.publish(snapshot, Note(changes: changes, source: source))
            return true
        }
        if isChanged { tell() }
    }

    func cannotFollow() { state.withLock { $0.engine.isBehind = true } }

    func finish() { published.finish() }
}

/// The state of a publisher.
///
/// Unchecked: it is accessed only while the lock is held, and no reference to it escapes.
private final class Locked<State>: @unchecked Sendable {
    private let lock = Lock()
    private var state: State

    init(_ state: State) { self.state = state }

    func withLock<R, Failure: Error>(_ body: (inout State) throws(Failure) -> R) throws(Failure) -> R {
        lock.lock()
        defer { lock.unlock() }
        return try body(&state)
    }
}

extension DataStack {
    /// Returns a publisher of the objects of a request.
    ///
    /// - Parameters:
    ///   - from: The objects and their order. Without an order they are ordered by key.
    ///   - sectionBy: The sections. If given, the order must begin with their property.
    /// - Throws: `invalidPredicate` if the order does not keep sections together; the error of a fetch of the request.
    public func publishList<Object: ManagedObject>(
        _ from: From<Object>, sectionBy: SectionBy<Object>? = nil
    ) throws(StorageError) -> ListPublisher<Object> {
        try reporting { () throws(StorageError) in
            try core.working { () throws(StorageError) in
                let publisher = try ListPublisher(from, sectionBy, core)
                try core.publish(publisher)
                try publisher.begin()
                return publisher
            }
        }
    }
}

extension StackCore {
    /// Keeps a publisher up to date with every commit.
    func publish(_ publisher: any CommitFollower) throws(StorageError) {
        publishers.add(publisher)
        try observe(publishers)
    }
}

/// A call of an observer, which may have missed earlier values.
private final class PublisherCall: Sendable {
    @TaskLocal static var current: PublisherCall?

    private let publisher: ObjectIdentifier
    /// The snapshot of the call, until the call ends. A task that the observer starts inherits the call, but not its snapshot.
    private let snapshot: Mutex<(any Sendable)?>

    private init(_ publisher: ObjectIdentifier, _ snapshot: any Sendable) {
        self.publisher = publisher
        self.snapshot = Mutex(snapshot)
    }

    static func run<Object>(_ snapshot: ListSnapshot<Object>, of publisher: ListPublisher<Object>, _ body: () -> Void) {
        let call = PublisherCall(ObjectIdentifier(publisher), snapshot)
        $current.withValue(call, operation: body)
        call.end()
    }

    @inline(never) private func end() { snapshot.withLock { $0 = nil } }

    /// Returns the snapshot of the call, if it belongs to the publisher.
    @inline(never) func snapshot<Object>(of publisher: ListPublisher<Object>) -> ListSnapshot<Object>? {
        if self.publisher != ObjectIdentifier(publisher) { return nil }
        return snapshot.withLock { $0 as? ListSnapshot<Object> }
    }
}
