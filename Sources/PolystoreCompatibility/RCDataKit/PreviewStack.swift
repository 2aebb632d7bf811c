internal import Foundation
public import Polystore
internal import PolystoreDefaults

/// An in-memory stack of RCDataKit, for previews and experiments.
public struct PreviewStack: DataStackProtocol {
    /// The underlying stack.
    public let dataStack: DataStack
    /// The author of the main context's updates.
    public let mainContextAuthor: TransactionAuthor

    /// Creates an empty stack.
    public init(_ models: ManagedObject.Type..., mainAuthor: TransactionAuthor = "preview") throws(StorageError) {
        dataStack = try DataStack(models: models)
        mainContextAuthor = mainAuthor
        try dataStack.addStorageAndWait(InMemoryStore())
    }
}
