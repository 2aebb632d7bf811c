#if PostgreSQL
internal import PolystoreSQL
public import PolystoreStorage
internal import Synchronization

extension PostgreSQLStore: ForeignStorage {
    /// The use of a schema of another program, by the option `x-catalog`; nil for a store that Polystore creates.
    public var foreignAccess: ForeignAccess? { owner.foreignAccess }

    /// The remarks on parts of another program's schema that are left out or read differently from their declaration.
    public var remarks: [String] { foreignRemarks.withLock { $0.map(\.text) } }

    /// The stored data of another program's schema that is not read.
    public var losses: [String] { foreignRemarks.withLock { $0.compactMap(\.loss) } }
}
#endif
