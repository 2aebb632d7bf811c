public import PolystoreStorage

/// The objects of a request one after the other, for `for try await`: read in batches on a thread of the stack, so that no thread of the
/// program waits for a store.
///
/// It gives what an `ObjectCursor` gives. When its task is cancelled it ends with `cancelled`; then, at its last object, after an error, and
/// when its iterator goes away, what it holds is given back. Each iterator begins anew.
public struct ObjectStream<Object: ManagedObject>: AsyncSequence {
    /// Objects, in the isolation that iterates.
    public typealias Element = Object
    /// Errors of stores.
    public typealias Failure = StorageError

    private let begin: () throws(StorageError) -> ObjectBatches<Object>

    init(_ begin: @escaping () throws(StorageError) -> ObjectBatches<Object>) { self.begin = begin }

    /// An iterator; it asks nothing before its first object is asked for.
    public func makeAsyncIterator() -> Iterator { Iterator(begin) }

    /// Goes through the objects.
    public struct Iterator: AsyncIteratorProtocol {
        private enum State {
            case new(() throws(StorageError) -> ObjectBatches<Object>)
            case begun(ObjectBatches<Object>)
            case ended
        }

        private var state: State
        /// The objects that are there, the next one last.
        private var ready: [Object] = []

        init(_ begin: @escaping () throws(StorageError) -> ObjectBatches<Object>) { state = .new(begin) }

        /// The next object; nil after the last.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(StorageError) -> Object? {
            do throws(StorageError) {
                return try await step(actor)
            } catch {
                end()
                throw StoreLogging.report(error, fileName: #fileID, lineNumber: #line, functionName: #function)
            }
        }

        private mutating func end() {
            if case .begun(let batches) = state { batches.end() }
            state = .ended
            ready = []
        }

        private mutating func step(_ actor: isolated (any Actor)?) async throws(StorageError) -> Object? {
            let batches: ObjectBatches<Object>
            switch state {
            case .ended: return nil
            case .new(let begin):
                try Self.checkCancellation()
                batches = try begin()
                state = .begun(batches)
            case .begun(let known):
                try Self.checkCancellation()
                batches = known
            }
            while ready.isEmpty, !batches.isAtEnd {
                try await Self.read(batches, actor)
                ready = try batches.takeObjects().reversed()
            }
            if ready.isEmpty { end() }
            return ready.popLast()
        }

        private static func checkCancellation() throws(StorageError) {
            if Task.isCancelled { throw StorageError(.cancelled, "the task was cancelled") }
        }

        private static func read(_ batches: ObjectBatches<Object>, _ actor: isolated (any Actor)?) async throws(StorageError) {
            if batches.readsInPlace { return try batches.read() }
            let handed = Handed(value: batches)
            try await batches.workers.streams.result(batches.limit, of: { () throws(StorageError) in try handed.value.read() }).get()
        }
    }

    /// Batches on their way to a thread of the stack and back.
    ///
    /// Unchecked: whoever iterates waits until the thread is done, and the thread touches neither the context nor its objects.
    private struct Handed: @unchecked Sendable {
        let value: ObjectBatches<Object>
    }
}

extension DataStack {
    /// The objects of a request one after the other: read-only, in a context of their own, from one committed snapshot.
    ///
    /// ```swift
    /// for try await person in stack.fetchStream(From<Person>().orderBy(.ascending(\.name))) { print(person.name) }
    /// ```
    /// A relationship that is loaded late comes from the newest committed state; what `prefetch` loads is of the snapshot. The iterator throws
    /// what `fetchCursor` does.
    public func fetchStream<Object: ManagedObject>(_ from: From<Object>) -> sending ObjectStream<Object> {
        let core = core
        return ObjectStream { () throws(StorageError) in
            try ObjectBatches(from, ObjectContext(stack: core, model: core.model), isAlone: true)
        }
    }
}

extension FetchSource {
    /// The objects of a request one after the other, for sources that outlive a closure: view contexts and detached transactions.
    public func fetchStream<Object: ManagedObject>(_ from: From<Object>) -> ObjectStream<Object> {
        ObjectStream { () throws(StorageError) in try ObjectBatches(from, try self._fetchContext, isAlone: false) }
    }
}
