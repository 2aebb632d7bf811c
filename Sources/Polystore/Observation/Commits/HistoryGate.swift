/// How far observers have come in the history of one store, so that each entry is told once: as a commit of this stack or as one of others.
struct HistoryGate: Sendable {
    /// Everything up to here was read, or was there before anybody observed.
    private(set) var position: Int64 = -1
    /// Whether it is not yet known where to begin.
    private(set) var isStarting = true
    /// Whether positions are given one by one in the order of the commits, so that a gap is the commit of somebody else.
    private let isOrdered: Bool
    /// Commits of this stack that were told before the history came to them.
    private var told: Set<Int64> = []
    /// How often a commit of this stack may have happened although the engine could not say so.
    private(set) var doubts = 0
    private var isInDoubt = false

    init(isOrdered: Bool) { self.isOrdered = isOrdered }

    /// Begins after a position.
    mutating func start(after position: Int64) {
        isStarting = false
        jump(to: position)
    }

    /// Goes on from another position, after entries were forgotten.
    mutating func jump(to position: Int64) {
        self.position = max(self.position, position)
        told = told.filter { $0 > position }
    }

    /// Whether a commit of this stack can be told before the history has come to it.
    func admits(_ position: Int64) -> Bool { !isInDoubt && (!isOrdered || isStarting || position <= self.position + 1) }

    /// A commit may have happened: only the history tells, and what comes after waits for it, because it may rest on it.
    mutating func doubt() {
        doubts += 1
        isInDoubt = true
    }

    /// The history was read to its end since there were so many doubts.
    mutating func settle(_ doubts: Int) { if doubts == self.doubts { isInDoubt = false } }

    /// After so many commits that were told before the history came to them it is read.
    private static let most = 256

    /// Remembers that the entry at a position need not be told.
    ///
    /// - Returns: Whether so many are remembered that the history is to be read: the first commit of somebody else would wait until it has been.
    mutating func skip(_ position: Int64) -> Bool {
        if isOrdered, !isStarting, position == self.position + 1 {
            self.position = position
            return false
        }
        if position <= self.position { return false }
        return told.insert(position).inserted && told.count.isMultiple(of: Self.most)
    }

    /// Goes on to an entry of the history.
    ///
    /// - Returns: Whether it is still to be told.
    mutating func pass(_ position: Int64) -> Bool {
        if isOrdered, position <= self.position { return false }
        self.position = max(self.position, position)
        return told.remove(position) == nil
    }
}
