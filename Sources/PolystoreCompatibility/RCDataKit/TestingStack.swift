#if SQLite
public import Foundation
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
        try self.init(DataStack(models: models), mainAuthor)
    }

    /// Creates an empty stack of a model.
    ///
    /// - Parameters:
    ///   - model: The model.
    ///   - bundle: Has no effect: each stack has a folder of its own.
    ///   - testName: Has no effect, for the same reason.
    ///   - models: The classes of the entities. Others use `DynamicObject`.
    ///   - mainAuthor: The author of the main context's updates.
    public init<Model: ModelManager>(
        _ model: Model.Type, bundle: Bundle, testName: String, models: [ManagedObject.Type] = [], mainAuthor: TransactionAuthor = "tests"
    ) throws(StorageError) {
        try self.init(DataStack(schema: model.model, models: models), mainAuthor)
    }

    /// Creates an empty stack of the current version of a model file.
    public init<ModelFile: ModelFileManager>(
        _ model: ModelFile.Type, bundle: Bundle? = nil, testName: String = "", models: [ManagedObject.Type] = [],
        mainAuthor: TransactionAuthor = "tests"
    ) throws(StorageError) {
        try self.init(DataStack(schema: model.model, models: models), mainAuthor)
    }

    private init(_ stack: DataStack, _ author: TransactionAuthor) throws(StorageError) {
        dataStack = stack
        mainContextAuthor = author
        try stack.addStorageAndWait(SQLiteStore(fileURL: TemporaryFolders.make().appendingPathComponent("test.db")))
    }
}
#endif
