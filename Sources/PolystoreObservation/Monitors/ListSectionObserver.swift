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
