internal import PolystoreStorage

/// The commits that a snapshot already contains. Commits delivered later but listed here are duplicates and must be skipped.
package struct SeenHistory {
    /// The position up to which all commits are contained.
    private let position: Int64
    /// The contained commits with greater positions, visible although commits with lower tokens may still appear.
    private let later: Set<Int64>

    package init(_ reader: ReadSession) throws(StorageError) {
        position = try reader.currentToken()?.position ?? -1
        later = Set(try reader.unsettledTokens().map(\.position))
    }

    /// Returns whether the commit at a position is contained; false for nil, because a commit without a position cannot be identified.
    package func holds(_ position: Int64?) -> Bool { position.map { $0 <= self.position || later.contains($0) } ?? false }
}
