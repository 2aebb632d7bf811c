internal import PolystoreStorage

/// Commits that observers take in one step: they come from the same source and follow each other.
struct CommitBatch {
    /// What a commit changed in one store.
    struct Commit {
        /// Its place in the history; nil where there is none.
        let position: Int64?
        let runs: [HistoryChanges.KeyRun]
    }

    /// What the program knows the commits by; nil where it gave nothing, or they are of others.
    let source: (any Hashable & Sendable)?
    /// The authors in order, each once.
    let authors: [String]
    /// The stores of which it is not known what changed.
    private(set) var unknown: Set<Int> = []
    /// What is known, by store.
    private var changes: [Int: [Commit]] = [:]
    /// The entities that are known to have changed, by store.
    private(set) var entities: [Int: Set<EntityIndex>] = [:]
    /// The rows that changed, read once for all who ask.
    private(set) var rows = TouchedRows()
    /// The link tables that are known to have changed, by store.
    private(set) var links: [Int: Set<Int>] = [:]

    private init(_ commits: ArraySlice<CommittedChanges>) {
        source = commits.first?.source
        var authors: [String] = []
        for commit in commits {
            if !authors.contains(commit.author) { authors.append(commit.author) }
            for part in commit.parts {
                guard let known = part.changes else {
                    unknown.insert(part.store)
                    continue
                }
                changes[part.store, default: []].append(Commit(position: part.token?.position, runs: Array(known.keyRuns)))
                for run in known.keyRuns {
                    if case .links(let link) = run.kind {
                        links[part.store, default: []].insert(link)
                    } else {
                        entities[part.store, default: []].insert(run.entity)
                    }
                }
            }
        }
        self.authors = authors
    }

    /// The commits cut where the source changes.
    static func batches(of commits: [CommittedChanges]) -> [CommitBatch] {
        var result: [CommitBatch] = [], start = 0
        for index in commits.indices where index > start && key(commits[index]) != key(commits[start]) {
            result.append(CommitBatch(commits[start..<index]))
            start = index
        }
        if start < commits.count { result.append(CommitBatch(commits[start...])) }
        return result
    }

    /// The same commits, to be looked at in another snapshot.
    var inAnotherSnapshot: CommitBatch {
        var batch = self
        batch.rows = TouchedRows()
        return batch
    }

    private static func key(_ commit: CommittedChanges) -> AnyHashable? { commit.source.map { AnyHashable($0) } }

    /// The stores that have any changes.
    var stores: Set<Int> { unknown.union(changes.keys) }

    /// Whether it is known what changed in a store.
    func hasChanges(in store: Int) -> Bool { changes[store] != nil }

    /// The commits that are known to have changed a store.
    func commits(in store: Int) -> [Commit] { changes[store] ?? [] }

    /// The runs of changed keys of a store.
    func runs(in store: Int) -> some Sequence<HistoryChanges.KeyRun> { commits(in: store).lazy.flatMap(\.runs) }
}

/// Rows of changed objects as they are in the snapshot in which a batch is taken: many lists ask for the same ones.
final class TouchedRows {
    private struct Place: Hashable {
        let store: Int32
        let root: EntityIndex
        let keys: [Int64]
    }

    private var known: [Place: RowBatch] = [:]

    /// The rows of keys, which ascend.
    func rows(_ root: EntityIndex, _ keys: [Int64], _ store: Int32, _ sessions: SessionPool) throws(StorageError) -> RowBatch {
        let place = Place(store: store, root: root, keys: keys)
        if let rows = known[place] { return rows }
        let rows = RowBatch(capacity: keys.count)
        try sessions.reader(Int(store)).rows(root, keys: keys, into: rows)
        known[place] = rows
        return rows
    }
}
