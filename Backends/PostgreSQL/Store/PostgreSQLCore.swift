#if PostgreSQL
internal import Foundation
internal import PolystoreSQL
internal import PolystoreStorage
internal import Synchronization

/// What the sessions of an open store share.
final class PostgreSQLCore: Sendable {
    let metadata: StoreMetadata
    private let schema: String
    let tables: SQLTables
    let compiler: SQLCompiler
    let statements: SQLStatements<PostgreSQLRowLayout>
    let readers: PostgreSQLPool
    let writers: PostgreSQLPool
    /// The advisory lock of the store's schema: writers share it, a transaction that must be alone takes it whole.
    let lock: Int64
    let durability: Durability
    /// Keys that were taken from the server's sequences and not yet given, by root.
    let keys = Mutex<[EntityIndex: Range<Int64>]>([:])
    private let oneKeyLayouts: [PostgreSQLRowLayout]
    private let keyLayouts: [PostgreSQLRowLayout]
    private let closed = Atomic(false)
    /// Whether what was left out of the history, if anything was, lies behind a commit of this program; where nothing is recorded, whether
    /// one has noted that.
    let hasSettledHistory = Atomic(false)

    private let open: @Sendable () throws -> PostgreSQLConnection
    private let isForeign: Bool
    /// How programs of the older version read entries of the history that sessions of the newer one write, while both are used; nil for
    /// all other sessions.
    let rolling: PastVersion?
    /// The tables of another program, where they are used as they lie.
    let inPlace: PostgreSQLInPlace?

    /// - Parameters:
    ///   - tables: The tables of the schema, where they are not where they should be.
    ///   - isForeign: Whether another program made the tables: then no version of a model lies there.
    ///   - rolling: How programs of the older version read entries of the history, while both are used and the sessions are of the newer.
    init(
        _ metadata: StoreMetadata, schema: String, durability: Durability, tables: SQLTables? = nil, isForeign: Bool = false,
        rolling: PastVersion? = nil, inPlace: PostgreSQLInPlace? = nil, open: @escaping @Sendable () throws -> PostgreSQLConnection
    ) {
        self.metadata = metadata
        self.schema = schema
        self.open = open
        self.isForeign = isForeign
        self.rolling = rolling
        self.inPlace = inPlace
        let tables = tables ?? SQLTables(metadata.schema, .postgreSQL, entityNumbers: metadata.entityNumbers)
        self.tables = tables
        let compiler = SQLCompiler(tables)
        self.compiler = compiler
        statements = SQLStatements(compiler) { PostgreSQLRowLayout($0, tables, root: $1.entity) }
        oneKeyLayouts = metadata.schema.descriptions.map { PostgreSQLRowLayout(compiler.selectByKey($0.root), tables, root: $0.root) }
        keyLayouts = metadata.schema.descriptions.map { PostgreSQLRowLayout(compiler.selectByKeys($0.root, [0]), tables, root: $0.root) }
        self.durability = durability
        lock = Int64(bitPattern: SchemaHash(of: "polystore \(schema)").words[0])
        let explained: @Sendable () throws -> PostgreSQLConnection = {
            let connection = try open()
            connection.tables = tables
            return connection
        }
        readers = PostgreSQLPool(size: 8, open: explained)
        writers = PostgreSQLPool(size: 4, open: explained)
    }

    var storeID: UUID { metadata.storeID }
    var isClosed: Bool { closed.load(ordering: .acquiring) }

    /// What sessions share that see another version of the same store.
    func core(of metadata: StoreMetadata, tables: SQLTables? = nil, rolling: PastVersion? = nil) -> PostgreSQLCore {
        var metadata = metadata
        if metadata.hash == self.metadata.hash { metadata.history = self.metadata.history }
        metadata.history.isOn = self.metadata.history.isOn
        return PostgreSQLCore(metadata, schema: schema, durability: durability, tables: tables, rolling: rolling, open: open)
    }

    /// The statements that a transaction begins with, so that it holds what no migration may change under it: one whose snapshot is older
    /// than a change of the tables would find them empty.
    private var holdingVersion: String {
        let lock = "LOCK TABLE polystore_metadata IN ACCESS SHARE MODE; SELECT value FROM polystore_metadata WHERE key = "
        return rolling == nil ? "\(lock)'hash'" : "\(RollingTriggers.marking); \(lock)'\(RollingRecord.hashKey)'"
    }

    /// Begins a transaction that another program's migration cannot overtake.
    ///
    /// - Throws: `schemaMismatch` where one has led the store to another version of the model.
    func begin(_ connection: PostgreSQLConnection, _ statement: String) throws(StorageError) {
        if isForeign { return try connection.execute(statement + "; SELECT pg_current_snapshot()") }
        guard try connection.text(statement + "; " + holdingVersion) == metadata.hash else {
            let stored = try? connection.text("SELECT value FROM polystore_metadata WHERE key = 'schema'")
            throw StoreMetadata.migrated(from: metadata.schema, to: stored ?? nil)
        }
    }

    func close() {
        closed.store(true, ordering: .releasing)
        readers.close()
        writers.close()
    }

    /// The statement that reads rows of an entity's hierarchy by one key or by a list of keys, and its layout.
    func keyLayout(_ entity: EntityIndex, isOne: Bool) -> PostgreSQLRowLayout { isOne ? oneKeyLayouts[entity] : keyLayouts[entity] }

    func sequence(_ root: EntityIndex) -> String { SQLText.quoted(tables.keySequence(root)) }

    /// The position of a token; nil for none.
    func position(_ token: HistoryToken?) throws(StorageError) -> Int64? {
        guard let token else { return nil }
        guard token.store == storeID else {
            throw StorageError(.tokenExpired, "the token belongs to another store; start from the beginning")
        }
        return token.position
    }
}

/// Connections of one kind, opened when they are first needed and kept.
final class PostgreSQLPool: Sendable {
    private struct State: ~Copyable {
        var idle: [PostgreSQLConnection] = []
        var isClosed = false
    }

    private let state = Mutex(State())
    private let places: DispatchSemaphore
    private let open: @Sendable () throws -> PostgreSQLConnection

    init(size: Int, open: @escaping @Sendable () throws -> PostgreSQLConnection) {
        places = DispatchSemaphore(value: size)
        self.open = open
    }

    /// A connection, waiting for one to come back.
    func take(timeout: TimeInterval) throws(StorageError) -> PostgreSQLConnection {
        guard places.wait(timeout: .now() + timeout) == .success else {
            throw StorageError(.busy, "all connections to the server were in use for \(timeout) seconds; try again")
        }
        let box = state.withLock { Box($0.idle.popLast()) }
        if let idle = box.connection, idle.isUsable { return idle }
        do { return try open() } catch {
            places.signal()
            throw error as? StorageError ?? StorageError(.connectionLost, "the server does not answer", cause: error)
        }
    }

    /// Takes a connection back; a broken one is thrown away.
    func give(_ connection: PostgreSQLConnection) {
        let box = Box(connection.isUsable ? connection : nil)
        state.withLock { state in if !state.isClosed, let connection = box.connection { state.idle.append(connection) } }
        places.signal()
    }

    func close() {
        state.withLock { state in
            state.isClosed = true
            state.idle.removeAll()
        }
    }

    /// A connection on its way through the lock.
    ///
    /// Unchecked: the pool hands each connection to one owner at a time, and only the owner touches it.
    private struct Box: @unchecked Sendable {
        let connection: PostgreSQLConnection?
        init(_ connection: PostgreSQLConnection?) { self.connection = connection }
    }
}
#endif
