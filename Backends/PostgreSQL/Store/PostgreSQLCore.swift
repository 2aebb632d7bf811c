#if PostgreSQL
internal import PolystoreFoundation
internal import PolystoreSQL
internal import PolystoreStorage
internal import Synchronization

/// The state that the sessions of an open store share.
///
/// Unchecked, because classes inherit from it: all its properties and theirs are Sendable and immutable.
class PostgreSQLCore: SQLCore, @unchecked Sendable {
    final let metadata: StoreMetadata
    final let schema: String
    final let tables: SQLTables
    final let compiler: SQLCompiler
    final let statements: SQLStatements<PostgreSQLRowLayout>
    final let readers: PostgreSQLPool
    final let writers: PostgreSQLPool
    /// The slots for requests that write transactions wait for, including those of other stores. They are separate from the readers, which
    /// may be in use for a long time.
    final let helpers: PostgreSQLPool
    final let idle = PostgreSQLIdleConnections()
    /// The advisory lock of the store's schema. Writers share it; a transaction that excludes other writers takes it exclusively.
    final let lock: Int64
    /// The advisory lock of the store's key sequences.
    final let keyLock: Int64
    final let durability: Durability
    /// The keys that were taken from the server's sequences and not yet assigned, in rising order, by root.
    private let keys = Mutex<[EntityIndex: [Range<Int64>]]>([:])
    /// The roots for which another program was found to have chosen keys that were taken from the server's sequences.
    private let overtaken = Mutex<Set<EntityIndex>>([])
    private let oneKeyLayouts: [PostgreSQLRowLayout]
    private let keyLayouts: [PostgreSQLRowLayout]
    private let closed = Atomic(false)
    /// Whether this process has written a history entry, so that any gap in the history precedes it; without a recorded history, whether a
    /// transaction has marked the floor as unrecorded.
    final let hasSettledHistory = Atomic(false)

    /// The maximum number of write transactions that run at the same time.
    static let mostWriters = 4

    private let open: @Sendable () throws -> PostgreSQLConnection
    /// The difference between positions of the history and the IDs of their transactions.
    final let historyOffset: Int64
    /// Whether each connection compares the offset with the stored one, which a program that restores a history can change.
    private let checksOffset: Bool
    /// The cluster of the server; nil where the role may not read it or nothing depends on it.
    private let cluster: String?
    private let readerCount: Int
    /// The time without an answer after which the connection of a session that reads counts as lost; nil for never.
    private let readTimeout: Duration?
    /// The past version in which programs of the older version read history entries of newer sessions, while both versions are live; nil
    /// for all other sessions.
    final let rolling: RollingPast?

    /// - Parameters:
    ///   - tables: The tables of the schema, where they are not at their default names.
    ///   - rolling: The past version in which programs of the older version read history entries, if both versions are live and the
    ///     sessions are of the newer one.
    init(
        _ metadata: StoreMetadata, schema: String, durability: Durability, tables: SQLTables? = nil,
        rolling: RollingPast? = nil, readers readerCount: Int, readTimeout: Duration? = nil, historyOffset: Int64 = 0,
        checksOffset: Bool = false,
        cluster: String? = nil, open: @escaping @Sendable () throws -> PostgreSQLConnection
    ) {
        self.metadata = metadata
        self.schema = schema
        self.open = open
        self.readerCount = readerCount
        self.readTimeout = readTimeout
        self.historyOffset = historyOffset
        self.checksOffset = checksOffset
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
        let open: @Sendable () throws -> PostgreSQLConnection = {
            let connection = try open()
            try connection.checkCluster(cluster)
            return connection
        }
        let prepare: @Sendable (PostgreSQLConnection) throws(StorageError) -> Void = { connection throws(StorageError) in
            if checksOffset, let cluster { try PostgreSQLSetup(connection, schema).join(cluster, historyOffset) }
            connection.tables = tables
        }
        readers = PostgreSQLPool(
            size: readerCount, idle: idle, patience: .reading(readTimeout), endsOnClose: true, open: open, prepare: prepare)
        writers = PostgreSQLPool(size: Self.mostWriters, idle: idle, open: open, prepare: prepare)
        helpers = PostgreSQLPool(size: 4, idle: idle, open: open, prepare: prepare)
    }

    final var isClosed: Bool { closed.load(ordering: .acquiring) }

    /// Whether the store can have a note about the move of its objects.
    var hasMoveNote: Bool { true }

