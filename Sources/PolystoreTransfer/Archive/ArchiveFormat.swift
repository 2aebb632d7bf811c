/// The form of an archive: lines of JSON objects that other programs can read as well.
///
/// The first line describes the archive and contains the model. Then come blocks: the lines of rows, or of pairs of a link table, and a
/// line with the number of the block, its table, the number of its lines, and the digest of their bytes. The last line contains the digest
/// of the first line and the digest of each table.
enum ArchiveFormat {
    /// The version of the form that this program writes. It reads this one and earlier ones.
    static let version = 1
    /// The size in bytes from which a block is complete.
    static let blockBytes = 1 << 20

    /// Names of members of the lines.
    enum Name {
        static let archive = "polystore", format = "format", model = "model"
        static let block = "block", table = "table", lines = "lines", digest = "digest"
        static let header = "header", tables = "tables", rows = "rows"
        static let entity = "entity", key = "key", version = "version"
        static let link = "link", owner = "owner", rank = "rank", member = "member"
    }
}
