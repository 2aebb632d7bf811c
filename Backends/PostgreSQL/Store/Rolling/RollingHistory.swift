#if PostgreSQL
internal import PolystoreFoundation
internal import PolystoreSQL
internal import PolystoreStorage

/// The history of a store whose online migration ends with the newer version. While other programs work, each entry gets its final form
/// beside its current one, so that at the end one column replaces the other.
struct RollingHistory {
    /// The number of history entries that are written at once.
    private static let entriesAtOnce = 1000
    /// The number of rounds after which the rest is written while all other programs wait, because they may write as fast as this type.
    private static let mostRounds = 20

    private let core: PostgreSQLCore
    private let connection: PostgreSQLConnection
    /// The position of the step. Entries up to it stay in terms of their own version.
    private let since: Int64
    private let schema: Schema
    private let past: PastVersion

    init(_ core: PostgreSQLCore, _ connection: PostgreSQLConnection, _ since: Int64, _ schema: Schema, _ past: PastVersion) {
        self.core = core
        self.connection = connection
        self.since = since
        self.schema = schema
        self.past = past
    }

    /// Writes the final form of existing entries, round by round, until a round has few.
    ///
    /// - Returns: The position up to which all entries have been written.
    func translateMost() throws(StorageError) -> Int64 {
        var done = Int64.min
        for _ in 0..<Self.mostRounds {
            // No entry appears any more below the lowest transaction ID in progress.
            let settled = try connection.query(
                "SELECT pg_snapshot_xmin(pg_current_snapshot())::text::int8 + \(core.historyOffset)::int8 - 1", []
            ).integer(0, 0)
            let count = try translate(after: done)
            done = max(done, settled ?? done)
            if count < Self.entriesAtOnce { break }
        }
        return done
    }

    /// Writes the remaining entries, and replaces the old form by the new one. No other program may be active.
    func finish(after position: Int64) throws(StorageError) {
        _ = try translate(after: position)
        try connection.execute(
            """
            ALTER TABLE polystore_history DROP COLUMN changes;
            ALTER TABLE polystore_history RENAME COLUMN changes_next TO changes;
            ALTER TABLE polystore_history ADD CONSTRAINT polystore_history_changes CHECK (changes IS NOT NULL) NOT VALID
            """)
    }

    /// Writes the final form of the entries after a position.
    ///
    /// - Returns: The number of entries that were written.
    private func translate(after position: Int64) throws(StorageError) -> Int {
        var last = position, count = 0
        while true {
            let found = try connection.query(
                """
                SELECT position, CASE WHEN position > $3::int8 THEN changes END FROM (
                    SELECT position, changes, sum(octet_length(changes)) OVER (ORDER BY position ROWS UNBOUNDED PRECEDING)
                        - octet_length(changes) AS bytes
                    FROM (SELECT position, changes FROM polystore_history WHERE position > $1::int8 AND changes_next IS NULL
                        ORDER BY position LIMIT $2::int8) AS entries) AS entries
                WHERE bytes < \(PostgreSQLRows.usualBytes) ORDER BY position
                """,
                [PostgreSQLParameter(last), PostgreSQLParameter(Int64(Self.entriesAtOnce)), PostgreSQLParameter(since)])
            guard found.count > 0, let newest = found.integer(found.count - 1, 0) else { return count }
            try write(found)
            last = newest
            count += found.count
        }
    }

    private func write(_ found: PostgreSQLResult) throws(StorageError) {
        let scratch = RowBatch(capacity: 1), batch = RowBatch(capacity: 1)
        var kept: [Int64] = [], positions: [Int64] = [], texts: [Cell] = []
        for row in 0..<found.count {
            let position = found.integer(row, 0) ?? 0
            if position <= since {
                kept.append(position)
                continue
            }
            scratch.clear()
            guard let changes = HistoryRecorder.decode(try found.cell(row, 1, scratch).bytes) else { throw .damagedHistory }
            try changes.check(schema)
            var recorder = HistoryRecorder()
            recorder.add(past.translated(changes))
            positions.append(position)
            texts.append(batch.cell(for: .data(Data(recorder.encode()))))
        }
        if !kept.isEmpty {
            _ = try connection.query(
                "UPDATE polystore_history SET changes_next = changes WHERE position = ANY($1::int8[])", [PostgreSQLParameter(keys: kept)])
        }
        if positions.isEmpty { return }
        _ = try connection.query(
            "UPDATE polystore_history h SET changes_next = u.c FROM unnest($1::int8[], $2::bytea[]) u(p, c) WHERE h.position = u.p",
            [PostgreSQLParameter(keys: positions), PostgreSQLParameter(array: texts, .data)])
    }
}
#endif
