internal import Foundation
internal import PolystoreStorage

/// Makes a copy wait between batches, so that it keeps its pace.
final class CopyThrottle {
    private let pace: TransferPace
    private let limit: WorkLimit?
    private let progress: WorkProgress
    /// The number of threads that write while another one reads.
    private let writers: Int
    /// The time from which the next batch may be written.
    private var next = ContinuousClock.now
    /// The time that the copy has waited.
    private(set) var waited = Duration.zero
    /// The size of what was written since the last step was committed because of its size.
    private var pending = 0

    /// The number of rows and the size in bytes of a batch without a limit.
    private static let usualRows = 8192, usualBytes = 8 << 20
    /// The longest time between two questions whether the copy may go on, or was cancelled.
    private static let slice = 0.05

    /// - Parameter writers: The number of threads that write while another one reads; 0 if one does both.
    init(_ pace: TransferPace, _ limit: WorkLimit?, _ progress: WorkProgress, writers: Int = 0) {
        self.pace = pace
        self.limit = limit
        self.progress = progress
        self.writers = writers
    }

    /// The number of rows of a batch, so that a low rate is kept evenly.
    var mostRows: Int { Int(max(1, min((pace.rowsPerSecond ?? .infinity) / 10, Double(Self.usualRows)))) }

    /// The size of the rows of a batch. All batches that are read and not yet written need at most half of the memory.
    var mostBytes: Int {
        let most = pace.memoryBytes.map { min($0 / 8, $0 / 2 / CopyWorkers.mostBatches(writers)) } ?? Self.usualBytes
        return Int(max(1, min((pace.bytesPerSecond ?? .infinity) / 10, Double(most))))
    }

    /// Whether the sizes of batches matter.
    var countsBytes: Bool { pace.bytesPerSecond != nil || pace.memoryBytes != nil }

    /// Waits after a batch was written.
    ///
    /// - Parameters:
    ///   - bytes: The size of the batch; 0 if sizes do not matter.
    ///   - commit: Commits what was written, so that no transaction is open during a pause and none becomes large.
    /// - Throws: `cancelled`.
    func wrote(_ rows: Int, _ bytes: Int, _ commit: () throws(StorageError) -> Void) throws(StorageError) {
        if let memory = pace.memoryBytes {
            pending = pending.addingReportingOverflow(bytes).partialValue
            if pending >= memory / 2 {
                try commit()
                pending = 0
            }
        }
        try pause(commit)
        var seconds = 0.0
        if let rate = pace.rowsPerSecond { seconds = Double(rows) / rate }
        if let rate = pace.bytesPerSecond { seconds = max(seconds, Double(bytes) / rate) }
        if seconds > 0 { try wait(min(seconds, 1e6), commit) }
    }

    private func pause(_ commit: () throws(StorageError) -> Void) throws(StorageError) {
        guard let isPaused = pace.isPaused, isPaused() else { return }
        try commit()
        progress.pause()
        while isPaused() { try sleep(Self.slice) }
    }

    /// Waits until a batch is paid that may take some seconds. Time that was not used is not kept for later batches.
    private func wait(_ seconds: Double, _ commit: () throws(StorageError) -> Void) throws(StorageError) {
        next = max(next, .now - .seconds(seconds)) + .seconds(seconds)
        while next > .now {
            // What a step has written is not kept open longer than usual.
            if next > .now + .seconds(1) { try commit() }
            let left = ContinuousClock.now.duration(to: next).components
            try sleep(min(Self.slice, max(0, Double(left.seconds) + Double(left.attoseconds) / 1e18)))
        }
    }

    private func sleep(_ seconds: Double) throws(StorageError) {
        try limit?.check()
        let start = ContinuousClock.now
        Thread.sleep(forTimeInterval: seconds)
        waited += start.duration(to: .now)
    }
}
