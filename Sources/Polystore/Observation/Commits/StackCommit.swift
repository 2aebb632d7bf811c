public import Foundation
public import PolystoreStorage

/// What somebody who follows a stack is told of a commit: one element for each, also where it was made in several stores.
public struct StackCommit: Sendable {
    /// Who committed; several where what was missed became one element, nobody where it is not known.
    public let authors: [TransactionAuthor]
    /// What the program gave the transaction to know it again by; nil also where several commits became one that do not agree.
    public let sourceIdentifier: (any Hashable & Sendable)?
    /// Whether any of it was made elsewhere: by another process, another machine or another stack.
    public let isRemote: Bool
    /// The newest place in the history of each store that has one.
    public let tokens: [HistoryToken]
    /// What changed, as far as it is known.
    public let changes: ObjectChanges
    /// The stores that are to be read anew, because it is not known what changed in them: the gap of a follower that was too slow, statements
    /// in SQL, programs that go past the history.
    public let unknownStores: Set<UUID>

    /// Commits that follow each other, as one.
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

    /// What changes come to that follow each other.
    private static func together(_ changes: [HistoryChanges], _ rules: HistoryRules) -> HistoryChanges {
        if changes.count == 1 { return changes[0] }
        var recorder = HistoryRecorder(rules)
        for item in changes { recorder.add(item) }
        return recorder.changes ?? HistoryChanges()
    }
}
