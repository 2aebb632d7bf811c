#if SQLite
public import Foundation
public import Polystore
internal import PolystoreDefaults

/// A stack of RCDataKit over a single SQLite file.
public struct BasicDataStack: DataStackProtocol {
    /// The underlying stack.
    public let dataStack: DataStack
    /// The author of the main context's updates.
    public let mainContextAuthor: TransactionAuthor
    /// The tracker of other authors' transactions, which must be started explicitly. Nil if the stack was created without history options.
    public let historyTracker: PersistentHistoryTracker?

    /// Creates a stack over a file, by default at the program's default location.
    public init(
        _ models: ManagedObject.Type..., path: String? = nil, mainAuthor: TransactionAuthor,
        persistentHistoryOptions: PersistentHistoryTrackingOptions? = nil
    ) throws(StorageError) {
        self.init(try DataStack(models: models), mainAuthor, persistentHistoryOptions)
        try dataStack.addStorageAndWait(Self.store(path))
    }

    /// Creates a stack over a file. If the file has an older version of the model, it is migrated through the stages of the versions.
    public init<Versions: ModelVersion>(
        versionKey: Versions.Type, path: String? = nil, mainAuthor: TransactionAuthor,
        persistentHistoryOptions: PersistentHistoryTrackingOptions? = nil
    ) throws(StorageError) {
        self.init(try DataStack(schemaHistory: Versions.history), mainAuthor, persistentHistoryOptions)
        let store = try Self.store(path)
        try dataStack.upgradeStorageIfNeeded(store)
        try dataStack.addStorageAndWait(store)
    }

    /// Creates a stack over a file with the current version of a model file. A file with another version is migrated if the steps can be
    /// inferred.
    ///
    /// - Parameters:
    ///   - modelFile: The model file.
    ///   - models: The classes of the entities. Others use `DynamicObject`.
    ///   - storeURL: The file, by default at the program's default location.
    ///   - mainAuthor: The author of the main context's updates.
    ///   - persistentHistoryOptions: The options of the history tracker; nil for no tracker.
    public init<ModelFile: ModelFileManager>(
        _ modelFile: ModelFile.Type, models: [ManagedObject.Type] = [], storeURL: URL? = nil, mainAuthor: TransactionAuthor,
        persistentHistoryOptions: PersistentHistoryTrackingOptions? = nil
    ) throws(StorageError) {
        self.init(try DataStack(schema: modelFile.model, models: models), mainAuthor, persistentHistoryOptions)
        let store = try Self.store(storeURL?.path)
        try dataStack.upgradeStorageIfNeeded(store)
        try dataStack.addStorageAndWait(store)
    }

    /// Creates a stack over a file, which is migrated through the stages of the versions to the current one. With an older version the file
    /// must have that version.
    public init<Versions: ModelVersion>(
        storeURL: URL? = nil, versionKey: Versions.Type, currentVersion: Versions? = nil, mainAuthor: TransactionAuthor,
        persistentHistoryOptions: PersistentHistoryTrackingOptions? = nil
    ) throws(StorageError) {
        guard let currentVersion, currentVersion != Array(Versions.allCases).last else {
            try self.init(
                versionKey: versionKey, path: storeURL?.path, mainAuthor: mainAuthor, persistentHistoryOptions: persistentHistoryOptions)
            return
        }
        let stack = try DataStack(schema: currentVersion.schema, models: currentVersion.models)
        self.init(stack, mainAuthor, persistentHistoryOptions)
        try dataStack.addStorageAndWait(Self.store(storeURL?.path))
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
#endif
