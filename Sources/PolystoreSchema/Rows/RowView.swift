/// A row that is being read: its primary key, entity, version, and the cells of the entity's layout.
///
/// A view borrows memory: it is valid until its batch is filled again. It is noncopyable to prevent accidental retention.
@frozen
public struct RowView: ~Copyable {
    /// The primary key of the object within its hierarchy.
    public let key: Int64
    /// The version, which each update increments by one.
    public let version: Int64
    /// The entity of the row, as an index into the schema.
    public let entity: EntityIndex
    /// The cells, one for each slot of the entity's layout.
    public let cells: UnsafePointer<Cell>

    /// Creates a view. The cells must outlive it.
    @inlinable @inline(__always)
    public init(key: Int64, version: Int64, entity: EntityIndex, cells: UnsafePointer<Cell>) {
        self.key = key
        self.version = version
        self.entity = entity
        self.cells = cells
    }

    /// The cell of a slot.
    @inlinable
    public subscript(slot: Int) -> Cell {
        @inline(__always) borrowing get { cells[slot] }
    }
}
