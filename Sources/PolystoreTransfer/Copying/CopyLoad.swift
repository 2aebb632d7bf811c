internal import PolystoreStorage

/// Rows of a copy that the target does not have yet.
struct CopyLoad {
    /// The kinds of rows.
    enum Rows {
        /// Rows of the hierarchy of a root.
        case objects(EntityIndex, RowBatch)
        /// Pairs of a link table.
        case pairs(Int, [LinkPair])
        /// Transactions of the history.
        case transactions([HistoryEntry])
    }

    /// The name of the table.
    let name: String
    let rows: Rows
    /// The place of the rows in their table.
    let part: CopiedPart

    /// Writes the rows.
    func write(to writer: WriteSession) throws(StorageError) {
        switch rows {
        case .objects(let root, let batch): try load(root, batch, writer)
        case .pairs(let link, let pairs): try writer.load(link: link, pairs)
        case .transactions(let entries): try writer.restoreHistory(entries)
        }
    }

    private func load(_ root: EntityIndex, _ batch: RowBatch, _ writer: WriteSession) throws(StorageError) {
        do throws(StorageError) { try writer.load(root, batch) } catch  where error.code == .alreadyExists {
            // The target was empty, so the duplicate comes from the source.
            throw StorageError(
                .corrupted, "the source returned an object of \(name) twice, so it is damaged; restore a backup of the source",
                details: error.details, cause: error)
        }
    }
}
