#if PostgreSQL
internal import PolystoreSQL
internal import PolystoreStorage

/// The content of the token of a transaction that is about to commit: the cluster that assigned its ID, the ID, and the time of its history
/// entry.
///
/// After a crash a server reuses IDs that it had not written to its disk. The history entry distinguishes the transaction from another one
/// with the same ID.
struct PostgreSQLCommit: LosslessStringConvertible {
    let cluster: String
    let transaction: Int64
    let time: Int64?

    init(cluster: String, transaction: Int64, time: Int64?) {
        self.cluster = cluster
        self.transaction = transaction
        self.time = time
    }

    init?(_ description: String) {
        let parts = description.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, let transaction = Int64(parts[1]), transaction > 0 else { return nil }
        self.init(cluster: String(parts[0]), transaction: transaction, time: Int64(parts[2]))
    }

    var description: String { "\(cluster):\(transaction):\(time.map(String.init) ?? "")" }
}
#endif
