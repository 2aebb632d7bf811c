/// The result of restoring an archive.
package struct RestoredArchive: Sendable {
    /// The digests of the restored tables, which are equal to those of the archived store.
    package let items: [TransferItem]
    /// The number of restored transactions of the history; nil if the history was not restored.
    package let transactions: Int?
    /// Whether the archive contains a history that the store cannot keep.
    package let leavesOutHistory: Bool
}
