public import Foundation
public import Polystore

extension DataStack {
    /// Observes the objects of a request in the main actor's context. The clauses must include an order.
    @MainActor public func monitorList<O: ManagedObject>(
        _ from: From<O>, _ clause: any FetchClause<O>, _ more: any FetchClause<O>...
    ) throws(StorageError) -> ListMonitor<O> {
        try monitorList(from, [clause] + more)
    }

    /// Observes the objects of a request in the main actor's context. The clauses must include an order.
    @MainActor public func monitorList<O: ManagedObject>(
        _ from: From<O>, _ clauses: [any FetchClause<O>]
    ) throws(StorageError) -> ListMonitor<O> {
        try monitorList(from.applying(clauses))
    }

    /// Observes the objects of a request in sections, in the main actor's context. The clauses must include an order that begins
    /// with the order of the sections.
    @MainActor public func monitorSectionedList<O: ManagedObject>(
        _ from: From<O>, _ sectionBy: SectionBy<O>, _ clauses: any FetchClause<O>...
    ) throws(StorageError) -> ListMonitor<O> {
        try monitorSectionedList(from, sectionBy, clauses)
    }

    /// Observes the objects of a request in sections, in the main actor's context. The clauses must include an order that begins
    /// with the order of the sections.
    @MainActor public func monitorSectionedList<O: ManagedObject>(
        _ from: From<O>, _ sectionBy: SectionBy<O>, _ clauses: [any FetchClause<O>]
    ) throws(StorageError) -> ListMonitor<O> {
        try monitorSectionedList(from.applying(clauses), sectionBy: sectionBy)
    }

    /// Observes the objects of a request in sections, in the main actor's context.
    @MainActor public func monitorSectionedList<O: ManagedObject>(
        _ list: SectionMonitorChainBuilder<O>
    ) throws(StorageError) -> ListMonitor<O> {
        try monitorSectionedList(list.from, sectionBy: list.sectionBy)
    }

    /// Observes the objects of a request in sections, in the main actor's context.
    @MainActor public func monitorList<O: ManagedObject>(_ list: SectionMonitorChainBuilder<O>) throws(StorageError) -> ListMonitor<O> {
        try monitorSectionedList(list)
    }
}

extension CoreStore {
    /// Observes an object in the main actor's context of the default stack.
    @MainActor public static func monitorObject<O: ManagedObject>(_ object: O) throws(StorageError) -> ObjectMonitor<O> {
        try defaultStack.monitorObject(object)
    }

    /// Observes the objects of a request in the main actor's context of the default stack. The clauses must include an order.
    @MainActor public static func monitorList<O: ManagedObject>(
        _ from: From<O>, _ clauses: any FetchClause<O>...
    ) throws(StorageError) -> ListMonitor<O> {
        try monitorList(from, clauses)
    }

    /// Observes the objects of a request in the main actor's context of the default stack. The clauses must include an order.
    @MainActor public static func monitorList<O: ManagedObject>(
        _ from: From<O>, _ clauses: [any FetchClause<O>]
    ) throws(StorageError) -> ListMonitor<O> {
        try defaultStack.monitorList(from, clauses)
    }

    /// Observes the objects of a request in sections, in the main actor's context of the default stack. The clauses must include an order that begins
    /// with the order of the sections.
    @MainActor public static func monitorSectionedList<O: ManagedObject>(
        _ from: From<O>, _ sectionBy: SectionBy<O>, _ clauses: any FetchClause<O>...
    ) throws(StorageError) -> ListMonitor<O> {
        try monitorSectionedList(from, sectionBy, clauses)
    }

    /// Observes the objects of a request in sections, in the main actor's context of the default stack. The clauses must include an order that begins
    /// with the order of the sections.
    @MainActor public static func monitorSectionedList<O: ManagedObject>(
        _ from: From<O>, _ sectionBy: SectionBy<O>, _ clauses: [any FetchClause<O>]
    ) throws(StorageError) -> ListMonitor<O> {
        try defaultStack.monitorSectionedList(from, sectionBy, clauses)
    }

    /// Observes the objects of a request in sections, in the main actor's context of the default stack.
    @MainActor public static func monitorSectionedList<O: ManagedObject>(
        _ list: SectionMonitorChainBuilder<O>
    ) throws(StorageError) -> ListMonitor<O> {
        try defaultStack.monitorSectionedList(list.from, sectionBy: list.sectionBy)
    }

    /// Observes the objects of a request in sections, in the main actor's context of the default stack.
    @MainActor public static func monitorList<O: ManagedObject>(_ list: SectionMonitorChainBuilder<O>) throws(StorageError) -> ListMonitor<
        O
    > {
        try monitorSectionedList(list)
    }
}

extension ListMonitor {
    /// Fetches the objects that clauses request. They replace all previous clauses; the class or entity and the stores of the list stay.
    public func refetch(_ clause: any FetchClause<Object>, _ more: any FetchClause<Object>...) throws(StorageError) {
        try refetch([clause] + more)
    }

    /// Fetches the objects that clauses request. They replace all previous clauses; the class or entity and the stores of the list stay.
    public func refetch(_ clauses: [any FetchClause<Object>]) throws(StorageError) { try refetch(everything.applying(clauses)) }

    /// Fetches the objects of a request, with its sections.
    public func refetch(_ list: SectionMonitorChainBuilder<Object>) throws(StorageError) {
        try refetch(list.from, sectionBy: list.sectionBy)
    }

    /// Returns the information of a section, or an empty section if there is none. The name of `sectionInfo(at:)` in CoreStore.
    public func sectionInfoAtIndex(_ section: Int) -> ListSectionInfo {
        sectionInfo(at: section) ?? ListSectionInfo(identifier: "", name: "", numberOfObjects: 0)
    }
}

extension IndexPath {
    /// Creates an index path of a table, in Foundation's older spelling.
    public init(forRow row: Int, inSection section: Int) { self.init(indexes: [section, row]) }
}
