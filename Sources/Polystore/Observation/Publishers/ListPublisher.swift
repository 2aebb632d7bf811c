internal import Foundation
public import Observation
public import PolystoreStorage
internal import Synchronization

/// Follows the objects of a fetch with values: each change of the list is a new snapshot, which can be sent anywhere.
///
/// It belongs to no isolation; the list is kept up to date on the threads of the stack, by what commits changed. Ask it for the `snapshot`
/// at any time, wait for `snapshots` or `updates` in a task, add a callback, or read it in a view: it is `Observable`.
/// ```swift
/// let people = try stack.publishList(From<Person>().orderBy(.ascending(\.name)))
/// for await update in people.updates { table.apply(update.snapshot) }
/// ```
public final class ListPublisher<Object: ManagedObject>: Sendable, Observable {
    /// One step of a list, or several for who is slow.
    public struct Update: Sendable {
        /// What the list holds now.
        public let snapshot: ListSnapshot<Object>
        /// What leads here from the snapshot of the update before; nil where that is not known, and the list is to be shown anew: in the first
        /// update, after a refetch, and where more was missed than is remembered.
        public let changes: ListChanges?
        /// What the transaction was given that made the change; nil for changes of others, and where several are one update.
        public let sourceIdentifier: (any Hashable & Sendable)?
    }

    /// What one step was, or several that follow each other.
    struct Note: PublishedNote {
        /// What became of the objects; nil for a list that began anew.
        let changes: Changes?
        let source: (any Hashable & Sendable)?

        /// So many objects are remembered one by one; a slow consumer that missed more shows its list anew.
        private static var most: Int { 10_000 }

        struct Changes: Sendable {
            typealias Item = ListContents.Item

            /// Those whose values changed, of those that were there before.
            var updated: Set<Item> = []
            /// Those that came and were not there before, and those that were there before and left.
            var came: Set<Item> = [], left: Set<Item> = []
            /// Whether too many came and left to remember them.
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

            /// Goes on to what came then; false where that would be too much. To whoever has not seen that an object left and came back, it is
            /// one whose values changed.
            mutating func append(_ next: Changes) -> Bool {
                updated.formUnion(next.updated.subtracting(came))
                updated.formUnion(next.came.intersection(left))
                came.formUnion(next.came.subtracting(left))
                left.formUnion(next.left.subtracting(came))
                return !isLong && !next.isLong && updated.count + came.count + left.count <= Note.most
            }
        }

        /// Nil for a list that began anew and went on: who has seen it begin has missed only what came then.
        func joined(with next: Note) -> Note? {
            guard let others = next.changes else { return Note(changes: nil, source: nil) }
            guard var changes else { return nil }
            return Note(changes: changes.append(others) ? changes : nil, source: nil)
        }

        var size: Int { changes.map { $0.updated.count + $0.came.count + $0.left.count } ?? 0 }

        /// Who has missed it begins anew.
        var forgotten: Note { Note(changes: nil, source: source) }

        /// What all of them come to; nil where that is not known.
        static func changes(of notes: [Note]) -> Changes? {
            guard var all = notes.first?.changes else { return nil }
            for note in notes.dropFirst() {
                guard let next = note.changes, all.append(next) else { return nil }
            }
            return all
        }
    }

    /// What commits and refetches use in turns.
    private struct State {
        let engine: ListEngine
        let sectionBy: SectionBy<Object>?
        /// When all was fetched.
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

    /// Fetches the first snapshot; what is committed meanwhile waits.
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

    /// What the list holds now. While a callback of the publisher runs, it is the snapshot that the call is about: what was updated is all
    /// that is new since the last call, and what comes meanwhile is told with the next.
    public var snapshot: ListSnapshot<Object> {
        registrar.access(self, keyPath: \.snapshot)
        return PublisherCall.current?.snapshot(of: self) ?? published.value
    }

    /// The snapshot that there is, then each newer one. Who is slow gets the newest; it never misses the last.
    public var snapshots: some AsyncSequence<ListSnapshot<Object>, Never> & Sendable { Updates(self).map(\.snapshot) }

    /// As `snapshots`, with what leads from each to the next. What one element leaves out of the steps between, because its consumer was
    /// slow, is in its changes: applied to the snapshot before they give this one.
    public var updates: Updates { Updates(self) }

    /// The updates of a list.
    public struct Updates: AsyncSequence, Sendable {
        private let publisher: ListPublisher<Object>

