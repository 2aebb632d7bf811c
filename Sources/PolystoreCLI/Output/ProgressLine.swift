internal import Foundation
internal import Polystore
internal import PolystoreTransfer
internal import Synchronization

/// Shows how far a transfer or a migration has come: one line that is replaced on a terminal, a plain line every five seconds otherwise.
final class ProgressLine: Sendable {
    private let start = Date()
    private let last = Mutex(Console.errorIsTerminal ? Date.distantPast : Date())
    private let isTerminal = Console.errorIsTerminal
    private let isQuiet: Bool

    init(isQuiet: Bool) { self.isQuiet = isQuiet }

    func show(_ progress: TransferProgress) {
        guard let seconds = due() else { return }
        let rate = Double(progress.allDone) / seconds
        let left = rate > 0 ? Double(progress.allTotal - progress.allDone) / rate : 0
        let percent = progress.allTotal > 0 ? progress.allDone * 100 / progress.allTotal : 100
        write(
            "\(progress.name) \(progress.done)/\(progress.total)  \(percent)% of \(progress.allTotal)  "
                + "\(Int(rate)) rows/s  \(String(format: "%.1f", left)) s left")
    }

    /// Rows of an entity whose total is not known.
    func show(_ name: String, done: Int) {
        guard let seconds = due() else { return }
        write("\(name) \(done) rows  \(Int(Double(done) / seconds)) rows/s")
    }

    /// The objects of a step between versions of a model; nothing before the first are written.
    func show(_ name: String, _ update: MigrationProgress.Update) {
        guard update.completedObjects > 0, let seconds = due() else { return }
        let rate = Int(Double(update.completedObjects) / seconds)
        write("\(name)  \(update.localizedDescription)  \(update.completedObjects) objects  \(rate) objects/s")
    }

    /// The seconds since the beginning, if it is time for a line.
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
    /// Shows how far something has come while it runs, and cancels it when that is asked for.
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
