/// The position of observers in the history of one store, so that each entry is delivered once: as a commit of this stack or as one made
/// outside it.
struct HistoryGate: Sendable {
    /// The position up to which everything was read, or existed before the first observer.
    private(set) var position: Int64 = -1
    /// Whether the starting position is not yet known.
    private(set) var isStarting = true
    /// Whether positions are consecutive in the order of the commits, so that a gap is a commit made outside this stack.
    private let isOrdered: Bool
    /// Commits of this stack that were delivered before the history was read up to them.
    private var told: Set<Int64> = []
    /// The number of commits of this stack that were in doubt.
    private(set) var doubts = 0
    private var isInDoubt = false

    init(isOrdered: Bool) { self.isOrdered = isOrdered }

    /// Starts after a position.
    mutating func start(after position: Int64) {
        isStarting = false
        jump(to: position)
    }

    /// Continues from another position, after entries were removed.
    mutating func jump(to position: Int64) {
        self.position = max(self.position, position)
        told = told.filter { $0 > position }
    }

    /// Returns whether a commit of this stack can be delivered before the history was read up to it.
    func admits(_ position: Int64) -> Bool { !isInDoubt && (!isOrdered || isStarting || position <= self.position + 1) }

    /// Records that a commit is in doubt. Only the history can decide it, and later commits wait for the history because they may depend on
    /// the commit.
    mutating func doubt() {
        doubts += 1
        isInDoubt = true
    }

    /// Records that the history was read to its end after this number of commits in doubt.
    mutating func settle(_ doubts: Int) { if doubts == self.doubts { isInDoubt = false } }

    /// The number of commits delivered ahead of the history after which the history is read.
    private static let most = 256

    /// Records that the entry at a position need not be delivered.
    ///
    /// - Returns: Whether so many are recorded that the history must be read. Otherwise the first commit made outside this stack would be
    ///   delayed until all of it was read.
    mutating func skip(_ position: Int64) -> Bool {
        if isOrdered, !isStarting, position == self.position + 1 {
            self.position = position
            return false
        }
        if position <= self.position { return false }
        return told.insert(position).inserted && told.count.isMultiple(of: Self.most)
    }

    /// Advances to an entry of the history.
    ///
    /// - Returns: Whether it must still be delivered.
    mutating func pass(_ position: Int64) -> Bool {
        if isOrdered, position <= self.position { return false }
        self.position = max(self.position, position)
        return told.remove(position) == nil
    }
}
