public import PolystoreStorage

/// A cursor over the objects of a request, which are read in batches. Objects that the program does not retain are released, so that memory
/// use stays small regardless of the number of objects.
///
/// | source | the objects are from | limits |
/// |---|---|---|
/// | a stack | a snapshot of their own, which the cursor holds until its end | at most four cursors and streams at a time, `busy` beyond |
/// | `read`, `perform` | the transaction's snapshot | objects that the request could match must not be changed meanwhile |
/// | a view context, a detached transaction | the order at the beginning, each object with its present values | deleted objects are skipped
/// |
///
/// A sort that the store cannot evaluate, and a detached transaction with pending changes, require all objects at once.
public final class ObjectCursor<Object: ManagedObject> {
    private let batches: ObjectBatches<Object>
    /// The available objects, in reverse order.
    private var ready: [Object] = []

    init(_ from: From<Object>, _ context: ObjectContext, isAlone: Bool = false) throws(StorageError) {
        batches = try ObjectBatches(from, context, isAlone: isAlone)
    }

    /// Returns the next object; nil after the last one.
    ///
    /// - Throws: Any error of reading. After an error there are no more objects.
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

    /// Ends the cursor before its last object and releases its resources. A released cursor is closed automatically.
    public func close() {
        ready = []
        batches.end()
    }
}

extension DataStack {
    /// Returns a cursor over the objects of a request: read-only, in a context of their own, from the newest committed state.
    ///
    /// ```swift
    /// let people = try stack.fetchCursor(From<Person>().batchSize(100))
    /// while let person = try people.next() { print(person.name) }
    /// ```
    /// - Throws: `busy` while four cursors and streams of the stack are open; any error of `fetchAll`.
    public func fetchCursor<Object: ManagedObject>(_ from: From<Object>) throws(StorageError) -> sending ObjectCursor<Object> {
        try reporting { () throws(StorageError) in
            try ObjectCursor(from, ObjectContext(stack: core, model: core.model), isAlone: true)
        }
    }
}

extension FetchSource {
    /// Returns a cursor over the objects of a request.
    public func fetchCursor<Object: ManagedObject>(_ from: From<Object>) throws(StorageError) -> ObjectCursor<Object> {
        try reporting { () throws(StorageError) in try ObjectCursor(from, try _fetchContext) }
    }

    /// Calls a closure with each object of a request, in its order, using a cursor. An error of the closure ends the iteration.
    public func forEach<Object: ManagedObject>(_ from: From<Object>, _ body: (Object) throws -> Void) throws {
        let cursor = try fetchCursor(from)
        defer { cursor.close() }
        while let object = try cursor.next() { try body(object) }
    }
}
