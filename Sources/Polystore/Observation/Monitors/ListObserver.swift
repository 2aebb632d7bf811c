public import Foundation

/// An observer of a list as a whole. All calls are made in the isolation of the monitor's context.
public protocol ListObserver<ListEntityType>: AnyObject {
    /// The class of the objects.
    associatedtype ListEntityType: ManagedObject

    /// Notifies that the list is about to change. It still has its previous contents.
    func listMonitorWillChange(_ monitor: ListMonitor<ListEntityType>)

    /// Notifies that the list has changed, after all calls about its sections and objects.
    func listMonitorDidChange(_ monitor: ListMonitor<ListEntityType>)

    /// Notifies that the list is about to be fetched again. Its changes are not reported object by object.
    func listMonitorWillRefetch(_ monitor: ListMonitor<ListEntityType>)

    /// Notifies that the list was fetched again: `refetch` was called, the stores of the stack changed, or there was an unknown change.
    func listMonitorDidRefetch(_ monitor: ListMonitor<ListEntityType>)
}

extension ListObserver {
    /// Does nothing.
    public func listMonitorWillChange(_ monitor: ListMonitor<ListEntityType>) {}

    /// Does nothing.
    public func listMonitorWillRefetch(_ monitor: ListMonitor<ListEntityType>) {}
}

/// An observer of the objects of a list, called between `listMonitorWillChange` and `listMonitorDidChange`.
///
/// Deletions come first, then insertions, updates and moves. Previous positions are index paths of the list before the change, new
/// positions those of the current list.
public protocol ListObjectObserver<ListEntityType>: ListObserver {
    /// Notifies that an object was inserted into the list, because it was created or because it now satisfies the condition.
    func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didInsertObject object: ListEntityType, toIndexPath indexPath: IndexPath)

    /// Notifies that an object was removed from the list. A deleted object has its last values if the context had it, otherwise only its
    /// identity.
    func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didDeleteObject object: ListEntityType, fromIndexPath indexPath: IndexPath)

    /// Notifies that an object of the list has new values and kept its position relative to the others. The index path is that of the list
    /// before the change.
    func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didUpdateObject object: ListEntityType, atIndexPath indexPath: IndexPath)

    /// Notifies that an object of the list has another position relative to the others.
    func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didMoveObject object: ListEntityType, fromIndexPath: IndexPath, toIndexPath: IndexPath)
}

extension ListObjectObserver {
    /// Does nothing.
    public func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didInsertObject object: ListEntityType, toIndexPath indexPath: IndexPath
    ) {}

    /// Does nothing.
    public func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didDeleteObject object: ListEntityType, fromIndexPath indexPath: IndexPath
    ) {}

    /// Does nothing.
    public func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didUpdateObject object: ListEntityType, atIndexPath indexPath: IndexPath
    ) {}

    /// Does nothing.
    public func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didMoveObject object: ListEntityType, fromIndexPath: IndexPath, toIndexPath: IndexPath
    ) {}
}

/// An observer of the sections of a list, called before the notifications about its objects.
public protocol ListSectionObserver<ListEntityType>: ListObjectObserver {
    /// Notifies that a section was inserted, at an index of the current list.
    func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didInsertSection sectionInfo: ListSectionInfo, toSectionIndex sectionIndex: Int)

    /// Notifies that a section was removed, from an index of the previous list.
    func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didDeleteSection sectionInfo: ListSectionInfo, fromSectionIndex sectionIndex: Int)
}

extension ListSectionObserver {
    /// Does nothing.
    public func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didInsertSection sectionInfo: ListSectionInfo, toSectionIndex sectionIndex: Int
    ) {}

    /// Does nothing.
    public func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didDeleteSection sectionInfo: ListSectionInfo, fromSectionIndex sectionIndex: Int
    ) {}
}

/// A section of a list.
public struct ListSectionInfo: Sendable, Hashable {
    /// The text of the value that its objects share; empty for nil, and for the only section of a list without sections.
    public let identifier: String
    /// The title: the result of the closure of `SectionBy` for the identifier, otherwise the identifier.
    public let name: String
    /// The number of its objects.
    public let numberOfObjects: Int

    /// Creates a section of a list.
    public init(identifier: String, name: String, numberOfObjects: Int) {
        self.identifier = identifier
        self.name = name
        self.numberOfObjects = numberOfObjects
    }

    /// The first letter of the name in upper case, for an index beside the list.
    public var indexTitle: String { name.prefix(1).uppercased() }
}