    /// Returns the shared state of sessions that use another version of the same store.
    final func core(of metadata: StoreMetadata, tables: SQLTables? = nil, rolling: RollingPast? = nil) -> PostgreSQLCore {
        var metadata = metadata
        if metadata.hash == self.metadata.hash { metadata.history = self.metadata.history }
        metadata.history.isOn = self.metadata.history.isOn
        return PostgreSQLCore(
            metadata, schema: schema, durability: durability, tables: tables, rolling: rolling, readers: readerCount,
            readTimeout: readTimeout, historyOffset: historyOffset, checksOffset: checksOffset, cluster: cluster, open: open)
    }

    /// The statements at the beginning of a transaction. They lock everything that a migration may not change during the transaction: a
    /// transaction whose snapshot is older than a change of the tables would find them empty.
    private var holdingVersion: String {
        let lock =
            "LOCK TABLE polystore_metadata IN ACCESS SHARE MODE; SELECT value, pg_backend_pid() FROM polystore_metadata WHERE key = "
        return rolling == nil ? "\(lock)'hash'" : "\(RollingTriggers.marking); \(lock)'\(RollingRecord.hashKey)'"
    }

    /// Begins a transaction that a migration by another program cannot overtake.
    ///
    /// - Throws: `schemaMismatch` if a program has migrated the store to another version of the model.
    func begin(_ connection: PostgreSQLConnection, _ statement: String) throws(StorageError) {
        let found = try connection.texts(statement + "; " + holdingVersion)
        guard found.count == 2, found[0] == metadata.hash else {
            let stored = try? connection.text("SELECT value FROM polystore_metadata WHERE key = 'schema'")
            throw StoreMetadata.migrated(from: metadata.schema, to: stored ?? nil)
        }
        try connection.checkBackend(found[1])
    }

    /// Returns the columns of a table whose types in the database, with their lengths, are the given one. They are read on a connection of
    /// their own, because an error has ended the transaction.
    final func columns(of table: String, type: String) -> Set<String> {
        let text: SQLText = """
            SELECT a.attname::text FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = \(bind: .string(schema), .string) AND c.relname = \(bind: .string(table), .string)
            AND a.attnum > 0 AND format_type(a.atttypid, a.atttypmod) = \(bind: .string(type), .string)
            """
        return Set((try? open().rows(text, [.string]))?.map { $0[0].text } ?? [])
    }

    /// Creates a session that reads on a connection of a pool.
    func reader(_ connection: PostgreSQLConnection, of pool: PostgreSQLPool) -> PostgreSQLReader {
        PostgreSQLReader(self, connection, of: pool)
    }

    /// Creates a write session on a connection that holds the lock of the writers.
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
        idle.close()
    }

    /// Returns the statement that reads rows of an entity's hierarchy by one key or by a list of keys, with its layout.
    final func keyLayout(_ entity: EntityIndex, isOne: Bool) -> PostgreSQLRowLayout { isOne ? oneKeyLayouts[entity] : keyLayouts[entity] }

    final func sequence(_ root: EntityIndex) -> String { SQLText.quoted(tables.keySequence(root)) }

    /// Returns at most `count` of the keys that `keep` has stored; nil if none are left.
    @inline(never) final func takeKeys(_ root: EntityIndex, _ count: Int) -> Range<Int64>? {
        keys.withLock { keys in
            guard let first = keys[root]?.first else { return nil }
            let taken = first.prefix(count)
            if taken.endIndex == first.upperBound {
                keys[root]?.removeFirst()
            } else {
                keys[root]?[0] = taken.endIndex..<first.upperBound
            }
            return taken.startIndex..<taken.endIndex
        }
    }

    /// Stores keys that were taken from a sequence and not yet assigned.
    @inline(never) final func keep(_ reserved: [Range<Int64>], _ root: EntityIndex) {
        keys.withLock { $0[root, default: []] += reserved.filter { !$0.isEmpty } }
    }

    /// Discards the stored blocks of a root, because another program has chosen a key of them, until the sequence is raised.
    @inline(never) final func overtake(_ root: EntityIndex) {
        removeKeys(root)
        overtaken.withLock { _ = $0.insert(root) }
    }

    /// Whether the sequence of a root has to be raised above the present keys. Forgets it.
    @inline(never) final func wasOvertaken(_ root: EntityIndex) -> Bool { overtaken.withLock { $0.remove(root) != nil } }

    /// Discards the stored blocks that contain or precede `key`, or all of them if `key` is nil.
    @inline(never) final func removeKeys(_ root: EntityIndex, upTo key: Int64? = nil) {
        keys.withLock { keys in
            if let key { keys[root]?.removeAll { $0.lowerBound <= key } } else { keys[root] = nil }
        }
    }
}
#endif
