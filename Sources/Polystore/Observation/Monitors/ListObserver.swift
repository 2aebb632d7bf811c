public import Foundation

/// What is told about a list as a whole. All calls come in the isolation of the monitor's context.
public protocol ListObserver<ListEntityType>: AnyObject {
    /// The class of the objects.
    associatedtype ListEntityType: ManagedObject

    /// The list is about to change; it still is what it was.
    func listMonitorWillChange(_ monitor: ListMonitor<ListEntityType>)

    /// The list has changed, and all calls about its sections and objects were made.
    func listMonitorDidChange(_ monitor: ListMonitor<ListEntityType>)

    /// The list is about to be fetched anew: what it holds then is not told object by object.
    func listMonitorWillRefetch(_ monitor: ListMonitor<ListEntityType>)

    /// The list was fetched anew: because `refetch` was called, the stores of the stack changed, or something changed that nobody can name.
    func listMonitorDidRefetch(_ monitor: ListMonitor<ListEntityType>)
}

extension ListObserver {
    /// Nothing.
    public func listMonitorWillChange(_ monitor: ListMonitor<ListEntityType>) {}

    /// Nothing.
    public func listMonitorWillRefetch(_ monitor: ListMonitor<ListEntityType>) {}
}

/// What is told about the objects of a list, between `listMonitorWillChange` and `listMonitorDidChange`.
///
/// Deletions come first, then insertions, updates and moves. Where an object was is said by the index paths of the list as it was before the
/// change, where it is by those of the list as it is now.
public protocol ListObjectObserver<ListEntityType>: ListObserver {
    /// An object has come into the list, because it was made or because it satisfies the condition now.
    func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didInsertObject object: ListEntityType, toIndexPath indexPath: IndexPath)

    /// An object has left the list. One that was deleted has its last values if the context had it, else its identity alone.
    func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didDeleteObject object: ListEntityType, fromIndexPath indexPath: IndexPath)

    /// An object of the list has new values and kept its place among the others; the index path is that of the list before.
    func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didUpdateObject object: ListEntityType, atIndexPath indexPath: IndexPath)

    /// An object of the list has another place among the others.
    func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didMoveObject object: ListEntityType, fromIndexPath: IndexPath, toIndexPath: IndexPath)
}

extension ListObjectObserver {
    /// Nothing.
    public func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didInsertObject object: ListEntityType, toIndexPath indexPath: IndexPath
    ) {}

    /// Nothing.
    public func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didDeleteObject object: ListEntityType, fromIndexPath indexPath: IndexPath
    ) {}

    /// Nothing.
    public func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didUpdateObject object: ListEntityType, atIndexPath indexPath: IndexPath
    ) {}

    /// Nothing.
    public func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didMoveObject object: ListEntityType, fromIndexPath: IndexPath, toIndexPath: IndexPath
    ) {}
}

/// What is told about the sections of a list, before what is told about its objects.
public protocol ListSectionObserver<ListEntityType>: ListObjectObserver {
    /// A section has come, at an index of the list as it is now.
    func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didInsertSection sectionInfo: ListSectionInfo, toSectionIndex sectionIndex: Int)

    /// A section is gone, from an index of the list as it was.
    func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didDeleteSection sectionInfo: ListSectionInfo, fromSectionIndex sectionIndex: Int)
}

extension ListSectionObserver {
    /// Nothing.
    public func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didInsertSection sectionInfo: ListSectionInfo, toSectionIndex sectionIndex: Int
    ) {}

    /// Nothing.
    public func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didDeleteSection sectionInfo: ListSectionInfo, fromSectionIndex sectionIndex: Int
    ) {}
}

/// A section of a list.
public struct ListSectionInfo: Sendable, Hashable {
    /// The text of the value that its objects share; empty for nil, and for the only section of a list without sections.
    public let identifier: String
    /// The title: what the closure of `SectionBy` makes of the identifier, else the identifier.
    public let name: String
    /// The number of its objects.
    public let numberOfObjects: Int

    /// A section of a list.
    public init(identifier: String, name: String, numberOfObjects: Int) {
        self.identifier = identifier
        self.name = name
        self.numberOfObjects = numberOfObjects
    }

    /// The first letter of the name in upper case, for an index beside the list.
    public var indexTitle: String { name.prefix(1).uppercased() }
}
