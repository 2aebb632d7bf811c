internal import PolystoreStorage

/// A session that belongs to a migration and does not own its engine transaction.
final class KeyValueMigrationSession: KeyValueWriter {
    // The base class's deinitializer would run after the object has become an instance of the base class, and end the engine's session.
    deinit { end() }

    override func endEngine() {}
    override func didEnd() {}

    override func commit(_ record: CommitRecord) throws(StorageError) -> HistoryToken? {
        try finishLoading()
        return nil
    }
}
