internal import PolystoreStorage

/// The rules that determine the current version of a history.
struct CurrentVersion {
    let versions: [String]
    let chain: MigrationChain

    /// Returns the version specified as the current one, otherwise the last one of the chain, otherwise the last one of the history.
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

    /// Returns the only leaf, or the only one with a schema.
    private func leaf() throws(StorageError) -> String {
        let leaves = chain.leafVersions
        let known = leaves.filter(versions.contains)
        if let leaf = known.count == 1 ? known.first : nil { return leaf }
        if let leaf = known.isEmpty ? leaves.first : nil { throw missing(leaf) }
        throw StorageError(
            .invalidConfiguration,
            "the migration chain ends in \(known.count) versions: \(chain); specify the current one with exactCurrentVersion")
    }

    /// Checks that each version after another one on a path to the current version has a schema, because stores are migrated to it.
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
