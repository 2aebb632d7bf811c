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
    /// The author of the main context's updates.
    var mainContextAuthor: TransactionAuthor { get }
}

extension DataStackProtocol {
    /// The main actor's context for reading objects.
    @MainActor public var viewContext: ViewContext { dataStack.viewContext }

    /// Returns a context that writes under an author, for the isolation of the caller.
    public func backgroundContext(author: TransactionAuthor) -> sending UnsafeTransaction {
        dataStack.beginUnsafe(author: author)
    }
}

extension DataStack {
    /// Returns a context that writes under an author, for the isolation of the caller.
    public func backgroundContext(author: TransactionAuthor) -> sending UnsafeTransaction { beginUnsafe(author: author) }
}
