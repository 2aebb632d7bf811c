public import PolystoreStorage

/// An asynchronous sequence of the objects of a request. Batches are read on a thread of the stack, so that no thread of the program waits
/// for a store.
///
/// It returns the same objects as an `ObjectCursor`. The cancellation of its task ends it with `cancelled`. Its resources are released
/// after the cancellation, after the last object, after an error, and when its iterator is released. Each iterator starts again from the
/// beginning.
public struct ObjectStream<Object: ManagedObject>: AsyncSequence {
    /// The objects, in the isolation of the iteration.
    public typealias Element = Object
    /// The errors of stores.
    public typealias Failure = StorageError

    private let begin: () throws(StorageError) -> ObjectBatches<Object>

    init(_ begin: @escaping () throws(StorageError) -> ObjectBatches<Object>) { self.begin = begin }

    /// Returns an iterator. It reads nothing until its first object is requested.
    public func makeAsyncIterator() -> Iterator { Iterator(begin) }

    /// An iterator over the objects.
    public struct Iterator: AsyncIteratorProtocol {
        private enum State {
            case new(() throws(StorageError) -> ObjectBatches<Object>)
            case begun(ObjectBatches<Object>)
            case ended
        }

        private var state: State
        /// The available objects, in reverse order.
        private var ready: [Object] = []

        init(_ begin: @escaping () throws(StorageError) -> ObjectBatches<Object>) { state = .new(begin) }

        /// Returns the next object; nil after the last one.
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

    /// A container that passes batches to a thread of the stack and back.
    ///
    /// Unchecked, because the iterating task waits until the thread is done, and the thread accesses neither the context nor its objects.
    private struct Handed: @unchecked Sendable {
        let value: ObjectBatches<Object>
    }
}

extension DataStack {
    /// Returns the objects of a request as an asynchronous sequence: read-only, in a context of their own, from one committed snapshot.
    ///
    /// ```swift
    /// for try await person in stack.fetchStream(From<Person>().orderBy(.ascending(\.name))) { print(person.name) }
    /// ```
    /// A relationship that is loaded later comes from the newest committed state; prefetched relationships come from the snapshot. The
    /// iterator throws the same errors as `fetchCursor`.
    public func fetchStream<Object: ManagedObject>(_ from: From<Object>) -> sending ObjectStream<Object> {
        let core = core
        return ObjectStream { () throws(StorageError) in
            try ObjectBatches(from, ObjectContext(stack: core, model: core.model), isAlone: true)
        }
    }
}

extension FetchSource {
    /// Returns the objects of a request as an asynchronous sequence, for sources that outlive a closure: view contexts and detached
    /// transactions.
    public func fetchStream<Object: ManagedObject>(_ from: From<Object>) -> ObjectStream<Object> {
        ObjectStream { () throws(StorageError) in try ObjectBatches(from, try self._fetchContext, isAlone: false) }
    }
}
