#if PostgreSQL
internal import PolystoreSQL
public import PolystoreStorage
internal import Synchronization

extension PostgreSQLStore: ForeignStorage {
    /// What of a schema of another program is left out or read otherwise than it is declared there.
    public var remarks: [String] { foreignRemarks.withLock { $0.map(\.text) } }

    /// What of a schema of another program is stored there and not read.
    public var losses: [String] { foreignRemarks.withLock { $0.compactMap(\.loss) } }
}
#endif
