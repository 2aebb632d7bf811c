public import PolystoreStorage

/// The objects of a request one after the other, read in batches: those that the program does not keep go away, so memory stays small
/// however many there are.
///
/// | from | the objects are of | |
/// |---|---|---|
/// | a stack | a snapshot of their own, which the cursor holds until its end | at most four cursors and streams at a time, `busy` beyond |
/// | `read`, `perform` | the transaction's; nothing that the request could find may be changed meanwhile | |
/// | a view context, a detached transaction | the order as it was at the beginning, each with its present values; the deleted are left out | |
///
/// A sort that the store leaves to the layer above, and a detached transaction with pending changes, need all objects at once.
public final class ObjectCursor<Object: ManagedObject> {
    private let batches: ObjectBatches<Object>
    /// The objects that are there, the next one last.
    private var ready: [Object] = []

    init(_ from: From<Object>, _ context: ObjectContext, isAlone: Bool = false) throws(StorageError) {
        batches = try ObjectBatches(from, context, isAlone: isAlone)
    }

    /// The next object; nil after the last.
    ///
    /// - Throws: What reading throws; there are no more objects then.
    public func next() throws(StorageError) -> Object? {
        if ready.isEmpty { try reporting(fill) }
        if ready.isEmpty { batches.end() }
        return ready.popLast()
    }

    private func fill() throws(StorageError) {
        do throws(StorageError) {
            while ready.isEmpty, !batches.isAtEnd {
                try batches.read()
                ready = try batches.takeObjects().reversed()
            }
        } catch {
            close()
            throw error
        }
    }

    /// Ends the cursor before its last object; what it holds is given back. When the cursor goes away, that happens by itself.
    public func close() {
        ready = []
        batches.end()
    }
}

extension DataStack {
    /// The objects of a request one after the other: read-only, in a context of their own, from the newest committed state.
    ///
    /// ```swift
    /// let people = try stack.fetchCursor(From<Person>().batchSize(100))
    /// while let person = try people.next() { print(person.name) }
    /// ```
    /// - Throws: `busy` while four cursors and streams of the stack are open; as `fetchAll`.
    public func fetchCursor<Object: ManagedObject>(_ from: From<Object>) throws(StorageError) -> sending ObjectCursor<Object> {
        try reporting { () throws(StorageError) in
            try ObjectCursor(from, ObjectContext(stack: core, model: core.model), isAlone: true)
        }
    }
}

extension FetchSource {
    /// The objects of a request one after the other.
    public func fetchCursor<Object: ManagedObject>(_ from: From<Object>) throws(StorageError) -> ObjectCursor<Object> {
        try reporting { () throws(StorageError) in try ObjectCursor(from, try _fetchContext) }
    }

    /// Calls a closure with each object of a request, in its order, as a cursor gives them. What the closure throws ends it.
    public func forEach<Object: ManagedObject>(_ from: From<Object>, _ body: (Object) throws -> Void) throws {
        let cursor = try fetchCursor(from)
        defer { cursor.close() }
        while let object = try cursor.next() { try body(object) }
    }
}
