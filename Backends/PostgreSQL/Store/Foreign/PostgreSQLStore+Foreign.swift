#if PostgreSQL
internal import PolystoreSQL
public import PolystoreStorage
internal import Synchronization

extension PostgreSQLStore: ForeignStorage {
    /// The remarks on parts of another program's schema that are left out or read differently from their declaration.
    public var remarks: [String] { foreignRemarks.withLock { $0.map(\.text) } }

    /// The stored data of another program's schema that is not read.
    public var losses: [String] { foreignRemarks.withLock { $0.compactMap(\.loss) } }
}
#endif
