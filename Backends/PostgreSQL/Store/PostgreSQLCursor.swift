#if PostgreSQL
internal import PolystoreFoundation
internal import PolystoreSQL
internal import PolystoreStorage
internal import Synchronization

/// The rows of a statement, or of a server-side cursor that is read in steps. Cells point into the results that the cursor holds until the
/// next call.
///
/// Rows that may be long are received one by one, and a call returns when it holds enough bytes: neither the number of rows nor their size
/// determines how much memory reading takes. Rows that are short are received together, which takes two thirds of the time (100,000 rows of
/// a short text in 47 instead of 75 ms).
final class PostgreSQLCursor: RowCursor {
    private let session: PostgreSQLReader
    private let layout: PostgreSQLRowLayout
    private let name: String?
    /// The number of rollbacks of the session before the server-side cursor was declared.
    private let rollbacks: Int
    /// Whether rows are received one by one.
    private let isByRow: Bool
    /// The answer of the current step, and the number of rows that it can have.
    private var step: (answer: PostgreSQLAnswer, count: Int)?
    /// The number of rows that were received in the current step, their size in memory, and the time that the calls before the current one
    /// have spent on them.
    private var received = 0
    private var receivedBytes = 0
    private var waited = Duration.zero
    /// The time at which the current call began.
    private var start = ContinuousClock.now
    /// The results that contain the current rows, and the position of the next row in the last one.
    private var parts: [PostgreSQLResult] = []
    private var row = 0
    private var isAtEnd = false
    /// Whether the program uses the session while it reads. What is left of a step has to be kept then, so steps are short.
    private var isInterrupted = false
    /// The next step, if it was sent ahead.
    private var ahead: (answer: PostgreSQLAnswer, count: Int)?
    private var steps = 0
    /// The longest wait for a step after which the next one is sent ahead.
    private static let quickStep = Duration.milliseconds(20)
    /// The size of results that are held at once.
    private static let mostBytes = 4 << 20
    /// The size of the result of a row that is copied.
    private static let mostCopiedBytes = 4096

    /// Creates a cursor over the answer to a statement, which has at most `limit` rows.
    init(_ answer: PostgreSQLAnswer, limit: Int, _ layout: PostgreSQLRowLayout, _ session: PostgreSQLReader, _ isByRow: Bool) {
        step = (answer, limit)
        self.isByRow = isByRow
        self.layout = layout
        self.session = session
        name = nil
        rollbacks = 0
    }

    /// Creates a cursor over a server-side cursor.
    init(_ name: String, _ layout: PostgreSQLRowLayout, _ session: PostgreSQLReader, _ isByRow: Bool) {
        self.name = name
        self.isByRow = isByRow
        self.layout = layout
        self.session = session
        rollbacks = session.connection.rollbacks
    }

    deinit {
        step?.answer.isAbandoned = true
        ahead?.answer.isAbandoned = true
        if let name, !isAtEnd { release(name) }
    }

    private func release(_ name: String) { if session.isOpen { session.connection.release(name, since: rollbacks) } }

    func next(into batch: RowBatch) throws(StorageError) -> Bool {
        batch.clear()
        start = .now
        try session.checkOpen()
        if let last = parts.last, row < last.count { parts = [last] } else { parts.removeAll(keepingCapacity: true) }
        if parts.isEmpty, try !receive() {
            guard try begin(), try receive() else { return false }
        }
        var bytes = try fill(batch)
        while !batch.isFull, bytes < Self.mostBytes, try receive() { bytes += try fill(batch) }
        waited += start.duration(to: .now)
        return true
    }

    /// Adds rows of the last result to a batch. Returns the size of what is held for them.
    private func fill(_ batch: RowBatch) throws(StorageError) -> Int {
        let part = parts[parts.count - 1]
        while row < part.count, !batch.isFull {
            try layout.fill(batch, part, row)
            row += 1
        }
        // The memory of a result is far larger than a short row, and another row reuses it if it is released at once.
        guard isByRow, part.bytes <= Self.mostCopiedBytes else { return part.bytes }
        batch.keepLastRow(session.core.tables.schema)
        parts.removeLast()
        return 0
    }

    /// Receives rows of the current step. Returns false at its end.
    private func receive() throws(StorageError) -> Bool {
        guard let (answer, count) = step else { return false }
        guard let part = try session.connection.nextPart(of: answer) else {
            try finish(answer, count)
            return false
        }
        received += part.count
        receivedBytes += part.bytes
        parts.append(part)
        row = 0
        // The end of the step is known: the connection becomes free, or the server prepares the next step meanwhile.
        if received == count || !isByRow, try session.connection.nextPart(of: answer) == nil { try finish(answer, count) }
        return true
    }

    /// Finishes the current step, whose rows were received.
    private func finish(_ answer: PostgreSQLAnswer, _ count: Int) throws(StorageError) {
        step = nil
        steps += 1
        isAtEnd = received < count
        isInterrupted = isInterrupted || isByRow && answer.wasInterrupted
        layout.size.learn(rows: received, bytes: receivedBytes)
        guard let name else { return }
        if isAtEnd { return release(name) }
        // A program that has used one step will probably read on: the server prepares the next one meanwhile. The next request of the
        // session would wait for a slow step, also if the program does not read on.
        if steps > 1, waited + start.duration(to: .now) < Self.quickStep, session.sendsAhead { ahead = try fetch(name) }
    }

    /// Begins the next step. Returns false if there is none.
    private func begin() throws(StorageError) -> Bool {
        guard let name, !isAtEnd else { return false }
        received = 0
        receivedBytes = 0
        waited = .zero
        if let ahead { step = ahead } else { step = try fetch(name) }
        ahead = nil
        return true
    }

    private func fetch(_ name: String) throws(StorageError) -> (answer: PostgreSQLAnswer, count: Int) {
        let count = isInterrupted ? layout.size.fewRows : layout.size.rows
        let step = PostgreSQLStep("FETCH \(count) FROM \(name)")
        return (try session.connection.begin(step, rowByRow: isByRow), count)
    }
}
#endif
