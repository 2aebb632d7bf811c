internal import Foundation
internal import PolystoreTransfer

/// The text of a transfer's result.
enum TransferText {
    static func lines(_ report: TransferReport, seconds: Double) -> [String] {
        let rows = report.items.reduce(0) { $0 + $1.digest.count }, earlier = report.continued
        let history = report.history.map { " and \($0.count) transactions of the history" } ?? ""
        let obstacle = report.historyObstacle.map { ["note: the history was left out, because \($0)"] } ?? []
        if report.wasComplete {
            return ["the target has contained all \(rows) rows of \(report.items.count) tables\(history) before; nothing was copied"]
                + obstacle
        }
        var lines = [
            "copied \(rows) rows of \(report.items.count) tables\(history) in \(String(format: "%.2f", seconds)) s"
                + (earlier > 0 ? ", \(earlier) of them before an interruption" : "")
        ]
        lines += sorted(report.removedReferences).map { "note: \($0.value) references of \($0.key) are nil in the copy" }
        lines += sorted(report.omittedMembers).map {
            "note: \($0.value) members of \($0.key) were left out, because only one side was copied"
        }
        lines += sorted(report.changedValues).map {
            "note: \($0.value) values of \($0.key) have the nearest value of the new type in the copy, or nil"
        }
        lines += obstacle
        let same = report.history == nil ? "" : " and that of the history"
        let rest = report.rejected.isEmpty ? "" : ", without the rows that were left out"
        if report.isVerified { lines.append("verified: all \(report.items.count) digests\(same) are equal\(rest)") }
        return lines
    }

    private static func sorted(_ counts: [String: Int]) -> [(key: String, value: Int)] { counts.sorted { $0.key < $1.key } }
}
