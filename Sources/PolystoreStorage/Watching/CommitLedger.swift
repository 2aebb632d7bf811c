/// Detects commits of other writers by counting.
///
/// Every commit of this library raises one of two numbers stored next to the data by one: the position of the history, or the count of
/// quiet commits. A commit that raises neither was made by another program that wrote rows, or was a bulk load.
package struct CommitLedger: Sendable {
    private let own: OwnCommits
    private var seen: CommitCount?
    private var ownSeen = OwnCommits.Counts()
    /// The commits of other writers for which a notification was returned.
    private var foreignListed: Int64 = 0
    private var foreignUnlisted: Int64 = 0

    /// Creates a ledger that starts with the first count.
    package init(_ own: OwnCommits) { self.own = own }

    /// Whether the ledger has started. From then on every commit counts.
    package var hasBegun: Bool { seen != nil }

    /// Polls the counters and returns the notification to deliver, or nil if there is none, at least not yet.
    ///
    /// - Parameter look: Reads the counters in one snapshot. Returns nil if that is not possible now.
    package mutating func signal(_ look: () throws(StorageError) -> CommitCount?) throws(StorageError) -> ChangeSignal? {
        let before = own.counts
        if before.isReshaping { return nil }
        guard let count = try look() else { return nil }
        // Read after the counters as well: a commit that they lack by now was made later, and the next poll finds it.
        let now = own.counts
        if now.isReshaping { return nil }
        guard let seen, now.shapes == ownSeen.shapes else { return before == now ? begin(count, now) : nil }
        if count.commits == nil { return inexact(count, seen, now) }
        let listed = Self.growth(seen.listed, count.listed), unlisted = Self.growth(seen.unlisted, count.unlisted)
        // Decreasing numbers: the counters were lost, or the files belong to another store.
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

    /// Returns the increase of a counter. The result is negative if the counter decreased, or if no number of commits can explain the
    /// difference.
    private static func growth(_ before: Int64, _ now: Int64) -> Int64 {
        let (growth, isOver) = now.subtractingReportingOverflow(before)
        return isOver ? -1 : growth
    }

    /// Starts to count, at a moment when no commit of this instance is in progress.
    private mutating func begin(_ count: CommitCount, _ now: OwnCommits.Counts) -> ChangeSignal? {
        if now.pendingListed + now.pendingUnlisted > 0 { return nil }
        // The history contains the commits that other writers made while the store was being restructured and could not be counted.
        let signal: ChangeSignal? = seen == nil ? nil : .history
        seen = count
        ownSeen = now
        foreignListed = 0
        foreignUnlisted = 0
        return signal
    }

    /// Returns the notification if commits are not counted. A commit that raised neither number can then be hidden by one that did. A
    /// change is attributed to the commits that this instance made in the meantime.
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
