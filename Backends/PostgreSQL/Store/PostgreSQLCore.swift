#if PostgreSQL
internal import Foundation
internal import PolystoreSQL
internal import PolystoreStorage
internal import Synchronization

/// What the sessions of an open store share.
///
/// Unchecked, because classes derive from it: all that it and they keep is Sendable and immutable.
class PostgreSQLCore: SQLCore, @unchecked Sendable {
    final let metadata: StoreMetadata
    final let schema: String
    final let tables: SQLTables
    final let compiler: SQLCompiler
    final let statements: SQLStatements<PostgreSQLRowLayout>
    final let readers: PostgreSQLPool
    final let writers: PostgreSQLPool
    /// Connections for what write transactions wait for, of other stores too: beside the readers, which may be in use for long.
    final let helpers: PostgreSQLPool
    /// The advisory lock of the store's schema: writers share it, a transaction that must be alone takes it whole.
    final let lock: Int64
    /// The advisory lock of the store's key sequences.
    final let keyLock: Int64
    final let durability: Durability
    /// Keys that were taken from the server's sequences and not yet given, by root.
    final let keys = Mutex<[EntityIndex: Range<Int64>]>([:])
    private let oneKeyLayouts: [PostgreSQLRowLayout]
    private let keyLayouts: [PostgreSQLRowLayout]
    private let closed = Atomic(false)
    /// Whether what was left out of the history, if anything was, lies behind a commit of this program; where nothing is recorded, whether
    /// one has noted that.
    final let hasSettledHistory = Atomic(false)

    private let open: @Sendable () throws -> PostgreSQLConnection
    /// What positions of the history are greater by than the ids of their transactions.
    final let historyOffset: Int64
    /// The cluster of the server; nil where the role may not know it, or nothing depends on it.
    private let cluster: String?
    private let readerCount: Int
    /// How programs of the older version read entries of the history that sessions of the newer one write, while both are used; nil for
    /// all other sessions.
    final let rolling: RollingPast?

    /// - Parameters:
    ///   - tables: The tables of the schema, where they are not where they should be.
    ///   - rolling: How programs of the older version read entries of the history, while both are used and the sessions are of the newer.
    init(
        _ metadata: StoreMetadata, schema: String, durability: Durability, tables: SQLTables? = nil,
        rolling: RollingPast? = nil, readers readerCount: Int, historyOffset: Int64 = 0, cluster: String? = nil,
        open: @escaping @Sendable () throws -> PostgreSQLConnection
    ) {
        self.metadata = metadata
        self.schema = schema
        self.open = open
        self.readerCount = readerCount
        self.historyOffset = historyOffset
        self.cluster = cluster
        self.rolling = rolling
        let tables = tables ?? SQLTables(metadata.schema, .postgreSQL, entityNumbers: metadata.entityNumbers)
        self.tables = tables
        let compiler = SQLCompiler(tables)
        self.compiler = compiler
        statements = SQLStatements(compiler) { PostgreSQLRowLayout($0, tables, root: $1.entity) }
        oneKeyLayouts = metadata.schema.descriptions.map { PostgreSQLRowLayout(compiler.selectByKey($0.root), tables, root: $0.root) }
        keyLayouts = metadata.schema.descriptions.map { PostgreSQLRowLayout(compiler.selectByKeys($0.root, [0]), tables, root: $0.root) }
        self.durability = durability
        lock = Int64(bitPattern: SchemaHash(of: "polystore \(schema)").words[0])
        keyLock = Int64(bitPattern: SchemaHash(of: "polystore keys \(schema)").words[0])
        let explained: @Sendable () throws -> PostgreSQLConnection = {
            let connection = try open()
            try connection.checkCluster(cluster)
            connection.tables = tables
            return connection
        }
        readers = PostgreSQLPool(size: readerCount, open: explained)
        writers = PostgreSQLPool(size: 4, open: explained)
        helpers = PostgreSQLPool(size: 4, open: explained)
    }

    final var isClosed: Bool { closed.load(ordering: .acquiring) }

    /// What sessions share that see another version of the same store.
    final func core(of metadata: StoreMetadata, tables: SQLTables? = nil, rolling: RollingPast? = nil) -> PostgreSQLCore {
        var metadata = metadata
        if metadata.hash == self.metadata.hash { metadata.history = self.metadata.history }
        metadata.history.isOn = self.metadata.history.isOn
        return PostgreSQLCore(
            metadata, schema: schema, durability: durability, tables: tables, rolling: rolling, readers: readerCount,
            historyOffset: historyOffset, cluster: cluster, open: open)
    }

    /// The statements that a transaction begins with, so that it holds what no migration may change under it: one whose snapshot is older
    /// than a change of the tables would find them empty.
    private var holdingVersion: String {
        let lock =
            "LOCK TABLE polystore_metadata IN ACCESS SHARE MODE; SELECT value, pg_backend_pid() FROM polystore_metadata WHERE key = "
        return rolling == nil ? "\(lock)'hash'" : "\(RollingTriggers.marking); \(lock)'\(RollingRecord.hashKey)'"
    }

    /// Begins a transaction that another program's migration cannot overtake.
    ///
    /// - Throws: `schemaMismatch` where one has led the store to another version of the model.
    func begin(_ connection: PostgreSQLConnection, _ statement: String) throws(StorageError) {
        let found = try connection.texts(statement + "; " + holdingVersion)
        guard found.count == 2, found[0] == metadata.hash else {
            let stored = try? connection.text("SELECT value FROM polystore_metadata WHERE key = 'schema'")
            throw StoreMetadata.migrated(from: metadata.schema, to: stored ?? nil)
        }
        try connection.checkBackend(found[1])
    }

    /// A session that reads on a connection of a pool.
    func reader(_ connection: PostgreSQLConnection, of pool: PostgreSQLPool) -> PostgreSQLReader {
        PostgreSQLReader(self, connection, of: pool)
    }

    /// A write transaction on a connection that has the lock.
    ///
    /// - Parameter isSettled: Whether the history was settled before the transaction began.
    func session(_ lane: PostgreSQLLane, _ options: WriteOptions, isSettled: Bool) -> any StorageWriter {
        PostgreSQLWriter(lane, of: self, options, isSettled: isSettled)
    }

    final func close() {
        closed.store(true, ordering: .releasing)
        readers.close()
        writers.close()
        helpers.close()
    }

    /// The statement that reads rows of an entity's hierarchy by one key or by a list of keys, and its layout.
    final func keyLayout(_ entity: EntityIndex, isOne: Bool) -> PostgreSQLRowLayout { isOne ? oneKeyLayouts[entity] : keyLayouts[entity] }

    final func sequence(_ root: EntityIndex) -> String { SQLText.quoted(tables.keySequence(root)) }
}
#endif
