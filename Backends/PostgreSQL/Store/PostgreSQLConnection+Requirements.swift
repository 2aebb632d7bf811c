#if PostgreSQL
internal import PolystoreStorage

// The requirements for a server.
extension PostgreSQLConnection {
    private static let oldestVersion = 150_000

    /// Throws if the server is too old.
    func checkVersion() throws(StorageError) {
        if serverVersion >= Self.oldestVersion { return }
        throw StorageError(.unsupported, "the server has version \(serverVersion / 10_000); PostgreSQL 15 or later is required")
    }

    /// Throws if the server belongs to another cluster than the one on which the store was opened, for example after a restore: its
    /// transaction IDs have another meaning, so tokens and history positions would be wrong.
    func checkCluster(_ expected: String?) throws(StorageError) {
        guard let expected, let cluster, cluster != expected else { return }
        throw StorageError(
            .storeClosed,
            "the server is not the one on which the store was opened, as after a restore; close the store and open it again, which "
                + "discards its earlier history")
    }

    /// Throws if the encoding lacks characters that a text may contain, or stores bytes that are not characters.
    func checkEncoding() throws(StorageError) {
        let encoding = serverEncoding
        if encoding == "UTF8" { return }
        throw StorageError(
            .unsupported, "the database has the encoding \(encoding), which cannot represent every string; create one with ENCODING 'UTF8'")
    }
}
#endif
