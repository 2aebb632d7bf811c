extension RowBatch {
    /// Copies the bytes of the row that was appended last into the batch, for filling code whose memory has a shorter lifetime.
    public func keepLastRow(_ schema: Schema) {
        guard count > 0 else { return }
        let cells = mutableCells(count - 1)
        for slot in schema[row(count - 1).entity].slots.indices where cells[slot].length > 0 {
            cells[slot].bits = UInt64(UInt(bitPattern: copy(cells[slot].bytes)))
        }
    }
}
