public import PolystoreFoundation
public import PolystoreStorage

/// A commit, as delivered to a consumer of the commits of a stack. A commit over several stores is one element.
public struct StackCommit: Sendable {
    /// The authors: several if missed commits became one element, none if they are unknown.
    public let authors: [TransactionAuthor]
    /// The source identifier that the program gave to the transaction; nil also if several commits with different identifiers became one.
    public let sourceIdentifier: (any Hashable & Sendable)?
    /// Whether any part of it was made outside this stack: by another process, another machine or another stack.
    public let isRemote: Bool
    /// The newest history token of each store that has one.
    public let tokens: [HistoryToken]
    /// The known changes.
    public let changes: ObjectChanges
    /// The stores that must be read again because their changes are unknown: after a gap of a slow consumer, after SQL statements, and
    /// after changes by programs that bypass the history.
    public let unknownStores: Set<UUID>

    /// Merges consecutive commits into one.
    init(_ commits: [CommittedChanges], _ core: StackCore) {
        var authors: [TransactionAuthor] = [], tokens: [Int: HistoryToken] = [:]
        var known: [Int: [HistoryChanges]] = [:], unknown: Set<Int> = []
        for commit in commits {
            let author = TransactionAuthor(commit.author)
            if commit.parts.contains(where: { $0.changes != nil }), !authors.contains(author) { authors.append(author) }
            for part in commit.parts {
                if let token = part.token { tokens[part.store] = token }
                if let changes = part.changes { known[part.store, default: []].append(changes) } else { unknown.insert(part.store) }
            }
        }
        self.authors = authors
        let sources = Set(commits.map { $0.source.map { AnyHashable($0) } })
        sourceIdentifier = sources.count == 1 ? commits.first?.source : nil
        isRemote = commits.contains(where: \.isRemote)
        self.tokens = tokens.sorted { $0.key < $1.key }.map(\.value)
        unknownStores = Set(unknown.map(core.storeID)).subtracting([UUID.placeholder])
        let rules = HistoryRules(core.model.schema)
        let parts = known.sorted { $0.key < $1.key }.filter { !unknown.contains($0.key) }.map { store, changes in
            (tokens[store]?.store ?? core.storeID(store), Self.together(changes, rules))
        }
        changes = ObjectChanges(parts, core.model)
    }

    /// Returns the combined effect of consecutive changes.
    private static func together(_ changes: [HistoryChanges], _ rules: HistoryRules) -> HistoryChanges {
        if changes.count == 1 { return changes[0] }
        var recorder = HistoryRecorder(rules)
        for item in changes { recorder.add(item) }
        return recorder.changes ?? HistoryChanges()
    }
}
