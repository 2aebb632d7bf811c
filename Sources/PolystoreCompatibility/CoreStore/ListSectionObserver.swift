public import Polystore

/// An observer of the sections of a list in CoreStore, whose methods can have the source identifier of the transaction as another argument.
public protocol ListSectionObserver<ListEntityType>: ListObjectObserver, Polystore.ListSectionObserver {
    /// Notifies that a section was inserted.
    func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didInsertSection sectionInfo: ListSectionInfo, toSectionIndex sectionIndex: Int,
        sourceIdentifier: Any?)
    /// Notifies that a section was removed.
    func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didDeleteSection sectionInfo: ListSectionInfo, fromSectionIndex sectionIndex: Int,
        sourceIdentifier: Any?)
}

extension ListSectionObserver {
    /// Calls the method without the source identifier.
    public func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didInsertSection sectionInfo: ListSectionInfo, toSectionIndex sectionIndex: Int,
        sourceIdentifier: Any?
    ) {
        listMonitor(monitor, didInsertSection: sectionInfo, toSectionIndex: sectionIndex)
    }

    /// Calls the method without the source identifier.
    public func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didDeleteSection sectionInfo: ListSectionInfo, fromSectionIndex sectionIndex: Int,
        sourceIdentifier: Any?
    ) {
        listMonitor(monitor, didDeleteSection: sectionInfo, fromSectionIndex: sectionIndex)
    }
}
