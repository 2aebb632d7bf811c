/// The result of a transfer or a check for one entity or link table.
public struct TransferItem: Sendable, Hashable {
    /// The name of the root entity or of the link table.
    public let name: String
    /// The digest of the rows, which includes their number.
    public let digest: Digest
}
