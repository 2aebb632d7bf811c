#if SQLite
internal import Foundation
public import Polystore
internal import PolystoreDefaults

/// A stack of RCDataKit over a file of its own in the temporary folder, for tests.
public struct TestingStack: DataStackProtocol {
    /// The underlying stack.
    public let dataStack: DataStack
    /// The author of the main context's updates.
    public let mainContextAuthor: TransactionAuthor

    /// Creates an empty stack.
    public init(_ models: ManagedObject.Type..., mainAuthor: TransactionAuthor = "tests") throws(StorageError) {
        dataStack = try DataStack(models: models)
        mainContextAuthor = mainAuthor
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("polystore-\(UUID().uuidString).sqlite")
        try dataStack.addStorageAndWait(SQLiteStore(fileURL: file))
    }
}
#endif
