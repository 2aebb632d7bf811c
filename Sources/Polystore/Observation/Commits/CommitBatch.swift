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
    /// All commits that were taken together; those of the batch end before `end`.
    private let taken: ArraySlice<CommittedChanges>
    private let end: Int

    private init(_ commits: ArraySlice<CommittedChanges>, of taken: ArraySlice<CommittedChanges>) {
        source = commits.first?.source
        self.taken = taken
        end = commits.endIndex
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
        for index in commits.indices where index > start && key(commits[index].source) != key(commits[start].source) {
            result.append(CommitBatch(commits[start..<index], of: commits[...]))
            start = index
        }
        if start < commits.count { result.append(CommitBatch(commits[start...], of: commits[...])) }
        return result
    }

    /// The source to be told with what became of something in a snapshot: none where the snapshot has commits of others that may be part of
    /// it, because whoever leaves out what has its own source must not miss those.
    ///
    /// - Parameters:
    ///   - sessions: The snapshot, in which what became of it was read before the call.
    ///   - isMixed: Whether other commits may be part of it.
    func source(in sessions: SessionPool, unless isMixed: (CommitBatch) -> Bool) -> (any Hashable & Sendable)? {
        guard let source, let others = rows.others(of: self, in: sessions) else { return source }
        return isMixed(others) ? nil : source
    }

    /// The commits of others that a snapshot may hold; nil where it has none.
    fileprivate func others(in sessions: SessionPool) -> CommitBatch? {
        let own = Self.key(self.source)
        var others = taken[end...].filter { Self.key($0.source) != own }
        for (store, tokens) in tokens {
            do throws(StorageError) {
                if let more = try UndeliveredCommits.find(store, beside: tokens, try sessions.reader(store)) { others.append(more) }
            } catch {
                // A store that was removed, for one: what it had is not the affair of those who read the others.
                others.append(.unknown(store))
            }
        }
        return others.isEmpty ? nil : CommitBatch(others[...], of: others[...])
    }

    /// The tokens of all commits that were taken, of the stores that the batch has changed.
    private var tokens: [Int: [HistoryToken]] {
        var tokens: [Int: [HistoryToken]] = [:]
        for part in taken.lazy.flatMap(\.parts) {
            if let token = part.token, stores.contains(part.store) { tokens[part.store, default: []].append(token) }
        }
        return tokens
    }

    /// The same commits, to be looked at in another snapshot.
    var inAnotherSnapshot: CommitBatch {
        var batch = self
        batch.rows = TouchedRows()
        return batch
    }

    private static func key(_ source: (any Hashable & Sendable)?) -> AnyHashable? { source.map { AnyHashable($0) } }

    /// The stores that have any changes.
    var stores: Set<Int> { unknown.union(changes.keys) }

    /// Whether it is known what changed in a store.
    func hasChanges(in store: Int) -> Bool { changes[store] != nil }

    /// The commits that are known to have changed a store.
    func commits(in store: Int) -> [Commit] { changes[store] ?? [] }

    /// The runs of changed keys of a store.
    func runs(in store: Int) -> some Sequence<HistoryChanges.KeyRun> { commits(in: store).lazy.flatMap(\.runs) }

    /// The number of runs, a batch being one more.
    var runCount: Int { changes.values.joined().reduce(1) { $0 + $1.runs.count } }

    /// Whether both have touched the same object of a hierarchy, as far as it is known what they touched.
    func touchesSameObjects(as other: CommitBatch, _ root: EntityIndex, _ store: Int, _ schema: Schema) -> Bool {
        keys(root, store, schema).overlap(other.keys(root, store, schema))
    }

    /// The keys of touched objects of a hierarchy, those of which pairs changed included.
    private func keys(_ root: EntityIndex, _ store: Int, _ schema: Schema) -> KeyRanges {
        KeyRanges(runs(in: store).filter { schema[$0.entity].root == root }.map(\.keys))
    }
}

/// A set of keys, as ranges in ascending order without overlaps.
struct KeyRanges {
    private var ranges: [ClosedRange<Int64>] = []

    /// The keys of ranges, in any order.
    init(_ parts: [ClosedRange<Int64>]) {
        for part in parts.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = ranges.last, last.upperBound >= part.lowerBound {
                ranges[ranges.count - 1] = last.lowerBound...max(last.upperBound, part.upperBound)
            } else {
                ranges.append(part)
            }
        }
    }

    /// Whether a key is in the set.
    func contains(_ key: Int64) -> Bool {
        var low = 0, high = ranges.count
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound < key { low = middle + 1 } else { high = middle }
        }
        return low < ranges.count && ranges[low].contains(key)
    }

    /// Whether two sets have a key in common.
    func overlap(_ other: KeyRanges) -> Bool {
        var i = 0, j = 0
        while i < ranges.count, j < other.ranges.count {
            if ranges[i].overlaps(other.ranges[j]) { return true }
            if ranges[i].upperBound < other.ranges[j].upperBound { i += 1 } else { j += 1 }
        }
        return false
    }
}

/// Commits that a snapshot holds although they were not delivered before it was taken.
private enum UndeliveredCommits {
    /// More than so many are not looked at: nobody knows what they changed then.
    private static let most = 1_000

    /// What was committed to a store beside commits that are known by their tokens; nil where it is nothing.
    ///
    /// Whether an earlier commit than these is among it does not matter: it was delivered before them.
    static func find(
        _ store: Int, beside known: [HistoryToken], _ reader: ReadSession
    ) throws(StorageError) -> CommittedChanges? {
        let positions = Set(known.map(\.position))
        guard let first = known.min(by: { $0.position < $1.position }), let last = known.max(by: { $0.position < $1.position }) else {
            return nil
        }
        if try reader.unsettledTokens().contains(where: { $0.position > first.position && !positions.contains($0.position) }) {
            return .unknown(store)
        }
        // Where positions are given in the order of the commits, what is not known comes behind what is.
        let isOrdered = !reader.store.capabilities.contains(.concurrentWriters)
        if isOrdered, try reader.currentToken().map({ $0.position <= last.position }) ?? false { return nil }
        let limit = most + (isOrdered ? 0 : positions.count), entries: [HistoryEntry]
        do throws(StorageError) {
            entries = try reader.history(since: isOrdered ? last : first, limit: limit)
        } catch  where error.code == .tokenExpired {
            return .unknown(store)
        }
        if entries.count == limit { return .unknown(store) }
        let parts = entries.lazy.filter { !positions.contains($0.token.position) }.map { entry in
            CommittedChanges.Part(store: store, token: entry.token, changes: entry.changes)
        }
        return parts.isEmpty ? nil : CommittedChanges(Array(parts), author: "", isRemote: true)
    }
}

/// Rows of changed objects as they are in the snapshot in which a batch is taken: many lists ask for the same ones.
final class TouchedRows {
    private struct Place: Hashable {
        let store: Int32
        let root: EntityIndex
        let keys: [Int64]
    }

    private var known: [Place: RowBatch] = [:]
    /// What the snapshot has beside the batch, and how many sessions had been opened when that was looked at.
    private var others: (openings: Int, batch: CommitBatch?)?

    /// What a snapshot has beside a batch, read once for as long as nobody reads in a newer one.
    fileprivate func others(of batch: CommitBatch, in sessions: SessionPool) -> CommitBatch? {
        if let others, others.openings == sessions.openings { return others.batch }
        let found = batch.others(in: sessions)
        others = (sessions.openings, found)
        return found
    }

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
