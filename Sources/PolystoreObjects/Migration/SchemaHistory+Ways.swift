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
        try steps(from: stored).map { step in
            hasWork(step)
                ? .heavyweight(sourceVersion: step.source.version, destinationVersion: step.destination.version)
                : MigrationType(from: step.source, to: step.destination)
        }
    }

    /// The schemas before and after a step.
    typealias Ends = (source: Schema, destination: Schema)

    /// Returns whether a stage has work for a step.
    func hasWork(_ step: Ends) -> Bool {
        stages.contains {
            $0.isCustom && $0.sourceVersion == step.source.version && $0.destinationVersion == step.destination.version
        }
    }

    /// Returns the schemas of each step that changes the store or has work of the program.
    ///
    /// - Parameter isCustom: Whether a step is custom work of the program beside its stages.
    func steps(
        from stored: Schema, orIf isCustom: (Ends) throws(StorageError) -> Bool = { _ throws(StorageError) in false }
    ) throws(StorageError) -> [Ends] {
        let all = stored.hash == currentSchema.hash ? stepsByName(from: stored) : try stepsByHash(from: stored)
        var worked: [Bool] = []
        for step in all { worked.append(hasWork(step) ? true : try isCustom(step)) }
        if stored.hash == currentSchema.hash, !worked.contains(true) { return [] }
        // The work between two versions of the same hash is done if the store has the name of the newer one. So names matter before it.
        var result: [Ends] = [], isNamed = false
        for (step, isWorked) in zip(all, worked).reversed() {
            let isEqual = step.source.hash == step.destination.hash
            if isWorked || isNamed || !isEqual { result.append(step) }
            isNamed = isEqual && (isWorked || isNamed)
        }
        return result.reversed()
    }

    /// Returns the steps of a store with the hash of the current version; none if the name of its version is unknown, because such a store
    /// can be that of a newer program.
    private func stepsByName(from stored: Schema) -> [Ends] {
        let version = stored.version
        if version == currentVersion || schema(for: version).map({ $0.hash != stored.hash }) == true { return [] }
        guard migrationChain.hasSteps else { return [(stored, currentSchema)] }
        return migrationChain.path(from: version, to: currentVersion).flatMap { ends($0, from: stored) } ?? []
    }

    private func stepsByHash(from stored: Schema) throws(StorageError) -> [Ends] {
        let version = stored.version
        // Without steps between versions each store is migrated directly to the current one, because it contains its own schema.
        if !migrationChain.hasSteps, schemas.count == 1 || schema(for: version) == nil { return [(stored, currentSchema)] }
        var source = stored
        if let known = schema(for: version) {
            if let change = known.changes(since: stored).first {
                throw StorageError(
                    .noMigrationPath,
                    "version \"\(version)\" of the model differs from version \"\(version)\" in the store: \(change); "
                        + "restore the schema of this version and give the changed schema a new version, or name the version of the store "
                        + "otherwise with polystore schema stamp and list its schema under that name")
            }
        } else if !migrationChain.contains(version), let same = schemas.last(where: { $0.hash == stored.hash }) {
            source = same
        }
        guard let steps = ends(try path(from: source.version), from: source) else { throw noPath(from: source.version) }
        return steps
    }

    /// Returns the schemas of each step along a path; nil if one has no schema.
    private func ends(_ path: [String], from first: Schema) -> [Ends]? {
        var source = first, result: [Ends] = []
        for version in path.dropFirst() {
            guard let destination = schema(for: version) else { return nil }
            result.append((source, destination))
            source = destination
        }
        return result
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
