/// What a write transaction changes beside what its entry of the history names; watches of others need to know.
public struct ChangesBeside: Sendable {
    /// Whether there are rows among it, as of a bulk load or of a statement of the program.
    public private(set) var hasRows = false
    private var isQuiet = false

    /// Nothing.
    public init() {}

    /// Rows were changed that no entry will name.
    public mutating func rows() { hasRows = true }

    /// Something was written that an observer need not know, such as a note, or was undone again.
    public mutating func quietly() { isQuiet = true }

    /// By how much the count of quiet commits has to change so that the transaction is counted once if its changes are all known, and not at
    /// all if they are not (`CommitLedger`); 0 for no change.
    ///
    /// - Parameters:
    ///   - isListed: Whether its entry raises the position of the history.
    ///   - isRecorded: Whether it changed objects, which may have come to nothing.
    public func quietStep(isListed: Bool, isRecorded: Bool) -> Int64 {
        if isListed { return hasRows ? -1 : 0 }
        return (isQuiet || isRecorded) && !hasRows ? 1 : 0
    }
}
