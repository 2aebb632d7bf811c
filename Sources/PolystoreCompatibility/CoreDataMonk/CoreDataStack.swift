public import Polystore
internal import PolystoreDefaults

#if SQLite
public import Foundation
#else
internal import Foundation
#endif

/// A stack of CoreDataMonk: a model, its stores, and the setting whether contexts may merge automatically.
public final class CoreDataStack: Sendable {
    /// The underlying stack.
    public let dataStack: DataStack
    /// Whether contexts may merge automatically.
    public let rootContext: RootContextType
    /// The lock that serialises `perform`, for contexts that request it.
    let serialOrder = NSRecursiveLock()
    private let serialUpdates = DispatchQueue(label: "polystore.updates.serial")
    private let updates = DispatchQueue(label: "polystore.updates", attributes: .concurrent)

    /// Creates a stack without stores over a model.
    public init(_ dataStack: DataStack, rootContext: RootContextType = .shared) {
        self.dataStack = dataStack
        self.rootContext = rootContext
    }

    /// Returns the queue of background updates.
    func updates(_ order: UpdateOrder) -> DispatchQueue { order == .serial ? serialUpdates : updates }

    #if SQLite
    /// Adds a SQLite file at the program's default location.
    ///
    /// - Parameters:
    ///   - configuration: The configuration whose entities the store keeps, or nil for all.
    ///   - resetOnFailure: Whether a file that does not fit the model is deleted and created again.
    public func addDatabaseStore(configuration: String? = nil, resetOnFailure: Bool = false) throws(StorageError) {
        var url = try SQLiteStore().fileURL
        if let configuration {
            let name = url.deletingPathExtension().lastPathComponent + "-\(configuration).sqlite"
            url = url.deletingLastPathComponent().appendingPathComponent(name)
        }
        try addDatabaseStore(fileURL: url, configuration: configuration, resetOnFailure: resetOnFailure)
    }

    /// Adds a SQLite file.
    public func addDatabaseStore(fileURL: URL, configuration: String? = nil, resetOnFailure: Bool = false) throws(StorageError) {
        try dataStack.addStorageAndWait(
            SQLiteStore(
                fileURL: fileURL, configuration: configuration,
                localStorageOptions: resetOnFailure ? [.recreateStoreOnModelMismatch] : []))
    }
    #endif

    /// Adds an in-memory store.
    public func addInMemoryStore(configuration: String? = nil) throws(StorageError) {
        try dataStack.addStorageAndWait(InMemoryStore(configuration: configuration))
    }
}
