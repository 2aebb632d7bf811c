/// The result of one row of an upsert.
public struct UpsertedRow: Sendable, Hashable {
    /// The primary key of the row that now has the values.
    public let key: Int64
    /// The entity of that row. It can be a subentity of the upsert's entity.
    public let entity: EntityIndex
    /// Whether the row was inserted.
    public let isInserted: Bool

    /// Creates a result.
    public init(key: Int64, entity: EntityIndex, isInserted: Bool) {
        self.key = key
        self.entity = entity
        self.isInserted = isInserted
    }
}
