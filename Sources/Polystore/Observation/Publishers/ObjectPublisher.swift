public import Observation
public import PolystoreStorage
internal import Synchronization

/// Follows one object with values: each change is a new snapshot, which can be sent anywhere.
///
/// It belongs to no isolation; what is committed by anybody reaches it on the threads of the stack. Ask it for the `snapshot` at any time,
/// wait for `snapshots` in a task, add a callback, or read it in a view: it is `Observable`. Properties are read as those of the snapshot:
/// `publisher.name`, nil when the object was deleted.
@dynamicMemberLookup
public final class ObjectPublisher<Object: ManagedObject>: Sendable, Observable {
    /// The identity of the object.
    public let objectID: ObjectID<Object>

    private let core: StackCore
    private let entity: EntityIndex
    private let published = PublishedValue<ObjectSnapshot<Object>?, Note>(nil)
    /// When the object was first read. Held while it is read, so that what was read later is not followed by what was read before.
    private let firstRead = Mutex(ContinuousClock.now)
    private let registrar = ObservationRegistrar()
    private let callbacks = Callbacks()

    /// What one step was.
    private struct Note: PublishedNote {
        let source: (any Hashable & Sendable)?

        func joined(with next: Note) -> Note? { Note(source: nil) }
    }

    init(_ id: ObjectID<Object>, _ core: StackCore) throws(StorageError) {
        objectID = id
        self.core = core
        guard core.position(of: id.key.store) != nil else {
            throw StorageError(.notFound, "the object's store is not part of this stack")
        }
        guard let entity = core.model.schema.index(of: id.key.root) else {
            throw StorageError(.notFound, "the model has no entity \"\(id.key.root)\"", details: .init(entity: id.key.root))
        }
        self.entity = entity
    }

    /// The position of the object's store; nil while the stack does not have it.
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

    /// The object as sessions see it; as if it were deleted, where its store was removed.
    private func read(_ sessions: SessionPool) throws(StorageError) -> ObjectSnapshot<Object>? {
        guard let store else { return nil }
        let reader = try sessions.reader(store), batch = RowBatch(capacity: 1)
        try reader.rows(entity, keys: [objectID.key.key], into: batch)
        return batch.count == 1 ? try ObjectSnapshot(batch.row(0), store, core, reader) : nil
    }

    /// False where nothing is different.
    private func publish(_ next: ObjectSnapshot<Object>?, _ source: (any Hashable & Sendable)?) -> Bool {
        if next == published.value { return false }
        published.publish(next, Note(source: source))
        return true
    }

    private func tell() { registrar.withMutation(of: self, keyPath: \.snapshot) {} }

    /// The values of the object; nil when it was deleted.
    public var snapshot: ObjectSnapshot<Object>? {
        registrar.access(self, keyPath: \.snapshot)
        return published.value
    }

    /// The snapshot that there is, then each newer one; nil for a deleted object. Who is slow gets the newest; it never misses the last.
    public var snapshots: some AsyncSequence<ObjectSnapshot<Object>?, Never> & Sendable { Snapshots(publisher: self) }

    private struct Snapshots: AsyncSequence, Sendable {
        let publisher: ObjectPublisher<Object>

        func makeAsyncIterator() -> Iterator { Iterator(publisher) }

        struct Iterator: AsyncIteratorProtocol {
            /// Held, because nobody leads on what nobody holds.
            private let publisher: ObjectPublisher<Object>
            private var steps: PublishedValue<ObjectSnapshot<Object>?, Note>.Iterator

            init(_ publisher: ObjectPublisher<Object>) {
                self.publisher = publisher
                steps = publisher.published.steps().makeAsyncIterator()
            }

            mutating func next() async -> ObjectSnapshot<Object>?? { await steps.next().map(\.value) }
        }
    }

    /// The value of an attribute; nil when the object was deleted.
    public subscript<V: AttributeValue>(dynamicMember keyPath: KeyPath<Object, V>) -> V? {
        snapshot.map { $0[dynamicMember: keyPath] }
    }

    /// The object that a to-one relationship leads to; nil for none.
    public subscript<T: ManagedObject>(dynamicMember keyPath: KeyPath<Object, T?>) -> ObjectID<T>? {
        snapshot.flatMap { $0[dynamicMember: keyPath] }
    }

