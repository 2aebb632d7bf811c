internal import Foundation
internal import PolystoreStorage

/// The transactions in which a copy is written to its target: one, or steps that are committed with a note of the progress.
final class CopySteps {
    /// The progress; nil if there is one transaction.
    var state: CopyState? {
        get { ledger.state }
        set { ledger.state = newValue }
    }

    private let ledger: CopyLedger
    private let target: OpenStore
    private let limit: WorkLimit?
    private let duration: Duration
    /// Whether other steps run at the same time.
    private let isShared: Bool
    /// Whether each step has to find the rows that the indexes of the target refuse.
    private let checksRows: Bool
    private var writer: WriteSession?
    /// The parts that the current step has copied.
    private var parts: [(name: String, part: CopiedPart)] = []
    /// The time at which the current step began.
    private var start = ContinuousClock.now

    /// - Parameters:
    ///   - duration: The time after which a step is committed.
    ///   - limit: The limit of a copy in one transaction.
    ///   - ledger: The progress, if it is that of other steps too.
    ///   - isShared: Whether other steps run at the same time.
    ///   - checksRows: Whether each step has to find the rows that the indexes of the target refuse.
    init(
        _ target: OpenStore, every duration: Duration, _ limit: WorkLimit?, _ ledger: CopyLedger = CopyLedger(), isShared: Bool = false,
        checksRows: Bool = false
    ) {
        // A server refuses values that are too large for an index, which no rule of the model says.
        self.checksRows = checksRows && target.ability((any ConcurrentLoadStorage).self) != nil
        self.target = target
        self.duration = duration
        self.limit = limit
        self.ledger = ledger
        self.isShared = isShared
    }

    deinit { writer?.end() }

    /// Continues with the state that another process has left in the target.
    ///
    /// - Parameter note: The note of the target with that state; nil if there is none.
    func begin(_ state: CopyState, after note: Data?) { ledger.begin(state, after: note) }

    /// Returns steps with the same progress, for another thread.
    ///
    /// - Parameter isShared: Whether several run at the same time.
    func others(isShared: Bool) -> @Sendable () -> CopySteps {
        { [target, duration, ledger] in CopySteps(target, every: duration, nil, ledger, isShared: isShared) }
    }

    /// Makes a connection for steps that run beside others, so that it is known whether there can be one.
    func prepare() throws(StorageError) {
        if !isShared { return }
        _ = try step()
        abandon()
    }

    /// Returns the transaction of the current step.
    func step() throws(StorageError) -> WriteSession {
        if let writer { return writer }
        // A step is not interrupted: it ends soon, and what it has copied is kept.
        if state == nil { return try begin(.whole, limit) }
        return try begin(checksRows ? nil : .part, nil)
    }

    /// Begins a step after the last one was committed.
    func begin(_ bulk: BulkLoad?, _ limit: WorkLimit?) throws(StorageError) -> WriteSession {
        var options = WriteOptions(bulk: bulk, limit: limit)
        options.isMove = state?.live != nil
        options.sharesLoad = isShared
        let writer = try target.beginWrite(options)
        do throws(StorageError) { if !isShared { try check(writer) } } catch {
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
        if state != nil { try ledger.check(writer) }
        if ledger.committed == nil, state?.live?.isCopied != true { try Contents(writer).checkIsEmpty() }
    }

    /// Writes rows in the current step.
    func write(_ load: CopyLoad) throws(StorageError) {
        try load.write(to: try step())
        if state != nil { parts.append((load.name, load.part)) }
    }

    /// Commits the current step with the state, if there are steps and one has begun.
    func commit() throws(StorageError) {
        guard let writer, state != nil else { return }
        try ledger.commit(writer, parts, isShared: isShared)
        self.writer = nil
        parts.removeAll()
    }

    /// The time at which the current step is due to be committed.
    var due: ContinuousClock.Instant { start + duration }

    /// Commits the current step when it is due.
    func commitIfDue() throws(StorageError) { if .now >= due { try commit() } }

    /// Ends the current step without its changes.
    func abandon() {
        writer?.end()
        writer = nil
        parts.removeAll()
    }

    /// Whether a step has begun.
    var isOpen: Bool { writer != nil }
}
