public import PolystoreStorage

extension SchemaHistory {
    /// Returns the versions from one to the current one, including both; only the current one if they are the same.
    ///
    /// - Throws: `noMigrationPath`, which names both versions and the most similar known one, if the chain has no such path. If the chain
    ///   has no steps, every version of the history is migrated directly to the current one.
    public func path(from version: String) throws(StorageError) -> [String] {
        if version == currentVersion { return [version] }
        if migrationChain.hasSteps {
            if let path = migrationChain.path(from: version, to: currentVersion) { return path }
        } else if schema(for: version) != nil {
            return [version, currentVersion]
        }
        throw noPath(from: version)
    }

    /// Returns the kind of each step from the schema of a store to the current one; empty if no migration is required.
    ///
    /// The stored schema is identified by its version or, for a name that the history does not contain, by its hash.
    /// - Throws: `noMigrationPath`, which names both versions; also if the history has another schema under the name of the stored one,
    ///   with the first difference.
    public func migrations(from stored: Schema) throws(StorageError) -> [MigrationType] {
        try steps(from: stored).map { MigrationType(from: $0.source, to: $0.destination) }
    }

    /// Returns the schemas of each step that changes something.
    func steps(from stored: Schema) throws(StorageError) -> [(source: Schema, destination: Schema)] {
        if stored.hash == currentSchema.hash { return [] }
        let version = stored.version
        // Without steps between versions each store is migrated directly to the current one, because it contains its own schema.
        if !migrationChain.hasSteps, schemas.count == 1 || schema(for: version) == nil { return [(stored, currentSchema)] }
        var source = stored
        if let known = schema(for: version) {
            if let change = known.changes(since: stored).first {
                throw StorageError(
                    .noMigrationPath,
                    "version \"\(version)\" of the model differs from version \"\(version)\" in the store: \(change); "
                        + "restore the schema of this version and give the changed schema a new version")
            }
        } else if !migrationChain.contains(version), let same = schemas.first(where: { $0.hash == stored.hash }) {
            source = same
        }
        var steps: [(source: Schema, destination: Schema)] = []
        for next in try path(from: source.version).dropFirst() {
            guard let destination = schema(for: next) else { throw noPath(from: source.version) }
            if source.hash != destination.hash { steps.append((source, destination)) }
            source = destination
        }
        return steps
    }

    private func noPath(from version: String) -> StorageError {
        let known = migrationChain.hasSteps ? migrationChain.versions : schemas.map(\.version)
        let reason: String
        if migrationChain.hasSteps, let end = migrationChain.contains(version) ? migrationChain.way(from: version).last : nil {
            reason = "the migration chain goes from it to \"\(end)\""
        } else {
            let hint = Suggestion.nearest(version, in: known)
            let list = known.prefix(8).map { "\"\($0)\"" }.joined(separator: ", ")
            reason =
                "it is not part of the \(migrationChain.hasSteps ? "migration chain" : "history")"
                + (hint.isEmpty ? ", which has \(list)" : hint)
        }
        return StorageError(
            .noMigrationPath, "there is no migration path from version \"\(version)\" of the model to \"\(currentVersion)\": \(reason)")
    }
}
