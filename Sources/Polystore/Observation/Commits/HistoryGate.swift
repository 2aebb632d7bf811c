internal import PolystoreStorage

/// How far observers have come in the history of one store, so that each entry is told once: as a commit of this stack or as one of others.
struct HistoryGate: Sendable {
    /// Everything up to here was told, or was there before anybody observed.
    private(set) var position: Int64 = -1
    /// Whether it is not yet known where to begin.
    private(set) var isStarting = true
    /// Whether positions are given one by one in the order of the commits, so that a gap is the commit of somebody else.
    private let isOrdered: Bool
    /// Commits of this stack that were told before the history came to them.
    private var told: Set<Int64> = []
    /// Commits of this stack that wait for those of others before them.
    private var deferred: [Int64: CommittedChanges] = [:]
    /// How often a commit of this stack may have happened although the engine could not say so.
    private(set) var doubts = 0
    private var isInDoubt = false

    init(isOrdered: Bool) { self.isOrdered = isOrdered }

    /// Begins after a position.
    mutating func start(after position: Int64) {
        isStarting = false
        self.position = position
        told = told.filter { $0 > position }
    }

    /// Whether a commit of this stack can be told now; otherwise it is when the history has come to it.
    mutating func admit(_ commit: CommittedChanges, at position: Int64) -> Bool {
        if isInDoubt || (isOrdered && !isStarting && position > self.position + 1) {
            deferred[position] = commit
            return false
        }
        skip(position)
        return true
    }

    /// A commit may have happened: only the history tells, and what comes after waits for it, because it may rest on it.
    mutating func doubt() {
        doubts += 1
        isInDoubt = true
    }

    /// The history was told to its end since there were so many doubts.
    ///
    /// - Returns: What has waited and need not any more.
    mutating func settle(_ doubts: Int) -> [CommittedChanges] {
        guard isInDoubt, doubts == self.doubts else { return [] }
        isInDoubt = false
        let waiting = deferred.sorted { $0.key < $1.key }
        deferred = [:]
        return waiting.filter { admit($0.value, at: $0.key) }.map(\.value)
    }

    /// Remembers that the entry at a position need not be told.
    mutating func skip(_ position: Int64) {
        if isOrdered, !isStarting, position == self.position + 1 {
            self.position = position
        } else if position > self.position {
            told.insert(position)
        }
    }

    /// What is to be told of an entry of the history; nil where it was told before.
    mutating func pass(_ entry: HistoryEntry, _ store: Int) -> CommittedChanges? {
        if isOrdered, entry.token.position <= position { return nil }
        position = max(position, entry.token.position)
        if let own = deferred.removeValue(forKey: entry.token.position) { return own }
        if told.remove(entry.token.position) != nil { return nil }
        let part = CommittedChanges.Part(store: store, token: entry.token, changes: entry.changes)
        return CommittedChanges([part], author: entry.author, isRemote: true)
    }

    /// The commits that wait.
    var left: [CommittedChanges] { deferred.sorted { $0.key < $1.key }.map(\.value) }

    /// The positions of the commits that wait.
    var deferredPositions: some Sequence<Int64> { deferred.keys }

    /// Goes on from another position, after entries were forgotten; what waited is told.
    mutating func jump(to position: Int64) -> [CommittedChanges] {
        self.position = max(self.position, position)
        told = told.filter { $0 > position }
        defer { deferred = [:] }
        return left
    }
}
