internal import PolystoreStorage

/// The fields that fill the slots of an entity, found by their names once for all records that share a layout.
final class FieldPositions {
    /// The columns by slot, with nil for slots that no column fills.
    private let columns: [ExactText?]
    private var layout: LoadLayout?
    private var positions: [Int?] = []
    /// The layout whose names were checked last.
    private var checked: LoadLayout?

    /// - Parameter columns: The columns by slot, with nil for slots that no column fills.
    init(_ columns: [ExactText?]) { self.columns = columns }

    /// Returns the field that fills a slot, or nil if the record does not have it.
    func field(of record: LoadRecord, slot: Int) -> LoadRecord.Field? {
        if layout !== record.layout {
            layout = record.layout
            positions = columns.map { $0.flatMap { record.layout.positions[$0] } }
        }
        return positions[slot].flatMap(record.field(at:))
    }

    /// Calls a closure with the names of a record, unless it was called with this layout before and did not throw.
    func check(_ record: LoadRecord, _ body: (Dictionary<ExactText, Int>.Keys) throws(StorageError) -> Void) throws(StorageError) {
        if checked === record.layout { return }
        try body(record.layout.positions.keys)
        checked = record.layout
    }
}
