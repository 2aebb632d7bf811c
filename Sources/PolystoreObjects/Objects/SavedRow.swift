internal import PolystoreStorage

/// The values of an object at one point, to which it can return.
struct SavedRow {
    let row: RowBatch
    /// The slots that were unfetched, so that the row has placeholders for them, in the form of `_dirty`.
    private let unfetched: UInt64

    /// Saves the values of an object, and loads the unfetched ones first, as far as possible.
    init(_ object: ManagedObject) {
        object.complete()
        self.init(presentOf: object)
    }

    /// Saves the values that an object has, and that the others are unfetched.
    init(presentOf object: ManagedObject) {
        row = RowBatch(capacity: 1)
        object.encodePresent(into: row)
        unfetched = object.unfetched
    }

    /// Saves a row of the store.
    init(_ row: RowBatch) {
        self.row = row
        unfetched = 0
    }

    /// Sets all values of an object. Unfetched slots are unfetched again, whatever was loaded or assigned since.
    func restore(_ object: ManagedObject) {
        _ = object.takeLeftOut()
        withExtendedLifetime(row) { object._reload(row.row(0), .max) }
        object.leaveOut(unfetched)
    }

    /// Whether another row has the same values, except for slots that are unfetched in one of them.
    func isSame(as other: SavedRow, of object: ManagedObject) -> Bool {
        let unknown = unfetched | other.unfetched
        return withExtendedLifetime((row, other.row)) {
            let mine = row.row(0), theirs = other.row.row(0)
            for (index, slot) in object.description.slots.enumerated() where !ManagedObject._has(unknown, index) {
                if Value(mine[index], as: slot.type) != Value(theirs[index], as: slot.type) { return false }
            }
            return true
        }
    }
}
