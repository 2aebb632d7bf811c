public import Observation
public import PolystoreObjects
internal import Synchronization

/// A publisher of one object: each change is a new snapshot, which is sendable.
///
/// It belongs to no isolation. The threads of the stack deliver all commits to it, regardless of the writer. A program can read the
/// `snapshot` at any time, wait for `snapshots` in a task, add a callback, or read it in a view: it is `Observable`. Properties are those
/// of the snapshot: `publisher.name`, nil if the object was deleted.
@dynamicMemberLookup
public final class ObjectPublisher<Object: ManagedObject>: Sendable, Observable {
    /// The identity of the object.
    public let objectID: ObjectID<Object>

    private let core: StackCore
    private let origin: Origin
    private let entity: EntityIndex
    private let published = PublishedValue<ObjectSnapshot<Object>?, Note>(nil)
    /// The time of the first read. The lock is held during reads, so that an older read never replaces a newer one.
    private let firstRead = Mutex(ContinuousClock.now)
    private let registrar = ObservationRegistrar()
    private let callbacks = Callbacks()

    /// The stack that created the publisher, which the publisher does not retain.
    private struct Origin {
        weak var stack: DataStack?
    }

    /// The stack that created the publisher; nil after its release.
    package var stack: DataStack? { origin.stack }

    /// The record of one step.
    private struct Note: PublishedNote {
        let source: (any Hashable & Sendable)?

        func joined(with next: Note) -> Note? { Note(source: nil) }
    }

    init(_ id: ObjectID<Object>, _ stack: DataStack) throws(StorageError) {
        objectID = id
        origin = Origin(stack: stack)
        core = stack.core
        guard core.position(of: id.key.store) != nil else {
            throw StorageError(.notFound, "the store of \(id.key.root) \(id.key.key) is not part of this stack")
        }
        guard let entity = core.model.schema.index(of: id.key.root) else {
            throw StorageError(.notFound, "the model has no entity \"\(id.key.root)\"", details: .init(entity: id.key.root))
        }
        self.entity = entity
    }

    /// The position of the object's store; nil while it is not part of the stack.
    private var store: Int? { core.position(of: objectID.key.store) }

    func begin() throws(StorageError) {
        let isOther = try firstRead.withLock { firstRead throws(StorageError) in
            let sessions = SessionPool(readingFrom: core)
            defer { sessions.end() }
            defer { firstRead = .now }
            return publish(try read(sessions), nil)
        }
        if isOther { tell() }
    }

    /// Reads the object in sessions. If its store was removed, the result is that of a deleted object.
    private func read(_ sessions: SessionPool) throws(StorageError) -> ObjectSnapshot<Object>? {
        guard let store else { return nil }
        let reader = try sessions.reader(store), batch = RowBatch(capacity: 1)
        try reader.rows(entity, keys: [objectID.key.key], into: batch)
        return batch.count == 1 ? try ObjectSnapshot(batch.row(0), store, core, reader) : nil
    }

    /// Publishes a snapshot. Returns false if it does not differ.
    private func publish(_ next: ObjectSnapshot<Object>?, _ source: (any Hashable & Sendable)?) -> Bool {
        if next == published.value { return false }
        published.publish(next, Note(source: source))
        return true
    }

    private func tell() { registrar.withMutation(of: self, keyPath: \.snapshot) {} }

    /// The values of the object; nil if it was deleted.
    public var snapshot: ObjectSnapshot<Object>? {
        registrar.access(self, keyPath: \.snapshot)
        return published.value
    }

    /// The current snapshot, then each newer one; nil for a deleted object. A slow consumer receives the newest one and never misses the
    /// last.
    public var snapshots: some AsyncSequence<ObjectSnapshot<Object>?, Never> & Sendable { Snapshots(publisher: self) }

    private struct Snapshots: AsyncSequence, Sendable {
        let publisher: ObjectPublisher<Object>

        func makeAsyncIterator() -> Iterator { Iterator(publisher) }

        struct Iterator: AsyncIteratorProtocol {
            /// Retained, because only publishers that are alive are updated.
            private let publisher: ObjectPublisher<Object>
            private var steps: PublishedValue<ObjectSnapshot<Object>?, Note>.Iterator

            init(_ publisher: ObjectPublisher<Object>) {
                self.publisher = publisher
                steps = publisher.published.steps().makeAsyncIterator()
            }

            mutating func next() async -> ObjectSnapshot<Object>?? { await steps.next().map(\.value) }
        }
    }

    /// Returns the value of an attribute; nil if the object was deleted.
    public subscript<V: AttributeValue>(dynamicMember keyPath: KeyPath<Object, V>) -> V? {
        snapshot.map { $0[dynamicMember: keyPath] }
    }

    /// Returns the object that a to-one relationship references; nil if there is none.
    public subscript<T: ManagedObject>(dynamicMember keyPath: KeyPath<Object, T?>) -> ObjectID<T>? {
        snapshot.flatMap { $0[dynamicMember: keyPath] }
    }

