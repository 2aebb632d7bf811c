/// The commit counters of a store, as a poll of its files finds them.
package struct CommitCount: Sendable, Hashable {
    /// The number of transactions committed by any writer since some starting point, or nil if the engine does not count them.
    package var commits: Int64?
    /// A number that changes whenever another connection commits. Used only if commits are not counted.
    package var version: Int64
    /// The number of commits that wrote an entry of the history.
    package var listed: Int64
    /// The number of commits that changed nothing an observer has to know, minus those that changed rows in addition to the entry that they
    /// wrote.
    package var quiet: Int64

    /// Creates a set of counters.
    package init(commits: Int64?, version: Int64 = 0, listed: Int64, quiet: Int64) {
        self.commits = commits
        self.version = version
        self.listed = listed
        self.quiet = quiet
    }

    /// The number of commits that neither the history nor the quiet count contains.
    var unlisted: Int64 { (commits ?? 0) &- listed &- quiet }
}
