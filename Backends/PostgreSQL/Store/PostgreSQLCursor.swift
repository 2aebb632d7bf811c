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

/// The number of rows to fetch at once. It depends on the size of previous rows, so that long values do not fill the memory.
final class PostgreSQLFetchSize: Sendable {
    /// Beyond a thousand rows, more rows make no difference.
    private static let mostRows = 2000, mostBytes = 4 << 20
    /// The number of rows before the size of a row is known.
    private static let firstRows = 64

    private let rowBytes = Atomic(0)

    /// The number of rows to fetch.
    var rows: Int {
        let bytes = rowBytes.load(ordering: .relaxed)
        return bytes == 0 ? Self.firstRows : min(max(Self.mostBytes / bytes, 1), Self.mostRows)
    }

    /// Updates the row size from a result.
    func learn(_ result: PostgreSQLResult) {
        if result.count > 0 { rowBytes.store(max(result.bytes / result.count, 1), ordering: .relaxed) }
    }
}

/// The column positions of the parts of a row in a result.
final class PostgreSQLRowLayout: Sendable {
    let sql: String
    let size = PostgreSQLFetchSize()
    private let keyColumn: Int
    private let entityColumn: Int?
    private let versionColumn: Int
    private let entities: [(index: EntityIndex, columns: [Int])?]
    private let name: String

    init(_ select: SQLSelect, _ tables: SQLTables, root: EntityIndex) {
        sql = select.text.rendered(.postgreSQL).sql
        keyColumn = select.keyColumn
        entityColumn = select.entityColumn
        versionColumn = select.versionColumn
        name = tables.schema.entities[root].name
        var entities = [(index: EntityIndex, columns: [Int])?](repeating: nil, count: Int(tables.entityNumbers.max() ?? 0) + 1)
        for (index, columns) in select.slots {
            entities[select.entityColumn == nil ? 0 : Int(tables.entityNumbers[index])] = (index, columns)
        }
        self.entities = entities
    }

    /// Returns the key of a row of a result.
    func key(_ result: PostgreSQLResult, _ row: Int, _ batch: RowBatch) throws(StorageError) -> Int64 {
        try result.cell(row, keyColumn, batch).int
    }

    /// Adds a row of a result to a batch.
    func fill(_ batch: RowBatch, _ result: PostgreSQLResult, _ row: Int) throws(StorageError) {
        let number = if let entityColumn { Int(try result.cell(row, entityColumn, batch).int) } else { 0 }
        guard number >= 0, number < entities.count, let entity = entities[number] else {
            throw StorageError(
                .corrupted, "a row of \(name) has an unknown entity number; restore the database from a backup",
                details: .init(entity: name))
        }
        let key = try key(result, row, batch), version = try result.cell(row, versionColumn, batch).int
        let cells = batch.appendRow(key: key, version: version, entity: entity.index, slots: entity.columns.count)
        for (slot, column) in entity.columns.enumerated() { cells[slot] = column < 0 ? .null : try result.cell(row, column, batch) }
    }
}
#endif
