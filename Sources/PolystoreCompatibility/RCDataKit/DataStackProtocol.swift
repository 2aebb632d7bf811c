public import Polystore

/// The typed identity of an object in RCDataKit.
public typealias TypedObjectID = ObjectID

extension ObjectID {
    /// Creates the identity of an object.
    public init(_ object: Object) { self = object.objectID }
}

/// The protocol for stacks in RCDataKit: types with a context for reading objects, and with contexts for writing under an author.
public protocol DataStackProtocol: Sendable {
    /// The underlying stack.
    var dataStack: DataStack { get }
    /// The author of the program's own updates: of everything that `perform` commits.
    var mainContextAuthor: TransactionAuthor { get }
}

extension DataStackProtocol {
    /// The main actor's context for reading objects.
    @MainActor public var viewContext: ViewContext { dataStack.viewContext }

    /// Returns a context that writes under an author, for the isolation of the caller.
    public func backgroundContext(author: TransactionAuthor) -> sending UnsafeTransaction {
        dataStack.beginUnsafe(author: author)
    }

    /// Runs a closure in a write transaction under the author of the main context, and commits when the closure returns.
    ///
    /// - Throws: The errors of `DataStack.perform(author:sourceIdentifier:timeout:_:)`.
    @discardableResult
    public func perform<R: Sendable>(_ body: @escaping @Sendable (WriteTransaction) throws -> R) async throws -> R {
        try await dataStack.perform(author: mainContextAuthor, body)
    }

    /// Runs a closure in a write transaction under the author of the main context on the calling thread, and commits when the closure
    /// returns.
    ///
    /// - Throws: The errors of `DataStack.perform(author:sourceIdentifier:timeout:synchronous:)`.
    @discardableResult
    public func perform<R>(synchronous body: (WriteTransaction) throws -> R) throws -> R {
        try dataStack.perform(author: mainContextAuthor, synchronous: body)
    }
}

extension DataStack {
    /// Returns a context that writes under an author, for the isolation of the caller.
    public func backgroundContext(author: TransactionAuthor) -> sending UnsafeTransaction { beginUnsafe(author: author) }
}
