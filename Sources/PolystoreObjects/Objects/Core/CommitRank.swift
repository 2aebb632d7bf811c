internal import PolystoreStorage

/// The rank of a store in the order of a joint commit.
enum CommitRank: Int {
    /// First, because its commit can still be refused.
    case server
    case file
    /// Last, because its contents do not survive a crash.
    case memory
}
