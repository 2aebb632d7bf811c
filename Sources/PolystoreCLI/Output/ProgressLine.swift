internal import Foundation
internal import Polystore
internal import PolystoreTransfer
internal import Synchronization

/// Shows the progress of a transfer or a migration: one line that is replaced on a terminal, otherwise a plain line every five seconds.
final class ProgressLine: Sendable {
    private let start = Date()
    private let last = Mutex(Console.errorIsTerminal ? Date.distantPast : Date())
    private let isTerminal = Console.errorIsTerminal
    private let isQuiet: Bool

    init(isQuiet: Bool) { self.isQuiet = isQuiet }

    func show(_ progress: TransferProgress) {
        if progress.isPaused {
            if !isQuiet { write("waiting while the throttle file exists, with \(progress.allDone) of \(progress.allTotal) rows copied") }
            return
        }
        if progress.total == 0 { return show(progress.name, done: progress.done) }
        guard let seconds = due() else { return }
        let rate = Double(progress.allDone) / seconds
        let left = rate > 0 ? Double(progress.allTotal - progress.allDone) / rate : 0
        let percent = progress.allTotal > 0 ? progress.allDone * 100 / progress.allTotal : 100
        write(
            "\(progress.name) \(progress.done)/\(progress.total)  \(percent)% of \(progress.allTotal)  "
                + "\(Int(rate)) rows/s  \(String(format: "%.1f", left)) s left")
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
        let isDue = last.withLock { last in
            guard !isQuiet, now.timeIntervalSince(last) > (isTerminal ? 0.1 : 5) else { return false }
            last = now
            return true
        }
        guard isDue else { return nil }
        return max(now.timeIntervalSince(start), 0.001)
    }

    private func write(_ text: String) { if isTerminal { Console.status(text) } else { Console.error(text) } }

    func finish() { if !isQuiet, isTerminal { Console.status("") } }
}

extension ProgressLine {
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
