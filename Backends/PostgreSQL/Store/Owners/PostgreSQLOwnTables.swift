#if PostgreSQL
internal import PolystoreSQL
internal import PolystoreStorage

/// The tables of a schema that Polystore created.
struct PostgreSQLOwnTables: PostgreSQLOwner {
    let recordsHistory: Bool

    let foreignAccess: ForeignAccess? = nil

    var capabilities: Set<StorageCapabilities.Capability> {
        let supported: Set<StorageCapabilities.Capability> = [
            .persistent, .multipleProcesses, .concurrentWriters, .snapshotReads, .savepoints, .migrations, .rollingMigrations,
            .durableCommits, .rawSQL, .partialIndexes, .fullTextIndexes, .remoteChanges,
        ]
        return recordsHistory ? supported.union([.history]) : supported
    }

    func open(_ store: PostgreSQLStore, _ request: OpenRequest) throws(StorageError) -> StorageState {
        try store.openOwn(request)
    }

    func checkOwn() {}

    func erase(_ store: PostgreSQLStore) throws(StorageError) { try store.eraseOwn() }
}
#endif
