extension TransferReport {
    /// The report in JSON, as `polystore transfer --json` prints it.
    package var json: String {
        let items = items.map {
            JSONText.object([
                ("name", JSONText.string($0.name)), ("count", "\($0.digest.count)"), ("digest", JSONText.string($0.digest.description)),
            ])
        }
        let history = history.map {
            JSONText.object([("count", "\($0.count)"), ("digest", JSONText.string($0.description))])
        }
        func counts(_ counts: [String: Int]) -> String {
            JSONText.object(counts.sorted { $0.key < $1.key }.map { ($0.key, "\($0.value)") })
        }
        return JSONText.object([
            ("items", JSONText.array(items)), ("continued", "\(continued)"), ("wasComplete", "\(wasComplete)"),
            ("verified", "\(isVerified)"), ("history", history ?? "null"), ("historyObstacle", JSONText.string(historyObstacle)),
            ("removedReferences", counts(removedReferences)), ("omittedMembers", counts(omittedMembers)),
            ("changedValues", counts(changedValues)), ("rejected", counts(rejectedCounts)),
        ])
    }
}
