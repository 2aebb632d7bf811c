internal import Synchronization

/// What answering a request above its store has read.
public struct ResidualWork: Sendable {
    /// The entity that was asked for.
    public let entity: String
    /// The rows that the store gave.
    public let read: Int
    /// Those of them that were part of the answer, or were grouped for it.
    public let found: Int
}

/// Counts the rows of an answer above a store, and tells of them when it goes away.
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
