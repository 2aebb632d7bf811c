public import Polystore
internal import PolystoreDefaults

#if SQLite
public import Foundation
#else
internal import Foundation
#endif

/// Whether a stack of CoreDataMonk has a root context between its main contexts and the store, through which commit notifications pass.
///
/// Polystore needs no such context. The value only declares whether a main context may merge automatically.
public enum RootContextType: Sendable {
    /// Contexts are merged manually.
    case none
    /// Contexts can merge every commit automatically.
    case shared
}

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

/// The target of CoreDataMonk's updates, which determines when a main context sees them.
///
/// | target | objects of the main context show a commit | who waits |
/// |---|---|---|
/// | `.mainContext` | before the update's call returns to the context's isolation, after the commit is durable | the main context, for the merge |
/// | `.rootContext(autoMerge: true)` | at the next fetch or `merge()` | none |
/// | `.rootContext(autoMerge: false)` | after `merge()` or `reset()` | none |
/// | `.persistentStore` | after `merge()` or `reset()` | none |
public enum UpdateTarget: Sendable, Hashable {
    /// The main context merges a commit immediately.
    case mainContext
    /// The root context. The main context merges automatically, or when `merge` is called.
    case rootContext(autoMerge: Bool)
    /// The store. The main context is merged manually.
    case persistentStore
}

/// Whether updates of several contexts may run concurrently.
public enum UpdateOrder: Sendable {
    /// Updates may run concurrently. Conflicts are detected at commit.
    case `default`
    /// Only one `perform` runs at a time in the whole stack.
    case serial
}
