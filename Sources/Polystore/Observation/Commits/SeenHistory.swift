internal import PolystoreStorage

/// What of a store's history a snapshot holds: what is told of it later, was there when the snapshot was taken.
struct SeenHistory {
    /// Everything up to here.
    private let position: Int64
    /// What is visible although something with a lower token may still come.
    private let later: Set<Int64>

    init(_ reader: ReadSession) throws(StorageError) {
        position = try reader.currentToken()?.position ?? -1
        later = Set(try reader.unsettledTokens().map(\.position))
    }

    /// Whether the commit at a position is among it; of one without a place in the history nobody knows.
    func holds(_ position: Int64?) -> Bool { position.map { $0 <= self.position || later.contains($0) } ?? false }
}
