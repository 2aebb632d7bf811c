internal import PolystoreStorage

/// A reason for which a block of an archive cannot be restored.
enum ArchiveProblem: Error {
    /// The block has a content that no archive has.
    case damaged(String)
    /// The store refused the block.
    case storage(StorageError)
}
