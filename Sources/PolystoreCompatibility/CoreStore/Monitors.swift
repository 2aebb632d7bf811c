public import Foundation
public import Polystore

extension DataStack {
    /// Follows the objects of clauses in the main actor's context; an order is among them.
    @MainActor public func monitorList<O: ManagedObject>(
        _ from: From<O>, _ clause: any FetchClause<O>, _ more: any FetchClause<O>...
    ) throws(StorageError) -> ListMonitor<O> {
        try monitorList(from.applying([clause] + more))
    }

    /// Follows the objects of clauses in sections, in the main actor's context; an order that begins with theirs is among them.
    @MainActor public func monitorSectionedList<O: ManagedObject>(
        _ from: From<O>, _ sectionBy: SectionBy<O>, _ clauses: any FetchClause<O>...
    ) throws(StorageError) -> ListMonitor<O> {
        try monitorSectionedList(from.applying(clauses), sectionBy: sectionBy)
    }
}

extension CoreStore {
    /// Follows an object in the main actor's context of the default stack.
    @MainActor public static func monitorObject<O: ManagedObject>(_ object: O) throws(StorageError) -> ObjectMonitor<O> {
        try defaultStack.monitorObject(object)
    }

    /// Follows the objects of clauses in the main actor's context of the default stack.
    @MainActor public static func monitorList<O: ManagedObject>(
        _ from: From<O>, _ clauses: any FetchClause<O>...
    ) throws(StorageError) -> ListMonitor<O> {
        try defaultStack.monitorList(from.applying(clauses))
    }

    /// Follows the objects of clauses in sections, in the main actor's context of the default stack.
    @MainActor public static func monitorSectionedList<O: ManagedObject>(
        _ from: From<O>, _ sectionBy: SectionBy<O>, _ clauses: any FetchClause<O>...
    ) throws(StorageError) -> ListMonitor<O> {
        try defaultStack.monitorSectionedList(from.applying(clauses), sectionBy: sectionBy)
    }
}

extension ListMonitor {
    /// Fetches anew what clauses ask for: all of them, none of those before stays.
    public func refetch(_ clause: any FetchClause<Object>, _ more: any FetchClause<Object>...) throws(StorageError) {
        try refetch(From<Object>().applying([clause] + more))
    }

    /// CoreStore's name of `sectionInfo(at:)`; an empty section where there is none.
    public func sectionInfoAtIndex(_ section: Int) -> ListSectionInfo {
        sectionInfo(at: section) ?? ListSectionInfo(identifier: "", name: "", numberOfObjects: 0)
    }
}

extension IndexPath {
    /// Foundation's older spelling of an index path of a table.
    public init(forRow row: Int, inSection section: Int) { self.init(indexes: [section, row]) }
}
