internal import PolystoreStorage

/// Some objects of a request, in its order, and the cursor for the next ones.
public struct Page<Object: ManagedObject> {
    /// The objects.
    public let objects: [Object]
    /// The cursor for the next page; nil after the last page.
    public let next: PageCursor?
}
