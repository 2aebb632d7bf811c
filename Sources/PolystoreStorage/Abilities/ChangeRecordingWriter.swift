/// A write transaction that knows what it has changed, for observers in this process, which then need not read the history.
public protocol ChangeRecordingWriter: StorageWriter {
    /// What the transaction has changed so far; asked also of a store that keeps no history.
    ///
    /// *Behavior*: nil where the transaction does not know; observers then read everything again. What `load` and `execute` did is not among
    /// it.
    var recordedChanges: HistoryChanges? { get }
}

extension WriteSession {
    /// What the transaction has changed so far, without what `load` and `execute` did; nil where the store does not know.
    public var recordedChanges: HistoryChanges? { recorders.find(in: writer)?.recordedChanges }
}