    /// The objects that a to-many relationship leads to; nil when the object was deleted.
    public subscript<T: ManagedObject>(dynamicMember keyPath: KeyPath<Object, Set<T>>) -> Set<ObjectID<T>>? {
        snapshot.map { $0[dynamicMember: keyPath] }
    }

    /// The objects that an ordered to-many relationship leads to, in its order; nil when the object was deleted.
    public subscript<T: ManagedObject>(dynamicMember keyPath: KeyPath<Object, [T]>) -> [ObjectID<T>]? {
        snapshot.map { $0[dynamicMember: keyPath] }
    }

    /// Calls a closure after each change, in the isolation that asks for it, for as long as the observer is alive.
    ///
    /// - Parameters:
    ///   - observer: Whose interest it is; it is held weakly.
    ///   - notifyInitial: Whether the closure is also called once for the snapshot that is there.
    ///   - isolation: Where the closure is called.
    ///   - callback: What is called, with the publisher.
    public func addObserver<Observer: AnyObject>(
        _ observer: Observer, notifyInitial: Bool = false, isolation: isolated any Actor = #isolation,
        _ callback: @escaping (ObjectPublisher<Object>) -> Void
    ) {
        addObserver(observer, notifyInitial: notifyInitial, isolation: isolation) { publisher, _ in callback(publisher) }
    }

    /// Calls a closure after each change with what the transaction was given that made it, too; nil for changes of others, and where several
    /// are one call.
    public func addObserver<Observer: AnyObject>(
        _ observer: Observer, notifyInitial: Bool = false, isolation: isolated any Actor = #isolation,
        _ callback: @escaping (ObjectPublisher<Object>, _ sourceIdentifier: (any Hashable & Sendable)?) -> Void
    ) {
        callbacks.add(observer, published, notifyInitial: notifyInitial, isolation: isolation) { [weak self] _, notes in
            if let self { callback(self, notes.count == 1 ? notes.first?.source : nil) }
        }
    }

    /// Calls nothing more for an observer.
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

    private func isConcerned(by batch: CommitBatch) -> Bool {
        // That its store was removed is told as something that nobody knows.
        guard let store else { return !batch.unknown.isEmpty && published.value != nil }
        guard batch.stores.contains(store) else { return false }
        let schema = core.model.schema
        return batch.unknown.contains(store)
            || batch.runs(in: store).contains { schema[$0.entity].root == entity && $0.keys.contains(objectID.key.key) }
            || hasMembers(in: batch, store)
    }

    /// Whether members of a relationship to many may have come or gone.
    private func hasMembers(in batch: CommitBatch, _ store: Int) -> Bool {
        guard let snapshot = published.value, let entity = core.model.schema.index(of: snapshot.entityName) else { return false }
        return core.model.schema[entity].relationships.contains { $0.mayHaveOtherMembers(by: batch, store, core.model.schema) }
    }
}

extension DataStack {
    /// Follows the object that an id, a snapshot or a monitor stands for with snapshots; the first is nil when there is none.
    ///
    /// - Throws: `notFound` when the id is of another stack; whatever reading throws.
    public func publishObject<Object: ManagedObject>(
        _ representation: some ObjectRepresentation<Object>
    ) throws(StorageError) -> ObjectPublisher<Object> {
        try reporting { () throws(StorageError) in
            let publisher = try ObjectPublisher(representation.objectID, core)
            try core.publish(publisher)
            try publisher.begin()
            return publisher
        }
    }

    /// Follows an object with snapshots.
    public func publishObject<Object: ManagedObject>(_ object: Object) throws(StorageError) -> ObjectPublisher<Object> {
        try publishObject(ObjectID<Object>(object._context.objectKey(of: object)))
    }

    /// The values of an object now; nil when there is none.
    public func snapshot<Object: ManagedObject>(
        of representation: some ObjectRepresentation<Object>
    ) throws(StorageError) -> ObjectSnapshot<Object>? {
        try reporting { () throws(StorageError) in
            let publisher = try ObjectPublisher(representation.objectID, core)
            try publisher.begin()
            return publisher.snapshot
        }
    }
}
