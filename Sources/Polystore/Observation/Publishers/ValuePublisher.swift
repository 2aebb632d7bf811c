public import Observation
internal import PolystoreStorage
internal import Synchronization

/// Follows what a closure reads: a count, an aggregate, whether something exists, or whatever else it makes of the data.
/// ```swift
/// let adults = try stack.publishValue(of: Person.self) { try $0.fetchCount(From<Person>().where(\.age >= 18)) }
/// for await count in adults.values { … }
/// ```
/// The closure runs again, on a thread of the stack and in one snapshot, after commits that changed objects of the named classes; only a
/// value that is another one is told.
public final class ValuePublisher<Value: Sendable & Equatable>: Sendable, Observable {
    private let core: StackCore
    private let entities: Set<EntityIndex>
    private let body: @Sendable (ReadTransaction) throws -> Value
    private let published: PublishedValue<Value?, Note>
    private let failure = Mutex<(any Error)?>(nil)
    /// Held while the value is read, so that what was read later is not followed by what was read before.
    private let reading = Mutex(())
    private let registrar = ObservationRegistrar()
    private let callbacks = Callbacks()

    /// A step, of which there is nothing to say.
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
        let isOther = try reading.withLock { _ in
            let value = try ReadTransaction.run(core, WorkLimit(), body)
            failure.withLock { $0 = nil }
            if published.value == value { return false }
            published.publish(value, Note())
            return true
        }
        if !isOther { return }
        registrar.withMutation(of: self, keyPath: \.value) {}
    }

    /// The newest value; nil only before the first was read.
    public var value: Value? {
        registrar.access(self, keyPath: \.value)
        return published.value
    }

    /// The error that the closure threw when it ran last; nil when it gave a value.
    public var error: (any Error)? { failure.withLock { $0 } }

    /// The value that there is, then each other one. Who is slow gets the newest; it never misses the last.
    public var values: some AsyncSequence<Value, Never> & Sendable { Values(publisher: self) }

    private struct Values: AsyncSequence, Sendable {
        let publisher: ValuePublisher<Value>

        func makeAsyncIterator() -> Iterator { Iterator(publisher) }

        struct Iterator: AsyncIteratorProtocol {
            /// Held, because nobody leads on what nobody holds.
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

    /// Calls a closure after each change, in the isolation that asks for it, for as long as the observer is alive.
    ///
    /// - Parameters:
    ///   - observer: Whose interest it is; it is held weakly.
    ///   - notifyInitial: Whether the closure is also called once for the value that is there.
    ///   - isolation: Where the closure is called.
    ///   - callback: What is called, with the publisher.
    public func addObserver<Observer: AnyObject>(
        _ observer: Observer, notifyInitial: Bool = false, isolation: isolated any Actor = #isolation,
        _ callback: @escaping (ValuePublisher<Value>) -> Void
    ) {
        callbacks.add(observer, published, notifyInitial: notifyInitial, isolation: isolation) { [weak self] _, _ in
            if let self { callback(self) }
        }
    }

    /// Calls nothing more for an observer.
    public func removeObserver(_ observer: AnyObject) { callbacks.remove(observer) }

    deinit { published.finish() }
}

extension ValuePublisher: CommitFollower {
    func follow(_ look: FollowerLook) throws(StorageError) {
        if !isConcerned(by: look.batch) { return }
        // It is read in a snapshot of its own. Where commits wait for whoever reads, nobody begins to while he holds another.
        look.sessions.letGo()
        do { try read() } catch {
            failure.withLock { $0 = error }
            // What the closure refuses is its own affair; the last good value stays. What may go better is tried again.
            if let error = error as? StorageError, error.isRetryable { throw error }
        }
    }

    private func isConcerned(by batch: CommitBatch) -> Bool {
        if entities.isEmpty || !batch.unknown.isEmpty { return true }
        if batch.entities.values.contains(where: { !entities.isDisjoint(with: $0) }) { return true }
        // A class has the relationships of those above it.
        let schema = core.model.schema, roots = Set(entities.map { schema[$0].root })
        return batch.links.values.joined().contains { link in
            let description = schema.links[link]
            return roots.contains(schema[description.owner].root) || roots.contains(schema[description.member].root)
        }
    }
}

extension DataStack {
    /// Follows what a closure reads.
    ///
    /// - Parameters:
    ///   - models: The classes whose objects the closure reads, related ones included; none for all.
    ///   - body: Reads the value. It runs on a thread of the stack.
    /// - Throws: What the closure throws the first time.
    public func publishValue<Value: Sendable & Equatable>(
        of models: ManagedObject.Type..., body: @escaping @Sendable (ReadTransaction) throws -> Value
    ) throws -> ValuePublisher<Value> {
        try reportingOurs {
            var entities: Set<EntityIndex> = []
            for model in models { entities.formUnion(core.model.schema[try core.model.entity(of: model)].family) }
            let publisher = ValuePublisher(entities, core, body)
            try core.publish(publisher)
            try publisher.read()
            return publisher
        }
    }
}
