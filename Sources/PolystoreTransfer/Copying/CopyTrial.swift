internal import PolystoreStorage

/// The search for the rows that a target refuses, after it has refused some of them: they are written in a transaction that is rolled back.
struct CopyTrial {
    private let contents: Contents
    private let rejects: RejectedRows
    private let limit: WorkLimit?
    private let writer: WriteSession

    /// - Throws: `unsupported` for a target without savepoints.
    init(_ contents: Contents, _ target: OpenStore, _ rejects: RejectedRows, _ limit: WorkLimit?) throws(StorageError) {
        self.contents = contents
        self.rejects = rejects
        self.limit = limit
        writer = try target.beginWrite(WriteOptions(limit: limit))
    }

    /// Tries all rows, and rejects those that the target refuses.
    ///
    /// - Parameter copied: The number of rows of each hierarchy that the target has already.
    func run(after copied: [String: Int]) throws(StorageError) {
        defer { writer.end() }
        for root in contents.schema.roots {
            var left = copied[contents.schema.entities[root].name] ?? 0
            try contents.batches(root) { batch throws(StorageError) in
                try limit?.check()
                let skipped = min(left, batch.count)
                left -= skipped
                if skipped < batch.count { try attempt(batch, skipped..<batch.count, root) }
            }
        }
    }

    private func attempt(_ batch: RowBatch, _ range: Range<Int>, _ root: EntityIndex) throws(StorageError) {
        try Self.bisect(batch, range, writer, contents, rejects, limit) { rows throws(StorageError) in try writer.load(root, rows) }
    }

    /// Writes rows of a batch as far as the target takes them, and rejects the others.
    ///
    /// - Parameter write: Writes some of the rows.
    static func bisect(
        _ batch: RowBatch, _ range: Range<Int>, _ writer: WriteSession, _ contents: Contents, _ rejects: RejectedRows, _ limit: WorkLimit?,
        _ write: (RowBatch) throws(StorageError) -> Void
    ) throws(StorageError) {
        try limit?.check()
        let savepoint = try writer.savepoint()
        do throws(StorageError) {
            try write(range == 0..<batch.count ? batch : contents.rows(of: batch, range))
            // Before a savepoint the engine checks everything that it has not checked yet.
            try writer.release(try writer.savepoint())
            try writer.release(savepoint)
            return
        } catch {
            if !RejectedRows.concernsRow(error) { throw error }
            try writer.rollback(to: savepoint)
            try writer.release(savepoint)
            if range.count == 1 { return try reject(batch.row(range.lowerBound), error, contents, rejects) }
        }
        let middle = range.lowerBound + range.count / 2
        try bisect(batch, range.lowerBound..<middle, writer, contents, rejects, limit, write)
        try bisect(batch, middle..<range.upperBound, writer, contents, rejects, limit, write)
    }

    private static func reject(
        _ row: borrowing RowView, _ error: StorageError, _ contents: Contents, _ rejects: RejectedRows
    ) throws(StorageError) {
        let description = contents.schema[row.entity]
        for slot in description.slots.indices {
            guard let destination = description.slots[slot].destination, !row[slot].isNull else { continue }
            // A database that checks references may refuse the row because of the other one. A reference to a row that was left out before is
            // one to an object of the target, or nil.
            if rejects.isNewlyRefused(row[slot].int, contents.origin(contents.schema[destination].root)) { return }
        }
        try rejects.addRefused(
            RejectedRow(
                entity: description.name, key: row.key, property: error.details.property, reason: error.message,
                root: contents.origin(description.root)))
    }
}
