/// A write transaction that knows what it has changed, for observers in this process, which then need not read the history.
public protocol ChangeRecordingWriter: StorageWriter {
    /// What the transaction has changed so far; asked also of a store that keeps no history.
    ///
    /// *Behavior*: nil where the transaction does not know; observers then read everything again. What `load` and `execute` did is not among
    /// it.
    var recordedChanges: HistoryChanges? { get }
}

extension StorageWriter {
    /// What the transaction has changed so far; nil without the ability.
    public var recordedChanges: HistoryChanges? { ability((any ChangeRecordingWriter).self)?.recordedChanges }
}