        init(_ publisher: ListPublisher<Object>) { self.publisher = publisher }

        /// Begins with the snapshot that there is.
        public func makeAsyncIterator() -> Iterator { Iterator(publisher) }

        /// Waits for updates; holds the publisher.
        public struct Iterator: AsyncIteratorProtocol {
            private let publisher: ListPublisher<Object>
            private var steps: PublishedValue<ListSnapshot<Object>, Note>.Iterator
            private var last: ListSnapshot<Object>?

            init(_ publisher: ListPublisher<Object>) {
                self.publisher = publisher
                steps = publisher.published.steps().makeAsyncIterator()
            }

            /// The next update; nil when the task was cancelled.
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
        // What came or went on the way is not among what is updated.
        if old.stores == new.stores {
            snapshot.updated = Set(changes.updated.compactMap { old.starts.position(of: $0) }.map { old.contents.items[$0] })
        }
        return Update(snapshot: snapshot, changes: changes, sourceIdentifier: source)
    }

    // MARK: Callbacks

    /// Calls a closure after each change, in the isolation that asks for it, for as long as the observer is alive.
    ///
    /// - Parameters:
    ///   - observer: Whose interest it is; it is held weakly.
    ///   - notifyInitial: Whether the closure is also called once for the snapshot that is there.
    ///   - isolation: Where the closure is called.
    ///   - callback: What is called, with the publisher.
    public func addObserver<Observer: AnyObject>(
        _ observer: Observer, notifyInitial: Bool = false, isolation: isolated any Actor = #isolation,
        _ callback: @escaping (ListPublisher<Object>) -> Void
    ) {
        addObserver(observer, notifyInitial: notifyInitial, isolation: isolation) { publisher, _ in callback(publisher) }
    }

    /// Calls a closure after each change with what the transaction was given that made it, too; nil for changes of others, and where several
    /// are one call.
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

    /// Calls nothing more for an observer.
    public func removeObserver(_ observer: AnyObject) { callbacks.remove(observer) }

    /// Fetches anew what a request asks for, with the sections of before; the snapshot that follows is to be shown anew.
    ///
    /// - Throws: What the request throws; the list stays as it is then.
    public func refetch(_ from: From<Object>) throws(StorageError) { try refetch(from) { $0.sectionBy } }

    /// Fetches anew, with other sections.
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
}

/// The state of a publisher.
///
/// Unchecked: it is reached only while the lock is held, and nothing of it is handed out.
private final class Locked<State>: @unchecked Sendable {
    private let lock = NSLock()
    private var state: State

    init(_ state: State) { self.state = state }

    func withLock<R, Failure: Error>(_ body: (inout State) throws(Failure) -> R) throws(Failure) -> R {
        lock.lock()
        defer { lock.unlock() }
        return try body(&state)
    }
}

extension DataStack {
    /// Follows the objects of a request with snapshots.
    ///
    /// - Parameters:
    ///   - from: Which objects, in which order; without an order they come in that of their keys.
    ///   - sectionBy: What the sections are; the order begins with their property then.
    /// - Throws: `invalidPredicate` where the order does not keep sections together; what a fetch of the request throws.
    public func publishList<Object: ManagedObject>(
        _ from: From<Object>, sectionBy: SectionBy<Object>? = nil
    ) throws(StorageError) -> ListPublisher<Object> {
        try reporting { () throws(StorageError) in
            let publisher = try ListPublisher(from, sectionBy, core)
            try core.publish(publisher)
            try publisher.begin()
            return publisher
        }
    }
}

extension StackCore {
    /// Leads a publisher on with every commit.
    func publish(_ publisher: any CommitFollower) throws(StorageError) {
        publishers.add(publisher)
        try observe(publishers)
    }
}

/// A call that is being made to an observer, who may have missed what was published before.
private final class PublisherCall: Sendable {
    @TaskLocal static var current: PublisherCall?

    private let publisher: ObjectIdentifier
    /// What the call is about, until it ends: a task that the observer begins inherits the call, but not its snapshot.
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

    /// The snapshot of the call, where it is one of the publisher.
    @inline(never) func snapshot<Object>(of publisher: ListPublisher<Object>) -> ListSnapshot<Object>? {
        if self.publisher != ObjectIdentifier(publisher) { return nil }
        return snapshot.withLock { $0 as? ListSnapshot<Object> }
    }
}
