public import PolystoreObjects

/// Monitors of the main actor's context.
extension DataStack {
    /// Returns a monitor of an object in the main actor's context.
    ///
    /// - Throws: `notFound` if the object no longer exists; the error of reading.
    @MainActor public func monitorObject<Object: ManagedObject>(_ object: Object) throws(StorageError) -> ObjectMonitor<Object> {
        try viewContext.monitorObject(object)
    }

    /// Returns a monitor of the objects of a request in the main actor's context.
    ///
    /// - Throws: The error of a fetch of the request.
    @MainActor public func monitorList<Object: ManagedObject>(_ from: From<Object>) throws(StorageError) -> ListMonitor<Object> {
        try viewContext.monitorList(from)
    }

    /// Returns a monitor of the objects of a request in sections, in the main actor's context.
    ///
    /// - Throws: `invalidPredicate` if the order does not keep sections together; the error of a fetch of the request.
    @MainActor public func monitorSectionedList<Object: ManagedObject>(
        _ from: From<Object>, sectionBy: SectionBy<Object>
    ) throws(StorageError) -> ListMonitor<Object> {
        try viewContext.monitorSectionedList(from, sectionBy: sectionBy)
    }
}
