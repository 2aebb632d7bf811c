internal import PolystoreStorage

/// Counts the rows that are copied, compared or checked, and reports them.
final class WorkProgress {
    private let totals: [String: Int]
    private let isVerifying: Bool
    private let report: TransferEngine.Report
    private var name = ""
    /// The number of completed rows of each table.
    private var done: [String: Int] = [:]
    private var allDone = 0

    /// - Parameters:
    ///   - totals: The number of rows of each hierarchy.
    ///   - isVerifying: Whether the rows are only read.
    init(_ totals: [String: Int], isVerifying: Bool = false, _ report: @escaping TransferEngine.Report) {
        self.totals = totals
        self.isVerifying = isVerifying
        self.report = report
    }

    /// Counts rows that are read in some stores, a number of times; nil without a closure that receives the progress. The totals come from
    /// sessions of their own, because a session of a damaged store may be of no use after an error; one that is not found is 0.
    convenience init?(reading stores: [ReadSession], times: Int = 1, _ report: TransferEngine.Report?) {
        guard let report else { return nil }
        var totals: [String: Int] = [:]
        for store in stores.map(\.store) {
            guard let reader = try? store.beginRead() else { continue }
            defer { reader.end() }
            for root in reader.schema.roots {
                totals[reader.schema.entities[root].name, default: 0] += ((try? Contents(reader).count(root)) ?? 0) * times
            }
        }
        self.init(totals, isVerifying: true, report)
    }

    /// Returns a count from zero of rows that were written and are now read again.
    func verifying() -> WorkProgress { WorkProgress(totals, isVerifying: true, report) }

    /// Returns whether the rows of a table are a part of the total.
    func hasTotal(of name: String) -> Bool { totals[name] != nil }

    func add(_ count: Int, of name: String) {
        allDone += count
        addFurther(count, of: name)
    }

    /// Counts what is copied or read besides rows, without a known total.
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
            name: name, done: done[name] ?? 0, total: totals[name] ?? 0, allDone: allDone, allTotal: totals.values.reduce(0, +),
            isVerifying: isVerifying)
    }
}
