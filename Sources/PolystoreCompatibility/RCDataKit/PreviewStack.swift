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
        try self.init(DataStack(models: models), mainAuthor)
    }

    /// Creates an empty stack of a model.
    ///
    /// - Parameters:
    ///   - model: The model.
    ///   - name: Has no effect: a store in memory has no name.
    ///   - models: The classes of the entities. Others use `DynamicObject`.
    ///   - mainAuthor: The author of the main context's updates.
    public init<Model: ModelManager>(
        _ model: Model.Type, name: String, models: [ManagedObject.Type] = [], mainAuthor: TransactionAuthor = "preview"
    ) throws(StorageError) {
        try self.init(DataStack(schema: model.model, models: models), mainAuthor)
    }

    /// Creates an empty stack of the current version of a model file.
    public init<ModelFile: ModelFileManager>(
        _ model: ModelFile.Type, models: [ManagedObject.Type] = [], mainAuthor: TransactionAuthor = "preview"
    ) throws(StorageError) {
        try self.init(DataStack(schema: model.model, models: models), mainAuthor)
    }

    /// Creates an empty stack of the current version of a model.
    public init<Versions: ModelVersion>(
        versionKey: Versions.Type, mainAuthor: TransactionAuthor = "preview"
    ) throws(StorageError) {
        try self.init(DataStack(schemaHistory: Versions.history), mainAuthor)
    }

    private init(_ stack: DataStack, _ author: TransactionAuthor) throws(StorageError) {
        dataStack = stack
        mainContextAuthor = author
        try stack.addStorageAndWait(InMemoryStore())
    }
}
