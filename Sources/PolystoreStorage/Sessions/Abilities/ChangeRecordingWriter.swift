/// A write transaction that collects its changes as for its history. For other transactions the session above collects the changes.
public protocol ChangeRecordingWriter: StorageWriter {
    /// The changes of the transaction so far. Also requested from a store that keeps no history.
    ///
    /// *Behavior*: nil if the transaction does not know its changes; observers then read all data again. Changes by `load` and `execute`
    /// are not included.
    var recordedChanges: HistoryChanges? { get }
}

extension WriteSession {
    /// The changes of the transaction so far, without those by `load` and `execute`. Nil if no observer follows the transaction or the
    /// store does not know.
    public var recordedChanges: HistoryChanges? {
        if let changes { return changes.changes }
        return recorders.find(in: writer)?.recordedChanges
    }
}
