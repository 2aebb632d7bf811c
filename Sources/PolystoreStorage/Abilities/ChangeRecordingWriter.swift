/// A write transaction that collects what it changes, as for its history; what others change is collected by the session above them.
public protocol ChangeRecordingWriter: StorageWriter {
    /// What the transaction has changed so far; asked also of a store that keeps no history.
    ///
    /// *Behavior*: nil where the transaction does not know; observers then read everything again. What `load` and `execute` did is not among
    /// it.
    var recordedChanges: HistoryChanges? { get }
}

extension WriteSession {
    /// What the transaction has changed so far, without what `load` and `execute` did; nil where nobody follows it or the store does not know.
    public var recordedChanges: HistoryChanges? {
        if let changes { return changes.changes }
        return recorders.find(in: writer)?.recordedChanges
    }
}
