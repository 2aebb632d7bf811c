public import PolystoreStorage

/// The same verbs for the main actor's context.
extension DataStack {
    /// Follows an object in the main actor's context.
    ///
    /// - Throws: `notFound` when there is no such object any more; whatever reading throws.
    @MainActor public func monitorObject<Object: ManagedObject>(_ object: Object) throws(StorageError) -> ObjectMonitor<Object> {
        try viewContext.monitorObject(object)
    }

    /// Follows the objects of a request in the main actor's context.
    ///
    /// - Throws: What a fetch of the request throws.
    @MainActor public func monitorList<Object: ManagedObject>(_ from: From<Object>) throws(StorageError) -> ListMonitor<Object> {
        try viewContext.monitorList(from)
    }

    /// Follows the objects of a request in sections, in the main actor's context.
    ///
    /// - Throws: `invalidPredicate` where the order does not keep sections together; what a fetch of the request throws.
    @MainActor public func monitorSectionedList<Object: ManagedObject>(
        _ from: From<Object>, sectionBy: SectionBy<Object>
    ) throws(StorageError) -> ListMonitor<Object> {
        try viewContext.monitorSectionedList(from, sectionBy: sectionBy)
    }
}
