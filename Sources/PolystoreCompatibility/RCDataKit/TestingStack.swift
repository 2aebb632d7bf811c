#if SQLite
internal import Foundation
public import Polystore
internal import PolystoreDefaults

/// A stack of RCDataKit over a SQLite file in its own temporary folder, for tests. The folder is removed when the program exits.
public struct TestingStack: DataStackProtocol {
    /// The underlying stack.
    public let dataStack: DataStack
    /// The author of the main context's updates.
    public let mainContextAuthor: TransactionAuthor

    /// Creates an empty stack.
    public init(_ models: ManagedObject.Type..., mainAuthor: TransactionAuthor = "tests") throws(StorageError) {
        dataStack = try DataStack(models: models)
        mainContextAuthor = mainAuthor
        try dataStack.addStorageAndWait(SQLiteStore(fileURL: TemporaryFolders.make().appendingPathComponent("test.db")))
    }
}
#endif
