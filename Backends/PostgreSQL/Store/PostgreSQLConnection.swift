#if PostgreSQL
internal import CLibPQ
internal import Foundation
internal import PolystoreSQL
internal import PolystoreStorage

/// One connection to the server, with its prepared statements. It is used by one thread at a time.
final class PostgreSQLConnection {
    private static let cacheLimit = 200

    let handle: OpaquePointer
    /// The rows of a copy that goes on until the connection is used for something else.
    var copying: PostgreSQLCopyEncoder?
    /// The tables that errors are explained with.
    var tables: SQLTables?
    private var prepared: [String: String] = [:]
    private var order: [String] = []
    private var nextName = 0
    /// How often a request waited for its answer; tests count it.
    var roundTrips = 0

    /// Connects to a server; the text goes to libpq as it is.
    ///
    /// - Parameter marking: A statement by which the session says whose it is (`PostgreSQLTelling.marking`).
    init(conninfo: String, schema: String, marking: String? = nil) throws(StorageError) {
        // Later options win: those of the URL over ours, and ours over the URL where the store depends on it.
        // A network that is gone is noticed within half a minute; the system's own times are hours.
        let alive = ["keepalives_idle", "keepalives_interval", "keepalives_count", "tcp_user_timeout"]
        let keys = ["application_name", "connect_timeout"] + alive + ["dbname", "client_encoding"]
        let values = ["polystore", "10", "15", "5", "3", "30000", conninfo, "UTF8"]
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
        // libpq prints warnings to the program's standard error unless it is told otherwise.
        PQsetNoticeReceiver(opened, { _, _ in }, nil)
        let path = SQLText.quoted(schema)
        let marking = marking.map { "; \($0)" } ?? ""
        try execute("SET search_path = \(path); SET TimeZone = 'UTC'; SET client_min_messages = warning; SET bytea_output = hex\(marking)")
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

    /// The encoding of the database, such as UTF8.
    var serverEncoding: String { PQparameterStatus(handle, "server_encoding").map { String(cString: $0) } ?? "" }

    /// Whether the connection can be used for another session.
    var isUsable: Bool { PQstatus(handle) == CONNECTION_OK && PQtransactionStatus(handle) == PQTRANS_IDLE }

    /// Whether the server is gone.
    var isLost: Bool { PQstatus(handle) != CONNECTION_OK }

    /// Runs statements without bindings.
    func execute(_ sql: String) throws(StorageError) {
        try endCopy()
        roundTrips += 1
        PQclear(try checked(PQexec(handle, sql)))
    }

    /// Runs statements without bindings; the first text of the last one's first row, nil when there is none.
    func text(_ sql: String) throws(StorageError) -> String? {
        try endCopy()
        roundTrips += 1
        let result = try checked(PQexec(handle, sql))
        defer { PQclear(result) }
        return PQntuples(result) > 0 && PQnfields(result) > 0 ? PQgetvalue(result, 0, 0).map { String(cString: $0) } : nil
    }

    /// Runs a statement with bindings; the result is binary.
    func query(_ text: SQLText) throws(StorageError) -> PostgreSQLResult {
        let (sql, bindings) = text.rendered(.postgreSQL)
        return try query(sql, bindings.map(PostgreSQLParameter.init))
    }

    /// Runs a statement with parameters; the result is binary.
    func query(_ sql: String, _ parameters: [PostgreSQLParameter]) throws(StorageError) -> PostgreSQLResult {
        try endCopy()
        let name = try prepare(sql)
        roundTrips += 1
        let result = PostgreSQLParameter.withArguments(parameters) { count, values, lengths, formats in
            PQexecPrepared(handle, name, count, values, lengths, formats, 1)
        }
        return PostgreSQLResult(try checked(result))
    }

    private func prepare(_ sql: String) throws(StorageError) -> String {
        if let name = prepared[sql] { return name }
        let name = try newName(sql)
        roundTrips += 1
        do throws(StorageError) {
            PQclear(try checked(PQprepare(handle, name, sql, 0, nil)))
        } catch {
            forget(sql)
            throw error
        }
        return name
    }

    /// A name for a statement that is about to be prepared; the oldest goes when there are too many.
    private func newName(_ sql: String) throws(StorageError) -> String {
        if order.count >= Self.cacheLimit, let name = prepared.removeValue(forKey: order.removeFirst()) {
            try execute("DEALLOCATE \(name)")
        }
        nextName += 1
        let name = "s\(nextName)"
        prepared[sql] = name
        order.append(sql)
        return name
    }

    /// Forgets all prepared statements: the server refuses those whose columns have another type now.
    func forgetStatements() throws(StorageError) {
        try execute("DEALLOCATE ALL")
        prepared.removeAll()
        order.removeAll()
    }

    private func forget(_ sql: String) {
        prepared[sql] = nil
        order.removeAll { $0 == sql }
    }

    /// Runs statements one after the other in one round trip: none waits for the answer to the one before it.
    ///
    /// - Throws: The error of the first that failed; those behind it were not run.
    func pipeline(_ steps: [PostgreSQLStep]) throws(StorageError) -> [PostgreSQLResult] {
        try endCopy()
        if steps.count < 2 {
            var results: [PostgreSQLResult] = []
            for step in steps { results.append(try query(step.sql, step.parameters)) }
            return results
        }
        // Statements are prepared on the way; those that are known cost nothing.
        var names: [String] = [], fresh: [Bool] = []
        for step in steps {
            let known = prepared[step.sql]
            fresh.append(known == nil)
            if let known { names.append(known) } else { names.append(try newName(step.sql)) }
        }
        roundTrips += 1
        guard PQenterPipelineMode(handle) == 1 else { throw lost }
        for (index, step) in steps.enumerated() {
            if fresh[index] { PQsendPrepare(handle, names[index], step.sql, 0, nil) }
            _ = PostgreSQLParameter.withArguments(step.parameters) { count, values, lengths, formats in
                PQsendQueryPrepared(handle, names[index], count, values, lengths, formats, 1)
            }
        }
        PQpipelineSync(handle)
        var results: [PostgreSQLResult] = [], failure: StorageError?
        for (index, step) in steps.enumerated() {
            if fresh[index] {
                let answer = next()
                if failed(answer, &failure) { forget(step.sql) } else { PQclear(answer) }
            }
            let result = next()
            if failed(result, &failure) { continue }
            results.append(PostgreSQLResult(result))
        }
        // The answer to the synchronisation ends the pipeline.
        PQclear(PQgetResult(handle))
        PQexitPipelineMode(handle)
        if let failure { throw failure }
        return results
    }

    /// The next result of a pipeline, and past the mark behind it.
    private func next() -> OpaquePointer? {
        guard let result = PQgetResult(handle) else { return nil }
        if PQresultStatus(result) != PGRES_PIPELINE_SYNC, let extra = PQgetResult(handle) { PQclear(extra) }
        return result
    }

    /// Whether a result is an error, which is kept if it is the first.
    private func failed(_ result: OpaquePointer?, _ failure: inout StorageError?) -> Bool {
        if let result, [PGRES_COMMAND_OK, PGRES_TUPLES_OK].contains(PQresultStatus(result)) { return false }
        failure = failure ?? (result == nil ? lost : PostgreSQLError(result).error(tables))
        PQclear(result)
        return true
    }

    var lost: StorageError { StorageError(.connectionLost, "the connection to the server was lost") }

    /// The result, or the error that it is.
    func checked(_ result: OpaquePointer?) throws(StorageError) -> OpaquePointer? {
        switch PQresultStatus(result) {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_COPY_IN, PGRES_EMPTY_QUERY: return result
        default:
            let error = PostgreSQLError(result).error(tables)
            PQclear(result)
            throw error
        }
    }
}
#endif
