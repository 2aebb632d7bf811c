/// The changes of a write transaction that its history entry does not record. Watches of other instances must be notified of them.
package struct ChangesBeside: Sendable {
    /// Whether the changes include rows, for example of a bulk load or of a statement of the program.
    package private(set) var hasRows = false
    private var isQuiet = false

    /// Creates an empty record.
    package init() {}

    /// Records that rows were changed that no entry will mention.
    package mutating func rows() { hasRows = true }

    /// Records a write that an observer need not know, such as a note or a change that was undone again.
    package mutating func quietly() { isQuiet = true }

    /// Returns the amount by which the count of quiet commits has to change, so that the transaction is counted once if all its changes are
    /// known, and not at all otherwise (`CommitLedger`). 0 if the count does not change.
    ///
    /// - Parameters:
    ///   - isListed: Whether the transaction's entry raises the position of the history.
    ///   - isRecorded: Whether the transaction recorded changes of objects, which may have cancelled out.
    package func quietStep(isListed: Bool, isRecorded: Bool) -> Int64 {
        if isListed { return hasRows ? -1 : 0 }
        return (isQuiet || isRecorded) && !hasRows ? 1 : 0
    }
}
