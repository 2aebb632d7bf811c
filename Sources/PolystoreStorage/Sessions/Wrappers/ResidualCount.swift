/// Counts the rows that are processed above a store for a result, and reports the counts when it is deinitialised.
final class ResidualCount {
    var read = 0
    /// The number of rows at the ends of relationships that were read.
    var related = 0
    var found = 0
    private let entity: String
    private let report: (@Sendable (ResidualWork) -> Void)?

    init(_ entity: String, _ report: (@Sendable (ResidualWork) -> Void)?) {
        self.entity = entity
        self.report = report
    }

    deinit { if read + related > 0 { report?(ResidualWork(entity: entity, read: read, related: related, found: found)) } }
}
