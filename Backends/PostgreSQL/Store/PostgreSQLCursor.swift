#if PostgreSQL
internal import Foundation
internal import PolystoreSQL
internal import PolystoreStorage
internal import Synchronization

/// The rows of a result, or of a server-side cursor that is read in steps. Cells point into the result.
final class PostgreSQLCursor: RowCursor {
    private let session: PostgreSQLReader
    private let layout: PostgreSQLRowLayout
    private let name: String?
    private var result: PostgreSQLResult?
    private var row = 0
    private var isAtEnd = false
    /// The next step, if it was sent ahead, and its number of rows.
    private var ahead: (answer: PostgreSQLAnswer, count: Int)?
    private var steps = 0
    /// The longest wait for a step after which the next one is sent ahead.
    private static let quickStep = Duration.milliseconds(20)

    /// Creates a cursor over a complete result.
    init(_ result: PostgreSQLResult, _ layout: PostgreSQLRowLayout, _ session: PostgreSQLReader) {
        self.result = result
        self.layout = layout
        self.session = session
        name = nil
        layout.size.learn(result)
    }

    /// Creates a cursor over a server-side cursor.
    init(_ name: String, _ layout: PostgreSQLRowLayout, _ session: PostgreSQLReader) {
        self.name = name
        self.layout = layout
        self.session = session
    }

    func next(into batch: RowBatch) throws(StorageError) -> Bool {
        batch.clear()
        try session.checkOpen()
        if result == nil || row >= result?.count ?? 0 { try step() }
        guard let result else { return false }
        while row < result.count, !batch.isFull {
            try layout.fill(batch, result, row)
            row += 1
        }
        return batch.count > 0
    }

    private func step() throws(StorageError) {
        guard let name, !isAtEnd else {
            result = nil
            return
        }
        let start = ContinuousClock.now, (next, count) = try fetch(name), isQuick = start.duration(to: .now) < Self.quickStep
        layout.size.learn(next)
        isAtEnd = next.count < count
        result = next.count > 0 ? next : nil
        row = 0
        steps += 1
        if isAtEnd { return try session.connection.execute("CLOSE \(name)") }
        // A program that has used one step will probably read on: the server prepares the next one meanwhile. The next request of the
        // session would wait for a slow step, also if the program does not read on.
        if steps > 1, isQuick, session.sendsAhead {
            let count = layout.size.rows
            ahead = (try session.connection.sendAhead("FETCH \(count) FROM \(name)"), count)
        }
    }

    private func fetch(_ name: String) throws(StorageError) -> (rows: PostgreSQLResult, count: Int) {
        if let (answer, count) = ahead {
            ahead = nil
            return (try session.connection.receive(answer), count)
        }
        let count = layout.size.rows
        return (try session.connection.query("FETCH \(count) FROM \(name)", []), count)
    }
}
#endif
