#if PostgreSQL
internal import PolystoreFoundation
internal import PolystoreSQL
internal import PolystoreStorage

/// The name of a prepared transaction, which contains its store and the commit that it waits for.
struct PostgreSQLPreparedName {
    private static let prefix = "polystore"

    private static let unrecorded = "/unrecorded"

    let store: UUID
    let commit: CommitToken
    /// Whether the history contains all changes of the transaction.
    let isRecorded: Bool

    init(store: UUID, commit: CommitToken, isRecorded: Bool = true) {
        self.store = store
        self.commit = commit
        self.isRecorded = isRecorded
    }

    init?(_ text: String) {
        let isRecorded = !text.hasSuffix(Self.unrecorded), text = isRecorded ? text : String(text.dropLast(Self.unrecorded.count))
        let parts = text.split(separator: "/", maxSplits: 2).map(String.init)
        guard parts.count == 3, parts[0] == Self.prefix, let store = UUID(uuidString: parts[1]), let commit = CommitToken(parts[2]) else {
            return nil
        }
        self.init(store: store, commit: commit, isRecorded: isRecorded)
    }

    /// The name as a literal.
    var literal: String {
        "'\(SQLText.doubling("'", in: "\(Self.prefix)/\(store.uuidString)/\(commit)\(isRecorded ? "" : Self.unrecorded)"))'"
    }

    /// Returns the common prefix of all names of a store, as a literal.
    static func start(of store: UUID) -> String { "'\(prefix)/\(store.uuidString)/'" }
}
#endif
