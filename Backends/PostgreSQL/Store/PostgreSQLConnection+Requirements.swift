#if PostgreSQL
internal import PolystoreStorage

// What a server must be.
extension PostgreSQLConnection {
    private static let oldestVersion = 150_000

    /// Refuses a server that is too old.
    func checkVersion() throws(StorageError) {
        if serverVersion >= Self.oldestVersion { return }
        throw StorageError(.unsupported, "the server has version \(serverVersion / 10_000); PostgreSQL 15 is the oldest")
    }

    /// Refuses a server of another cluster than the one that the store was opened on, as after a restore: ids of its transactions mean
    /// something else, so tokens and positions of the history would be wrong.
    func checkCluster(_ expected: String?) throws(StorageError) {
        guard let expected, let cluster, cluster != expected else { return }
        throw StorageError(
            .storeClosed,
            "the server is another one than the store was opened on, as after a restore; close the store and open it again, which ends its "
                + "history before that")
    }

    /// Refuses an encoding that lacks letters which a text may have, or keeps bytes that are none.
    func checkEncoding() throws(StorageError) {
        let encoding = serverEncoding
        if encoding == "UTF8" { return }
        throw StorageError(
            .unsupported, "the database has the encoding \(encoding), which does not hold every text; make one with ENCODING 'UTF8'")
    }
}
#endif
