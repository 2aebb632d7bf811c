/// How far a store has come: what a look at its files finds.
public struct CommitCount: Sendable, Hashable {
    /// How many transactions were committed by anybody, from some beginning; nil where the engine does not count them.
    public var commits: Int64?
    /// A number that changes whenever another connection commits; only where commits are not counted.
    public var version: Int64
    /// How many of them wrote an entry of the history.
    public var listed: Int64
    /// How many others changed nothing that an observer has to know, less those that changed rows beside the entry that they wrote.
    public var quiet: Int64

    /// A count.
    public init(commits: Int64?, version: Int64 = 0, listed: Int64, quiet: Int64) {
        self.commits = commits
        self.version = version
        self.listed = listed
        self.quiet = quiet
    }

    /// The commits that neither the history nor the quiet count knows.
    fileprivate var unlisted: Int64 { (commits ?? 0) &- listed &- quiet }
}

/// Finds the commits of others by counting.
///
/// Every commit of this library raises one of two numbers beside the data by one: the position of the history, or the count of commits that
/// an observer need not know. Of commits that raise neither, somebody else has written rows, or many were loaded.
public struct CommitLedger: Sendable {
    private let own: OwnCommits
    private var seen: CommitCount?
    private var ownSeen = OwnCommits.Counts()
    /// The commits of others that were signalled.
    private var foreignListed: Int64 = 0
    private var foreignUnlisted: Int64 = 0

    /// A ledger that begins with the first count.
    public init(_ own: OwnCommits) { self.own = own }

    /// Whether it has begun: from then on every commit counts.
    public var hasBegun: Bool { seen != nil }

    /// Looks, and finds out what is to be told; nil where nothing is, at least not yet.
    ///
    /// - Parameter look: Counts, in one snapshot; nil where that cannot be done now.
    public mutating func signal(_ look: () throws(StorageError) -> CommitCount?) throws(StorageError) -> ChangeSignal? {
        let before = own.counts
        if before.isReshaping { return nil }
        guard let count = try look() else { return nil }
        // Also after the count was taken: what is missing in it by now was committed later, and is looked at again.
        let now = own.counts
        if now.isReshaping { return nil }
        guard let seen, now.shapes == ownSeen.shapes else { return before == now ? begin(count, now) : nil }
        if count.commits == nil { return inexact(count, seen, now) }
        let listed = Self.growth(seen.listed, count.listed), unlisted = Self.growth(seen.unlisted, count.unlisted)
        // Numbers that fall: the count was lost, or another store lies there.
        if listed < 0 || unlisted < 0 || seen.commits == nil {
            if before == now { _ = begin(count, now) }
            return .unknown
        }
        let newUnlisted = unlisted &- foreignUnlisted &- (now.unlisted - ownSeen.unlisted) &- now.pendingUnlisted
        let newListed = listed &- foreignListed &- (now.listed - ownSeen.listed) &- now.pendingListed
        if newListed > 0 { foreignListed += newListed }
        if newUnlisted > 0 {
            foreignUnlisted += newUnlisted
            return .unknown
        }
        return newListed > 0 ? .history : nil
    }

    /// How far a number of a file has risen; negative where it fell, and where no number of commits leads from one to the other.
    private static func growth(_ before: Int64, _ now: Int64) -> Int64 {
        let (growth, isOver) = now.subtractingReportingOverflow(before)
        return isOver ? -1 : growth
    }

    /// Begins to count, at a moment at which no commit of this instance is on its way.
    private mutating func begin(_ count: CommitCount, _ now: OwnCommits.Counts) -> ChangeSignal? {
        if now.pendingListed + now.pendingUnlisted > 0 { return nil }
        // What others committed while the store had no form to count in is in the history.
        let signal: ChangeSignal? = seen == nil ? nil : .history
        seen = count
        ownSeen = now
        foreignListed = 0
        foreignUnlisted = 0
        return signal
    }

    /// Where commits are not counted, one that raised neither number may hide behind one that did; what is committed here in the meantime is
    /// taken for its cause.
    private mutating func inexact(_ count: CommitCount, _ seen: CommitCount, _ now: OwnCommits.Counts) -> ChangeSignal? {
        if count == seen { return nil }
        if now.pendingListed + now.pendingUnlisted > 0 { return nil }
        defer {
            self.seen = count
            ownSeen = now
        }
        let others = Self.growth(seen.listed, count.listed) &- (now.listed - ownSeen.listed)
        if count.listed == seen.listed, count.quiet == seen.quiet, now.unlisted == ownSeen.unlisted { return .unknown }
        return others > 0 ? .history : nil
    }
}
