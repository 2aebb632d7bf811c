/// The form of an archive: lines of JSON objects that other programs can read as well.
///
/// The first line describes the archive and contains the model. Then come blocks: the lines of rows, or of pairs of a link table, and a
/// line with the number of the block, its table, the number of its lines, and the digest of their bytes. The last line contains the digest
/// of the first line and the digest of each table. The blocks of the history, if the archive contains it, follow those of the tables.
enum ArchiveFormat {
    /// The version of the form of an archive without the history, which earlier programs read, too.
    static let plainVersion = 1
    /// The version of the form of an archive with the history.
    static let historyVersion = 2
    /// The name of the history among the tables.
    static let historyTable = PastTransactions.table
    /// The size in bytes from which a block is complete.
    static let blockBytes = 1 << 20

    /// Names of members of the lines.
    enum Name {
        static let archive = "polystore", format = "format", model = "model"
        static let block = "block", table = "table", lines = "lines", digest = "digest"
        static let header = "header", tables = "tables", rows = "rows"
        static let entity = "entity", key = "key", version = "version"
        static let history = "history", time = "time", author = "author", changes = "changes"
        static let link = "link", owner = "owner", rank = "rank", member = "member"
    }
}
