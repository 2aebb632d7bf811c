internal import PolystoreStorage
internal import PolystoreTransfer

/// Prints the findings of a check, up to a number.
final class FindingList {
    private let limit: Int
    private let isJSON: Bool
    private let isRest: Bool
    private var count = 0

    /// - Parameter isRest: Whether the findings are those that a repair has left.
    init(limit: Int, isJSON: Bool, isRest: Bool = false) {
        self.limit = limit
        self.isJSON = isJSON
        self.isRest = isRest
    }

    func add(_ finding: CheckFinding) {
        count += 1
        if count <= limit { Console.print(isJSON ? json(finding) : text(finding)) }
    }

    /// Prints the number of findings that were not printed, or that there are none.
    func finish() {
        if isJSON { return }
        if count > limit { Console.print("and \(count - limit) more findings") }
        if count == 0, !isRest { Console.print(TextColor.green("nothing was found")) }
    }

    private func text(_ finding: CheckFinding) -> String {
        if isRest { return "left: \(finding)" }
        guard let repair = finding.repair else { return "\(finding); no repair mends it" }
        return "\(finding); --repair\(repair.consent.map { " \(Self.option($0))" } ?? "") \(repair)"
    }

    private static func option(_ consent: CheckRepair.Consent) -> String {
        switch consent {
        case .deletingBroken: "--delete-broken"
        case .removingUnreadable: "--remove-unreadable"
        }
    }

    private func json(_ finding: CheckFinding) -> String {
        JSONText.object([
            ("table", JSONText.string(finding.table)), ("key", finding.key.map(String.init) ?? "null"),
            ("property", JSONText.string(finding.property)), ("code", JSONText.string(finding.code.description)),
            ("finding", JSONText.string(finding.sentence)),
            ("repair", JSONText.string(finding.repair?.description)),
            ("option", JSONText.string(finding.repair?.consent.map(Self.option))), ("left", isRest ? "true" : "false"),
        ])
    }
}
