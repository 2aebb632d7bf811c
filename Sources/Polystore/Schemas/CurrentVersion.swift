internal import PolystoreStorage

/// The rules by which a history finds its current version.
struct CurrentVersion {
    let versions: [String]
    let chain: MigrationChain

    /// The version named as the current one, otherwise the last of the chain, otherwise the last of the history.
    func version(exactly exact: String?) throws(StorageError) -> String {
        if let exact { return try checked(exact) }
        if !chain.isEmpty { return try leaf() }
        guard let last = versions.last else { throw StorageError(.invalidConfiguration, "a history needs at least one schema") }
        return last
    }

    private func checked(_ exact: String) throws(StorageError) -> String {
        if !chain.hasSteps || chain.contains(exact) { return exact }
        throw StorageError(
            .invalidConfiguration,
            "the current version \"\(exact)\" is not part of the migration chain \(chain)\(Suggestion.nearest(exact, in: chain.versions))")
    }

    /// The only leaf, or the only one with a schema.
    private func leaf() throws(StorageError) -> String {
        let leaves = chain.leafVersions
        let known = leaves.filter(versions.contains)
        if let leaf = known.count == 1 ? known.first : nil { return leaf }
        if let leaf = known.isEmpty ? leaves.first : nil { throw missing(leaf) }
        throw StorageError(
            .invalidConfiguration,
            "the migration chain ends in \(known.count) versions: \(chain); name the current one (exactCurrentVersion)")
    }

    /// What follows something on the way to the current version is migrated to, so its schema is needed.
    func checkWays(to current: String) throws(StorageError) {
        for root in chain.rootVersions {
            guard let way = chain.path(from: root, to: current) else { continue }
            if let version = way.dropFirst().first(where: { !versions.contains($0) }) { throw missing(version) }
        }
    }

    func missing(_ version: String) -> StorageError {
        let hint = Suggestion.nearest(version, in: versions)
        let list = versions.prefix(8).map { "\"\($0)\"" }.joined(separator: ", ")
        return StorageError(
            .invalidConfiguration,
            "the history has no schema of version \"\(version)\"\(hint.isEmpty ? "; it has \(list.isEmpty ? "none" : list)" : hint)")
    }
}
