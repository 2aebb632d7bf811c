internal import Foundation
internal import Polystore
internal import PolystoreStorage
internal import PolystoreTransfer
internal import Synchronization

/// Shows the progress of a command: one line that is replaced on a terminal, otherwise a plain line every five seconds.
final class ProgressLine: Sendable {
    private struct State {
        /// The start of the work, or of its current part.
        var start = Date()
        /// The time of the last line. A command that ends soon shows none.
        var last = Date()
        /// The rows that were completed in the current part.
        var done = 0
        /// Whether there was a line.
        var isShown = false
    }

    private let state = Mutex(State())
    private let isTerminal = Console.errorIsTerminal
    private let isQuiet: Bool

    init(isQuiet: Bool) { self.isQuiet = isQuiet }

    func show(_ progress: TransferProgress) {
        if progress.isPaused {
            if !isQuiet { write("waiting while the throttle file exists, with \(progress.allDone) of \(progress.allTotal) rows copied") }
            return
        }
        // The rows that a transfer has written are counted again when they are verified.
        state.withLock { state in
            if progress.allDone < state.done { state.start = Date() }
            state.done = progress.allDone
        }
        if progress.total == 0 { return show(progress.name, done: progress.done) }
        guard let seconds = due() else { return }
        let rate = Double(progress.allDone) / seconds
        let left = rate > 0 ? Double(progress.allTotal - progress.allDone) / rate : 0
        let percent = progress.allTotal > 0 ? progress.allDone * 100 / progress.allTotal : 100
        write(
            "\(progress.isVerifying ? "reading " : "")\(progress.name) \(progress.done)/\(progress.total)  "
                + "\(percent)% of \(progress.allTotal)  \(Int(rate)) rows/s  \(String(format: "%.1f", left)) s left")
    }

    /// Shows the number of rows of an entity whose total is not known, and how much of the input file was read.
    func show(_ name: String, done: Int) {
        guard let seconds = due() else { return }
        let percent = InputProgress.percent.map { "  \($0)% of the file" } ?? ""
        write("\(name) \(done) rows\(percent)  \(Int(Double(done) / seconds)) rows/s")
    }

    /// Shows the number of objects of a migration step. Shows nothing before the first objects are written.
    func show(_ name: String, _ update: MigrationProgress.Update) {
        guard update.completedObjects > 0, let seconds = due() else { return }
        let rate = Int(Double(update.completedObjects) / seconds)
        write("\(name)  \(update.localizedDescription)  \(update.completedObjects) objects  \(rate) objects/s")
    }

    /// Shows a text.
    func show(_ text: @autoclosure () -> String) { if due() != nil { write(text()) } }

    /// Returns the seconds since the start if a line is due, otherwise nil.
    private func due() -> Double? {
        let now = Date()
        return state.withLock { state in
            guard !isQuiet, now.timeIntervalSince(state.last) > (isTerminal ? (state.isShown ? 0.1 : 0.5) : 5) else { return nil }
            state.last = now
            state.isShown = true
            return max(now.timeIntervalSince(state.start), 0.001)
        }
    }

    private func write(_ text: String) { if isTerminal { Console.status(text) } else { Console.error(text) } }

    func finish() { Console.clearStatus() }
}

extension ProgressLine {
    /// Shows the progress of an operation that calls a closure with it.
    static func follow<R>(
        isQuiet: Bool, _ body: (TransferEngine.Report?) throws(StorageError) -> R
    ) throws(StorageError) -> R {
        let line = ProgressLine(isQuiet: isQuiet)
        defer { line.finish() }
        return try body(isQuiet ? nil : { line.show($0) })
    }

    /// Shows the progress of an operation while it runs, and cancels the operation on request.
    static func follow(_ name: String, isQuiet: Bool, _ body: (MigrationProgress) throws -> Void) throws {
        let progress = MigrationProgress(), line = ProgressLine(isQuiet: isQuiet)
        let queue = DispatchQueue(label: "polystore.progress")
        progress.setProgressHandler(on: queue) { progress in
            line.show(name, progress.current)
            if Interruption.isAsked { progress.cancel() }
        }
        defer {
            queue.sync {}
            line.finish()
        }
        try body(progress)
    }
}
