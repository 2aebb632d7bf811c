internal import Foundation
internal import PolystoreTransfer

/// Shows how far a transfer has come: one line that is replaced on a terminal, a plain line every five seconds otherwise.
final class ProgressLine {
    private let start = Date()
    private var last = Date.distantPast
    private let isTerminal = Console.errorIsTerminal
    private let isQuiet: Bool

    init(isQuiet: Bool) { self.isQuiet = isQuiet }

    func show(_ progress: TransferProgress) {
        if isQuiet { return }
        let now = Date()
        guard now.timeIntervalSince(last) > (isTerminal ? 0.1 : 5) else { return }
        last = now
        let seconds = max(now.timeIntervalSince(start), 0.001)
        let rate = Double(progress.allDone) / seconds
        let left = rate > 0 ? Double(progress.allTotal - progress.allDone) / rate : 0
        let percent = progress.allTotal > 0 ? progress.allDone * 100 / progress.allTotal : 100
        let text =
            "\(progress.name) \(progress.done)/\(progress.total)  \(percent)% of \(progress.allTotal)  "
            + "\(Int(rate)) rows/s  \(String(format: "%.1f", left)) s left"
        if isTerminal { Console.status(text) } else { Console.error(text) }
    }

    func finish() { if !isQuiet, isTerminal { Console.status("") } }
}
