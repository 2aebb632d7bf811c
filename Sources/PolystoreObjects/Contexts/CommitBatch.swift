internal import PolystoreStorage

/// Consecutive commits with the same source, which observers process in one step.
package struct CommitBatch {
    /// The changes of a commit in one store.
    package struct Commit {
        /// The history position; nil if there is none.
        package let position: Int64?
        package let runs: [HistoryChanges.KeyRun]
    }

    /// The source identifier given by the program; nil if it gave none, or for commits made outside this stack.
    package let source: (any Hashable & Sendable)?
    /// The distinct authors in order.
    let authors: [String]
    /// The stores with unknown changes.
    package private(set) var unknown: Set<Int> = []
    /// The known changes, by store.
    private var changes: [Int: [Commit]] = [:]
    /// The entities with known changes, by store.
    package private(set) var entities: [Int: Set<EntityIndex>] = [:]
    /// The changed rows, read once for all lists and monitors.
    package private(set) var rows = TouchedRows()
    /// The link tables with known changes, by store.
    package private(set) var links: [Int: Set<Int>] = [:]
    /// All commits that were taken together. Those of the batch end before `end`.
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

    /// Returns the commits, split where the source changes.
    package static func batches(of commits: [CommittedChanges]) -> [CommitBatch] {
        var result: [CommitBatch] = [], start = 0
        for index in commits.indices where index > start && key(commits[index].source) != key(commits[start].source) {
            result.append(CommitBatch(commits[start..<index], of: commits[...]))
            start = index
        }
        if start < commits.count { result.append(CommitBatch(commits[start...], of: commits[...])) }
        return result
    }

    /// Returns the source to report with a result computed in a snapshot. It is nil if the snapshot contains commits of other sources that
    /// may affect the result, because an observer that ignores changes of its own source must not miss those.
    ///
    /// - Parameters:
    ///   - sessions: The snapshot, in which the result was read before the call.
    ///   - isMixed: Whether other commits may affect the result.
    package func source(in sessions: SessionPool, unless isMixed: (CommitBatch) -> Bool) -> (any Hashable & Sendable)? {
        guard let source, let others = rows.others(of: self, in: sessions) else { return source }
        return isMixed(others) ? nil : source
    }

    /// Returns the commits of other sources that a snapshot may contain; nil if there are none.
    func others(in sessions: SessionPool) -> CommitBatch? {
        let own = Self.key(self.source)
        var others = taken[end...].filter { Self.key($0.source) != own }
        for (store, tokens) in tokens {
            do throws(StorageError) {
                if let more = try UndeliveredCommits.find(store, beside: tokens, try sessions.reader(store)) { others.append(more) }
            } catch {
                // The store may have been removed, for example. This must not affect observers of other stores.
                others.append(.unknown(store))
            }
        }
        return others.isEmpty ? nil : CommitBatch(others[...], of: others[...])
    }

    /// The tokens of all commits that were taken, for the stores that the batch changes.
    private var tokens: [Int: [HistoryToken]] {
        var tokens: [Int: [HistoryToken]] = [:]
        for part in taken.lazy.flatMap(\.parts) {
            if let token = part.token, stores.contains(part.store) { tokens[part.store, default: []].append(token) }
        }
        return tokens
    }

    /// The same commits, for evaluation in another snapshot.
    package var inAnotherSnapshot: CommitBatch {
        var batch = self
        batch.rows = TouchedRows()
        return batch
    }

    private static func key(_ source: (any Hashable & Sendable)?) -> AnyHashable? { source.map { AnyHashable($0) } }

    /// The stores with changes.
    package var stores: Set<Int> { unknown.union(changes.keys) }

    /// Returns whether the batch has known changes in a store.
    package func hasChanges(in store: Int) -> Bool { changes[store] != nil }

    /// Returns the commits with known changes in a store.
    package func commits(in store: Int) -> [Commit] { changes[store] ?? [] }

    /// Returns the runs of changed keys of a store.
    package func runs(in store: Int) -> some Sequence<HistoryChanges.KeyRun> { commits(in: store).lazy.flatMap(\.runs) }

    /// The number of runs; a batch counts as one more.
    package var runCount: Int { changes.values.joined().reduce(1) { $0 + $1.runs.count } }

    /// Returns whether both batches have known changes of the same object of a hierarchy.
    package func touchesSameObjects(as other: CommitBatch, _ root: EntityIndex, _ store: Int, _ schema: Schema) -> Bool {
        keys(root, store, schema).overlap(other.keys(root, store, schema))
    }

    /// Returns the keys of changed objects of a hierarchy.
    private func keys(_ root: EntityIndex, _ store: Int, _ schema: Schema) -> KeyRanges {
        KeyRanges(runs(in: store).filter { schema[$0.entity].root == root }.map(\.keys))
    }
}

/// The commits that a snapshot contains although they were not delivered before it was taken.
private enum UndeliveredCommits {
    /// The maximum number of such commits that are read. Beyond it the changes are unknown.
    private static let most = 1_000

    /// Returns the changes committed to a store other than the commits with known tokens; nil if there are none.
    ///
    /// Commits earlier than the known ones do not matter, because they were delivered before them.
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
        // If positions follow the order of the commits, unknown commits have greater positions than known ones.
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
