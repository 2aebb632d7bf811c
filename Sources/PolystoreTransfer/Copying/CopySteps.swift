internal import Foundation
internal import PolystoreStorage

/// The transactions in which a copy is written to its target: one, or steps that are committed with a note of the progress.
final class CopySteps {
    /// The progress with the current step; nil if there is one transaction.
    var state: CopyState?
    private let target: OpenStore
    private let limit: WorkLimit?
    private let duration: Duration
    /// The note that the last step has committed.
    private var committed: Data?
    private var writer: WriteSession?
    /// The time at which the current step began.
    private var start = ContinuousClock.now

    /// - Parameters:
    ///   - duration: The time after which a step is committed.
    ///   - limit: The limit of a copy in one transaction.
    init(_ target: OpenStore, every duration: Duration, _ limit: WorkLimit?) {
        self.target = target
        self.duration = duration
        self.limit = limit
    }

    deinit { writer?.end() }

    /// Continues with the state that another process has left in the target.
    ///
    /// - Parameter note: The note of the target with that state; nil if there is none.
    func begin(_ state: CopyState, after note: Data?) {
        self.state = state
        committed = note
    }

    /// Returns the transaction of the current step.
    func step() throws(StorageError) -> WriteSession {
        if let writer { return writer }
        // A step is not interrupted: it ends soon, and what it has copied is kept.
        return try begin(state == nil ? .whole : .part, state == nil ? limit : nil)
    }

    /// Begins a step after the last one was committed.
    func begin(_ bulk: BulkLoad?, _ limit: WorkLimit?) throws(StorageError) -> WriteSession {
        var options = WriteOptions(bulk: bulk, limit: limit)
        options.isMove = state?.live != nil
        let writer = try target.beginWrite(options)
        do throws(StorageError) { try check(writer) } catch {
            writer.end()
            throw error
        }
        self.writer = writer
        start = .now
        return writer
    }

    /// Checks that the target is as the last step has left it.
    private func check(_ writer: WriteSession) throws(StorageError) {
        try Peers(writer).checkIsAlone()
        if state != nil, try writer.note(CopyNote.incomplete) != committed {
            throw StorageError(.busy, "another transfer writes to the target at the same time; this one has ended")
        }
        if committed == nil, state?.live?.isCopied != true { try Contents(writer).checkIsEmpty() }
    }

    /// Commits the current step with the state, if there are steps and one has begun.
    func commit() throws(StorageError) {
        guard let state, let writer else { return }
        let note: Data
        do { note = try JSONEncoder().encode(state) } catch {
            throw StorageError(.limitExceeded, "the state of the copy cannot be written", cause: error)
        }
        try writer.setNote(CopyNote.incomplete, note)
        _ = try writer.commit(CommitRecord(author: "transfer"))
        committed = note
        self.writer = nil
    }

    /// Commits the current step when it is due.
    func commitIfDue() throws(StorageError) {
        if state != nil, start.duration(to: .now) >= duration { try commit() }
    }

    /// Ends the current step without its changes.
    func abandon() {
        writer?.end()
        writer = nil
    }

    /// Whether a step has begun.
    var isOpen: Bool { writer != nil }
}