    /// Returns the objects that a to-many relationship references; nil if the object was deleted.
    public subscript<T: ManagedObject>(dynamicMember keyPath: KeyPath<Object, Set<T>>) -> Set<ObjectID<T>>? {
        snapshot.map { $0[dynamicMember: keyPath] }
    }

    /// Returns the objects that an ordered to-many relationship references, in its order; nil if the object was deleted.
    public subscript<T: ManagedObject>(dynamicMember keyPath: KeyPath<Object, [T]>) -> [ObjectID<T>]? {
        snapshot.map { $0[dynamicMember: keyPath] }
    }

    /// Calls a closure after each change, in the isolation of the caller, while the observer is alive.
    ///
    /// - Parameters:
    ///   - observer: The observer, which is referenced weakly.
    ///   - notifyInitial: Whether the closure is also called once for the current snapshot.
    ///   - isolation: The isolation in which the closure is called.
    ///   - callback: A closure called with the publisher.
    public func addObserver<Observer: AnyObject>(
        _ observer: Observer, notifyInitial: Bool = false, isolation: isolated any Actor = #isolation,
        _ callback: @escaping (ObjectPublisher<Object>) -> Void
    ) {
        addObserver(observer, notifyInitial: notifyInitial, isolation: isolation) { publisher, _ in callback(publisher) }
    }

    /// Calls a closure after each change, also with the source identifier of the transaction; nil for changes made outside the stack, and
    /// if several changes are one call.
    public func addObserver<Observer: AnyObject>(
        _ observer: Observer, notifyInitial: Bool = false, isolation: isolated any Actor = #isolation,
        _ callback: @escaping (ObjectPublisher<Object>, _ sourceIdentifier: (any Hashable & Sendable)?) -> Void
    ) {
        callbacks.add(observer, published, notifyInitial: notifyInitial, isolation: isolation) { [weak self] _, notes in
            if let self { callback(self, notes.count == 1 ? notes.first?.source : nil) }
        }
    }

    /// Removes an observer.
    public func removeObserver(_ observer: AnyObject) { callbacks.remove(observer) }

    deinit { published.finish() }
}

extension ObjectPublisher: CommitFollower {
    func follow(_ look: FollowerLook) throws(StorageError) {
        if !isConcerned(by: look.batch) { return }
        let isOther = try firstRead.withLock { firstRead throws(StorageError) in
            try look.look(after: firstRead, core) { look throws(StorageError) in
                let next = try read(look.sessions)
                return publish(next, store == nil ? look.batch.source : look.source(unless: isConcerned))
            }
        }
        if isOther { tell() }
    }

    func finish() { published.finish() }

    private func isConcerned(by batch: CommitBatch) -> Bool {
        // The removal of its store is delivered as an unknown change.
        guard let store else { return !batch.unknown.isEmpty && published.value != nil }
        guard batch.stores.contains(store) else { return false }
        let schema = core.model.schema
        return batch.unknown.contains(store)
            || batch.runs(in: store).contains { schema[$0.entity].root == entity && $0.keys.contains(objectID.key.key) }
            || hasMembers(in: batch, store)
    }

    /// Returns whether members of a to-many relationship may have been added or removed.
    private func hasMembers(in batch: CommitBatch, _ store: Int) -> Bool {
        guard let snapshot = published.value, let entity = core.model.schema.index(of: snapshot.entityName) else { return false }
        return core.model.schema[entity].relationships.contains { $0.mayHaveOtherMembers(by: batch, store, core.model.schema) }
    }
}

extension DataStack {
    /// Returns a publisher of the object that an id, a snapshot or a monitor identifies. The first snapshot is nil if there is none.
    ///
    /// - Throws: `notFound` if the id belongs to another stack; the error of reading.
    public func publishObject<Object: ManagedObject>(
        _ representation: some ObjectRepresentation<Object>
    ) throws(StorageError) -> ObjectPublisher<Object> {
        try reporting { () throws(StorageError) in
            try core.working { () throws(StorageError) in
                let publisher = try ObjectPublisher(representation.objectID, self)
                try core.publish(publisher)
                try publisher.begin()
                return publisher
            }
        }
    }

    /// Returns a publisher of an object.
    public func publishObject<Object: ManagedObject>(_ object: Object) throws(StorageError) -> ObjectPublisher<Object> {
        try publishObject(ObjectID<Object>(object._context.objectKey(of: object)))
    }

    /// Returns the current values of an object; nil if there is none.
    public func snapshot<Object: ManagedObject>(
        of representation: some ObjectRepresentation<Object>
    ) throws(StorageError) -> ObjectSnapshot<Object>? {
        try reporting { () throws(StorageError) in
            try core.working { () throws(StorageError) in
                let publisher = try ObjectPublisher(representation.objectID, self)
                try publisher.begin()
                return publisher.snapshot
            }
        }
    }
}

extension ObjectPublisher: ObjectRepresentation {}
