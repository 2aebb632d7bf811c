internal import Foundation
public import Polystore
internal import PolystoreDefaults

/// RCDataKit's stack in memory, for previews and trials.
public struct PreviewStack: DataStackProtocol {
    /// The stack.
    public let dataStack: DataStack
    /// Who writes through the main context's updates.
    public let mainContextAuthor: TransactionAuthor

    /// An empty stack.
    public init(_ models: ManagedObject.Type..., mainAuthor: TransactionAuthor = "preview") throws(StorageError) {
        dataStack = try DataStack(models: models)
        mainContextAuthor = mainAuthor
        try dataStack.addStorageAndWait(InMemoryStore())
    }
}

#if SQLite
/// RCDataKit's stack over one SQLite file.
public struct BasicDataStack: DataStackProtocol {
    /// The stack.
    public let dataStack: DataStack
    /// Who writes through the main context's updates.
    public let mainContextAuthor: TransactionAuthor
    /// What follows the transactions of others, once it is told to start; nil where the stack was made without options for it.
    public let historyTracker: PersistentHistoryTracker?

    /// A stack over a file; at the default place of the program unless a path is given.
    public init(
        _ models: ManagedObject.Type..., path: String? = nil, mainAuthor: TransactionAuthor,
        persistentHistoryOptions: PersistentHistoryTrackingOptions? = nil
    ) throws(StorageError) {
        self.init(try DataStack(models: models), mainAuthor, persistentHistoryOptions)
        try dataStack.addStorageAndWait(Self.store(path))
    }

    /// A stack over a file, which is led through the stages of a model's versions where it keeps an older one.
    public init<Versions: ModelVersion>(
        versionKey: Versions.Type, path: String? = nil, mainAuthor: TransactionAuthor,
        persistentHistoryOptions: PersistentHistoryTrackingOptions? = nil
    ) throws(StorageError) {
        self.init(try DataStack(schemaHistory: Versions.history), mainAuthor, persistentHistoryOptions)
        let store = try Self.store(path)
        try dataStack.upgradeStorageIfNeeded(store)
        try dataStack.addStorageAndWait(store)
    }

    private init(_ stack: DataStack, _ author: TransactionAuthor, _ options: PersistentHistoryTrackingOptions?) {
        dataStack = stack
        mainContextAuthor = author
        historyTracker = options.map { PersistentHistoryTracker(stack, currentAuthor: author, options: $0) }
    }

    private static func store(_ path: String?) throws(StorageError) -> SQLiteStore {
        if let path { return SQLiteStore(path: path) }
        return try SQLiteStore()
    }
}

/// RCDataKit's stack in a temporary folder of its own, for tests.
public struct TestingStack: DataStackProtocol {
    /// The stack.
    public let dataStack: DataStack
    /// Who writes through the main context's updates.
    public let mainContextAuthor: TransactionAuthor

    /// An empty stack.
    public init(_ models: ManagedObject.Type..., mainAuthor: TransactionAuthor = "tests") throws(StorageError) {
        dataStack = try DataStack(models: models)
        mainContextAuthor = mainAuthor
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("polystore-\(UUID().uuidString).sqlite")
        try dataStack.addStorageAndWait(SQLiteStore(fileURL: file))
    }
}
#endif
