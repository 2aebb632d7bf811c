#if PostgreSQL
internal import CLibPQ
internal import Foundation
internal import PolystoreSQL
internal import PolystoreStorage

/// One connection to the server, with its prepared statements. It is used by one thread at a time.
final class PostgreSQLConnection {
    private static let cacheLimit = 200

    private let handle: OpaquePointer
    /// The tables that errors are explained with.
    var tables: SQLTables?
    private var prepared: [String: String] = [:]
    private var order: [String] = []
    private var nextName = 0

    /// Connects to a server; the text goes to libpq as it is.
    init(conninfo: String, schema: String) throws(StorageError) {
        // Later options win: those of the URL over ours, and ours over the URL where the store depends on it.
        let keys = ["application_name", "connect_timeout", "dbname", "client_encoding"]
        let values = ["polystore", "10", conninfo, "UTF8"]
        var cKeys: [UnsafePointer<CChar>?] = keys.map { UnsafePointer(strdup($0)) }
        var cValues: [UnsafePointer<CChar>?] = values.map { UnsafePointer(strdup($0)) }
        defer { for pointer in cKeys + cValues { free(UnsafeMutableRawPointer(mutating: pointer)) } }
        cKeys.append(nil)
        cValues.append(nil)
        guard let opened = PQconnectdbParams(cKeys, cValues, 1) else {
            throw StorageError(.limitExceeded, "libpq ran out of memory")
        }
        guard PQstatus(opened) == CONNECTION_OK else {
            let error = Self.connectError(opened)
            PQfinish(opened)
            throw error
        }
        handle = opened
        let path = SQLText.quoted(schema)
        try execute("SET search_path = \(path); SET TimeZone = 'UTC'; SET client_min_messages = warning; SET bytea_output = hex")
    }

    deinit { PQfinish(handle) }

    /// libpq gives no code for a failed connection: its English sentence is all there is. The sentence itself names hosts and users, so
    /// it is not passed on.
    private static func connectError(_ handle: OpaquePointer) -> StorageError {
        let text = String(cString: PQerrorMessage(handle))
        if PQconnectionNeedsPassword(handle) == 1 {
            return StorageError(.authenticationFailed, "the server asks for a password; give one by PGPASSFILE or PGPASSWORD")
        }
        if PQconnectionUsedPassword(handle) == 1, text.contains("password authentication failed") {
            return StorageError(.authenticationFailed, "the server refused the user or the password")
        }
        if text.contains("no pg_hba.conf entry") || text.contains("authentication failed") || text.contains("role \"") {
            return StorageError(.authenticationFailed, "the server refused the user")
        }
        if text.contains("database \""), text.contains("does not exist") {
            return StorageError(.notFound, "the server has no database of this name")
        }
        if text.contains("invalid connection option") || text.contains("invalid URI") || text.contains("invalid percent-encoded")
            || text.contains("invalid URI query parameter")
        {
            return StorageError(.invalidConfiguration, "the PostgreSQL URL is malformed or has an option that libpq does not know")
        }
        return StorageError(.connectionLost, "the server does not answer; is it running, and is the address right?")
    }

    /// The major and minor version, such as 150018.
    var serverVersion: Int { Int(PQserverVersion(handle)) }

    /// Whether the connection can be used for another session.
    var isUsable: Bool { PQstatus(handle) == CONNECTION_OK && PQtransactionStatus(handle) == PQTRANS_IDLE }

    /// Whether the server is gone.
    var isLost: Bool { PQstatus(handle) != CONNECTION_OK }

    /// Runs statements without bindings.
    func execute(_ sql: String) throws(StorageError) {
        PQclear(try checked(PQexec(handle, sql)))
    }

    /// Runs a statement with bindings; the result is binary.
    func query(_ text: SQLText) throws(StorageError) -> PostgreSQLResult {
        let (sql, bindings) = text.rendered(.postgreSQL)
        return try query(sql, bindings.map(PostgreSQLParameter.init))
    }

    /// Runs a statement with parameters; the result is binary.
    func query(_ sql: String, _ parameters: [PostgreSQLParameter]) throws(StorageError) -> PostgreSQLResult {
        let name = try prepare(sql)
        let formats = [Int32](repeating: 1, count: parameters.count)
        let lengths = parameters.map { Int32($0.bytes?.count ?? 0) }
        // One block holds all parameters, so that one pointer has to stay valid.
        var block: [UInt8] = [], offsets: [Int?] = []
        for parameter in parameters {
            offsets.append(parameter.bytes == nil ? nil : block.count)
            block += parameter.bytes ?? []
            block.append(0)
        }
        let result = block.withUnsafeBytes { base in
            let values = offsets.map { offset in
                offset.flatMap { position in base.baseAddress.map { ($0 + position).assumingMemoryBound(to: CChar.self) } }
            }
            return PQexecPrepared(handle, name, Int32(parameters.count), values, lengths, formats, 1)
        }
        return PostgreSQLResult(try checked(result))
    }

    private func prepare(_ sql: String) throws(StorageError) -> String {
        if let name = prepared[sql] { return name }
        if order.count >= Self.cacheLimit, let name = prepared.removeValue(forKey: order.removeFirst()) {
            try execute("DEALLOCATE \(name)")
        }
        nextName += 1
        let name = "s\(nextName)"
        PQclear(try checked(PQprepare(handle, name, sql, 0, nil)))
        prepared[sql] = name
        order.append(sql)
        return name
    }

    /// The result, or the error that it is.
    private func checked(_ result: OpaquePointer?) throws(StorageError) -> OpaquePointer? {
        switch PQresultStatus(result) {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_COPY_IN, PGRES_EMPTY_QUERY: return result
        default:
            let error = PostgreSQLError(result).error(tables)
            PQclear(result)
            throw error
        }
    }

    /// Copies rows in: `body` sends them with `send`. When it throws, nothing of the copy stays.
    func copyIn(_ sql: String, _ body: () throws(StorageError) -> Void) throws(StorageError) {
        PQclear(try checked(PQexec(handle, sql)))
        do throws(StorageError) {
            try body()
        } catch {
            PQputCopyEnd(handle, "stopped")
            while let result = PQgetResult(handle) { PQclear(result) }
            throw error
        }
        PQputCopyEnd(handle, nil)
        var failure: StorageError?
        while let result = PQgetResult(handle) {
            if PQresultStatus(result) != PGRES_COMMAND_OK { failure = failure ?? PostgreSQLError(result).error(tables) }
            PQclear(result)
        }
        if let failure { throw failure }
    }

    /// Sends bytes of a copy and empties the buffer.
    func send(_ buffer: WireBuffer) throws(StorageError) {
        let bytes = buffer.bytes
        let sent = PQputCopyData(handle, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count))
        buffer.clear()
        if sent != 1 { throw StorageError(.connectionLost, "the connection to the server was lost") }
    }
}
#endif
