/// Counts the rows that are processed above a store for a result, and reports the counts when it is deinitialised.
final class ResidualCount {
    var read = 0
    var found = 0
    private let entity: String
    private let report: (@Sendable (ResidualWork) -> Void)?

    init(_ entity: String, _ report: (@Sendable (ResidualWork) -> Void)?) {
        self.entity = entity
        self.report = report
    }

    deinit { if read > 0 { report?(ResidualWork(entity: entity, read: read, found: found)) } }
}
