/// An update of rows of one entity in which the same attributes change.
public struct RowUpdate {
    /// The slots to write. Cells of other slots are ignored. An empty mask only increments the version.
    public let mask: SlotMask
    /// Whether the stored version of each row must equal the version given in the batch. The update increments the stored version by 1.
    public let checksVersion: Bool
    /// The rows. Each row has all cells of the entity's layout; cells outside the mask are null.
    public let rows: RowSource

    /// Creates an update of the slots of `mask`.
    public init(mask: SlotMask, checksVersion: Bool, rows: RowSource) {
        self.mask = mask
        self.checksVersion = checksVersion
        self.rows = rows
    }
}
