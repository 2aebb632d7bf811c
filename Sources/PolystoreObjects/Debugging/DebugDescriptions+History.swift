internal import PolystoreFoundation
internal import PolystoreStorage

extension SchemaHistory: CustomDebugStringConvertible {
    /// The versions, the current one, and the chain between them.
    public var debugDescription: String {
        let versions = schemas.map { "\"\($0.version)\"" }.joined(separator: ", ")
        return "SchemaHistory of \(versions), current \"\(currentVersion)\", migrated \(migrationChain)"
    }
}

extension HistoryTransaction: CustomDebugStringConvertible {
    /// The author, the position, the time, and the changes.
    public var debugDescription: String {
        "HistoryTransaction \(token.position) by \"\(author)\" at \(time.ISO8601Format()): \(changes.text)"
    }
}

extension StackCommit: CustomDebugStringConvertible {
    /// The authors, the changes, and the stores with unknown changes.
    public var debugDescription: String {
        let names = authors.isEmpty ? "unknown authors" : authors.map { "\"\($0)\"" }.joined(separator: ", ")
        let unknown =
            unknownStores.isEmpty ? "" : ", and unknown ones in \(unknownStores.map(\.uuidString).sorted().joined(separator: ", "))"
        return "StackCommit\(isRemote ? " made outside the stack" : "") by \(names): \(changes.text)\(unknown)"
    }
}

extension ObjectChanges: CustomStringConvertible, CustomDebugStringConvertible {
    /// The number of changes, the entities of the changed objects, and the numbers of each kind.
    public var description: String { text }

    /// The number of changes, the entities of the changed objects, and the numbers of each kind.
    public var debugDescription: String { "ObjectChanges: \(text)" }

    fileprivate var text: String {
        if isEmpty { return "no changes" }
        let counts = counts
        let kinds = [
            (counts.inserted, "inserted"), (counts.updated, "updated"), (counts.deleted, "deleted"), (counts.relinked, "relinked"),
        ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
        return "\(count) change\(count == 1 ? "" : "s") of \(entities.sorted().joined(separator: ", ")) (\(kinds))"
    }
}

extension ObjectChange: CustomStringConvertible {
    /// The kind of the change, the entity and the key of the object, and the names of the changed properties.
    public var description: String {
        let object = "\(entity) \(key.key)"
        return switch kind {
        case .inserted: "inserted \(object)"
        case .updated(let names) where names.isEmpty: "updated \(object)"
        case .updated(let names): "updated \(names.sorted().joined(separator: ", ")) of \(object)"
        case .deleted: "deleted \(object)"
        case .relinked(let name): "relinked \(name) of \(object)"
        }
    }
}

extension MigrationProgress: CustomDebugStringConvertible {
    /// The fraction, the steps, and the state.
    public var debugDescription: String {
        let state = isFinished ? ", finished" : isCancelled ? ", cancelled" : ""
        return "MigrationProgress: \(localizedDescription), \(localizedAdditionalDescription)\(state)"
    }
}
