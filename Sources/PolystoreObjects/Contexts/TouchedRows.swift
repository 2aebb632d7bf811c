internal import PolystoreStorage

/// Rows of changed objects in the snapshot in which a batch is processed. Many lists request the same ones.
package final class TouchedRows {
    private struct Place: Hashable {
        let store: Int32
        let root: EntityIndex
        let keys: [Int64]
    }

    private var known: [Place: RowBatch] = [:]
    /// The commits of the snapshot that are not in the batch, and the number of sessions opened when they were read.
    var others: (openings: Int, batch: CommitBatch?)?

    /// Returns the commits of a snapshot that are not in a batch. They are read once, until a newer snapshot is opened.
    func others(of batch: CommitBatch, in sessions: SessionPool) -> CommitBatch? {
        if let others, others.openings == sessions.openings { return others.batch }
        let found = batch.others(in: sessions)
        others = (sessions.openings, found)
        return found
    }

    /// Returns the rows of ascending keys.
    package func rows(_ root: EntityIndex, _ keys: [Int64], _ store: Int32, _ sessions: SessionPool) throws(StorageError) -> RowBatch {
        let place = Place(store: store, root: root, keys: keys)
        if let rows = known[place] { return rows }
        let rows = RowBatch(capacity: keys.count)
        try sessions.reader(Int(store)).rows(root, keys: keys, into: rows)
        known[place] = rows
        return rows
    }
}
