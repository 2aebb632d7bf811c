public import Observation
public import PolystoreObjects
internal import Synchronization

/// A publisher of the result of a closure that reads the data: a count, an aggregate, an existence check, or any other value.
/// ```swift
/// let adults = try stack.publishValue(of: Person.self) { try $0.fetchCount(From<Person>().where(\.age >= 18)) }
/// for await count in adults.values { … }
/// ```
/// The closure runs again, on a thread of the stack and in one snapshot, after commits that changed objects of the given classes, or of
/// others that its last run has read. Only a value that differs is published.
public final class ValuePublisher<Value: Sendable & Equatable>: Sendable, Observable {
    private let core: StackCore
    private let entities: Set<EntityIndex>
    private let body: @Sendable (ReadTransaction) throws -> Value
    private let published: PublishedValue<Value?, Note>
    private let failure = Mutex<(any Error)?>(nil)
    /// The root entities that the last run has read. The lock is held while the value is read, so that an older read never replaces a newer
    /// one.
    private let reading = Mutex<Set<EntityIndex>>([])
    private let registrar = ObservationRegistrar()
    private let callbacks = Callbacks()

    /// An empty note of a step.
    private struct Note: PublishedNote {
        func joined(with next: Note) -> Note? { self }
    }

    init(_ entities: Set<EntityIndex>, _ core: StackCore, _ body: @escaping @Sendable (ReadTransaction) throws -> Value) {
        self.entities = entities
        self.core = core
        self.body = body
        published = PublishedValue(nil)
    }

    func read() throws {
        let isOther = try reading.withLock { roots in
            let recorder = entities.isEmpty ? nil : ReadRecorder(core.model.schema)
            // An unsuccessful run may have read only a part, and what the last one has read may be the reason.
            defer { if let recorder { roots.formUnion(recorder.roots) } }
            let value = try ReadTransaction.run(core, WorkLimit(), recorder: recorder, body)
            roots.removeAll()
            failure.withLock { $0 = nil }
            if published.value == value { return false }
            published.publish(value, Note())
            return true
        }
        if !isOther { return }
        registrar.withMutation(of: self, keyPath: \.value) {}
    }

    /// The newest value; nil only before the first read.
    public var value: Value? {
        registrar.access(self, keyPath: \.value)
        return published.value
    }

    /// The error that the last run of the closure threw; nil if it returned a value.
    public var error: (any Error)? { failure.withLock { $0 } }

    /// The current value, then each different one. A slow consumer receives the newest one and never misses the last.
    public var values: some AsyncSequence<Value, Never> & Sendable { Values(publisher: self) }

    private struct Values: AsyncSequence, Sendable {
        let publisher: ValuePublisher<Value>

        func makeAsyncIterator() -> Iterator { Iterator(publisher) }

        struct Iterator: AsyncIteratorProtocol {
            /// Retained, because only publishers that are alive are updated.
            private let publisher: ValuePublisher<Value>
            private var steps: PublishedValue<Value?, Note>.Iterator

            init(_ publisher: ValuePublisher<Value>) {
                self.publisher = publisher
                steps = publisher.published.steps().makeAsyncIterator()
            }

            mutating func next() async -> Value? {
                while let (value, _) = await steps.next() { if let value { return value } }
                return nil
            }
        }
    }

    /// Calls a closure after each change, in the isolation of the caller, while the observer is alive.
    ///
    /// - Parameters:
    ///   - observer: The observer, which is referenced weakly.
    ///   - notifyInitial: Whether the closure is also called once for the current value.
    ///   - isolation: The isolation in which the closure is called.
    ///   - callback: A closure called with the publisher.
    public func addObserver<Observer: AnyObject>(
        _ observer: Observer, notifyInitial: Bool = false, isolation: isolated any Actor = #isolation,
        _ callback: @escaping (ValuePublisher<Value>) -> Void
    ) {
        callbacks.add(observer, published, notifyInitial: notifyInitial, isolation: isolation) { [weak self] _, _ in
            if let self { callback(self) }
        }
    }

    /// Removes an observer.
    public func removeObserver(_ observer: AnyObject) { callbacks.remove(observer) }

    deinit { published.finish() }
}

extension ValuePublisher: CommitFollower {
    func follow(_ look: FollowerLook) throws(StorageError) {
        if !isConcerned(by: look.batch) { return }
        // It is read in its own snapshot. Where commits wait for readers, no reader may begin while it holds another snapshot.
        look.sessions.letGo()
        do { try read() } catch {
            failure.withLock { $0 = error }
            // An error of the closure does not affect others; the last valid value stays. Retryable errors are retried.
            if let error = error as? StorageError, error.isRetryable { throw error }
        }
    }

    func finish() { published.finish() }

    private func isConcerned(by batch: CommitBatch) -> Bool {
        if entities.isEmpty || !batch.unknown.isEmpty { return true }
        if batch.entities.values.contains(where: { !entities.isDisjoint(with: $0) }) { return true }
        let schema = core.model.schema, named = Set(entities.map { schema[$0].root })
        // A class that is named is watched without its superclass, and one that is only read with all of its hierarchy.
        let read = reading.withLock { $0 }.subtracting(named)
        if batch.entities.values.joined().contains(where: { read.contains(schema[$0].root) }) { return true }
        // A class has the relationships of its superclasses.
        let roots = named.union(read)
        return batch.links.values.joined().contains { link in
            let description = schema.links[link]
            return roots.contains(schema[description.owner].root) || roots.contains(schema[description.member].root)
        }
    }
}

extension DataStack {
    /// Returns a publisher of the result of a closure.
    ///
    /// - Parameters:
    ///   - models: The classes whose objects the closure reads; none for all. Those of other objects that a run of the closure has read are
    ///     added, except for what a statement in SQL reads.
    ///   - body: A closure that reads the value. It runs on a thread of the stack.
    /// - Throws: The error of the first run of the closure.
    public func publishValue<Value: Sendable & Equatable>(
        of models: ManagedObject.Type..., body: @escaping @Sendable (ReadTransaction) throws -> Value
    ) throws -> ValuePublisher<Value> {
        try reportingOurs {
            try core.beginWork()
            defer { core.endWork() }
            var entities: Set<EntityIndex> = []
            for model in models { entities.formUnion(core.model.schema[try core.model.entity(of: model)].family) }
            let publisher = ValuePublisher(entities, core, body)
            try core.publish(publisher)
            try publisher.read()
            return publisher
        }
    }
}
