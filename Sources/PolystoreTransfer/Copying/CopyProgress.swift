/// Counts the rows of a transfer and reports them.
final class CopyProgress {
    private let totals: [String: Int]
    private let report: TransferEngine.Report
    private var name = ""
    /// The number of completed rows of each table.
    private var done: [String: Int] = [:]
    private var allDone = 0

    /// - Parameter totals: The number of rows of each hierarchy.
    init(_ totals: [String: Int], _ report: @escaping TransferEngine.Report) {
        self.totals = totals
        self.report = report
    }

    /// Returns whether the rows of a table are a part of the total.
    func hasTotal(of name: String) -> Bool { totals[name] != nil }

    func add(_ count: Int, of name: String) {
        allDone += count
        addFurther(count, of: name)
    }

    /// Counts what is copied besides rows, without a known total.
    func addFurther(_ count: Int, of name: String) {
        self.name = name
        done[name, default: 0] += count
        report(current)
    }

    /// Reports that the copy waits.
    func pause() {
        var progress = current
        progress.isPaused = true
        report(progress)
    }

    private var current: TransferProgress {
        TransferProgress(
            name: name, done: done[name] ?? 0, total: totals[name] ?? 0, allDone: allDone, allTotal: totals.values.reduce(0, +))
    }
}
