public import Polystore
internal import PolystoreDefaults

#if SQLite
public import Foundation
#else
internal import Foundation
#endif

/// Whether CoreDataMonk's stack has a context between its main contexts and the store, which notifications of commits pass.
///
/// Polystore needs none: it stands for the promise that a main context merges by itself.
public enum RootContextType: Sendable {
    /// Contexts are brought up to date by hand.
    case none
    /// Contexts can merge every commit.
    case shared
}

/// CoreDataMonk's stack: a model, its stores, and whether contexts may merge by themselves.
public final class CoreDataStack: Sendable {
    /// The stack.
    public let dataStack: DataStack
    /// Whether contexts may merge by themselves.
    public let rootContext: RootContextType
    /// Lets one `perform` run at a time, for contexts that ask for it.
    let serialOrder = NSRecursiveLock()
    private let serialUpdates = DispatchQueue(label: "polystore.updates.serial")
    private let updates = DispatchQueue(label: "polystore.updates", attributes: .concurrent)

    /// A stack without stores over a model.
    public init(_ dataStack: DataStack, rootContext: RootContextType = .shared) {
        self.dataStack = dataStack
        self.rootContext = rootContext
    }

    /// Where updates in the background run.
    func updates(_ order: UpdateOrder) -> DispatchQueue { order == .serial ? serialUpdates : updates }

    #if SQLite
    /// Adds a SQLite file at the default place of the program.
    ///
    /// - Parameters:
    ///   - configuration: The configuration whose entities it keeps; nil for all.
    ///   - resetOnFailure: Whether a file that does not fit the model is thrown away and made anew.
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

    /// Adds a store in memory.
    public func addInMemoryStore(configuration: String? = nil) throws(StorageError) {
        try dataStack.addStorageAndWait(InMemoryStore(configuration: configuration))
    }
}

/// Where CoreDataMonk's updates go, which decides when a main context sees them.
///
/// | target | objects of the main context show a commit | who waits |
/// |---|---|---|
/// | `.mainContext` | before the update's call returns to the context's isolation, after the commit is durable | the main context, for the merge |
/// | `.rootContext(autoMerge: true)` | at the next fetch or `merge()` | nobody |
/// | `.rootContext(autoMerge: false)` | after `merge()` or `reset()` | nobody |
/// | `.persistentStore` | after `merge()` or `reset()` | nobody |
public enum UpdateTarget: Sendable, Hashable {
    /// The main context takes a commit over at once.
    case mainContext
    /// The root context; the main context merges by itself, or when it is told to.
    case rootContext(autoMerge: Bool)
    /// The store; the main context is told by hand.
    case persistentStore
}

/// Whether updates of several contexts may run at the same time.
public enum UpdateOrder: Sendable {
    /// They may; conflicts are found at commit.
    case `default`
    /// One `perform` at a time, in the whole stack.
    case serial
}
