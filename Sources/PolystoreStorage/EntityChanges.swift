/// The changes of one concrete entity.
public struct EntityChanges {
    /// The entity of all the rows.
    public let entity: EntityIndex
    /// Rows to delete.
    public var deletes: [RowDeletion]
    /// Rows to update, grouped by the slots that change.
    public var updates: [RowUpdate]
    /// Rows to insert, with version 1.
    public var inserts: RowSource?

    /// Creates the changes of an entity.
    public init(entity: EntityIndex, deletes: [RowDeletion] = [], updates: [RowUpdate] = [], inserts: RowSource? = nil) {
        self.entity = entity
        self.deletes = deletes
        self.updates = updates
        self.inserts = inserts
    }
}
