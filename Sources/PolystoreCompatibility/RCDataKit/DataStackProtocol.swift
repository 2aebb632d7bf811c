public import Polystore

/// RCDataKit's typed identity of an object.
public typealias TypedObjectID = ObjectID

extension ObjectID {
    /// The identity of an object.
    public init(_ object: Object) { self = object.objectID }
}

/// RCDataKit's protocol for stacks: whatever has a context to look at objects, and contexts to write under an author.
public protocol DataStackProtocol: Sendable {
    /// The stack.
    var dataStack: DataStack { get }
    /// Who writes through the main context's updates.
    var mainContextAuthor: TransactionAuthor { get }
}

extension DataStackProtocol {
    /// The context of the main actor to look at objects.
    @MainActor public var viewContext: ViewContext { dataStack.viewContext }

    /// A context that writes under an author, for the isolation that asks for it.
    public func backgroundContext(author: TransactionAuthor) -> sending UnsafeTransaction {
        dataStack.beginUnsafe(author: author)
    }
}

extension DataStack {
    /// A context that writes under an author, for the isolation that asks for it.
    public func backgroundContext(author: TransactionAuthor) -> sending UnsafeTransaction { beginUnsafe(author: author) }
}
