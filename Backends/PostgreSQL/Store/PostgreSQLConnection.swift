#if PostgreSQL
internal import CLibPQ
internal import Foundation
internal import PolystoreSQL
internal import PolystoreStorage

/// One connection to the server, with its prepared statements. It is used by one thread at a time.
final class PostgreSQLConnection: SQLConnection {
    /// So long a server may be silent while a connection is made or given back, where nothing takes long.
    private static let shortSilence = Duration.seconds(10)

    let handle: OpaquePointer
    /// The rows of a copy that goes on until the connection is used for something else.
    var copying: PostgreSQLCopyEncoder?
    /// The tables that errors are explained with.
    var tables: SQLTables?
    /// After so much time without a word from the server the connection counts as lost; nil for never.
    var longestSilence: Duration?
    /// What ends the session that uses the connection before its time.
    private(set) var interrupt: PostgreSQLInterrupt?
    /// The process that serves the connection, and the cluster that it is of; the latter only where the role may know it.
    private(set) var backend = ""
    private(set) var cluster: String?
    private var wasInterrupted = false
    private var statements = PostgreSQLStatements()
    /// How often a request waited for its answer; tests count it.
    var roundTrips = 0

    /// Connects to a server; the text goes to libpq as it is.
    ///
    /// - Parameters:
    ///   - durability: Whether commits wait for the server's disk.
    ///   - marking: A statement by which the session says whose it is (`PostgreSQLTelling.marking`).
    init(conninfo: String, schema: String, durability: Durability = .full, marking: String? = nil) throws(StorageError) {
        handle = try PostgreSQLAddress(conninfo).connect()
        // libpq prints warnings to the program's standard error unless it is told otherwise.
        PQsetNoticeReceiver(handle, { _, _ in }, nil)
        PQsetnonblocking(handle, 1)
        longestSilence = Self.shortSilence
        let path = SQLText.quoted(schema), marking = marking.map { "; \($0)" } ?? ""
        let settings =
            "SET search_path = \(path); SET TimeZone = 'UTC'; SET client_min_messages = warning; SET bytea_output = hex\(marking); "
            // The texts of values do not depend on settings of the role or the database.
            + "SET DateStyle = 'ISO, MDY'; SET IntervalStyle = postgres; SET extra_float_digits = 1; SET lc_monetary = 'C'; "
            + "\(Self.noticingLoss); "
            + "SELECT pg_backend_pid(), set_config('synchronous_commit', \(Self.waiting(durability)), false)"
        let identity: [String?]
        do throws(StorageError) {
            identity = try texts("\(settings), system_identifier FROM pg_control_system()")
        } catch  where error.code == .permissionDenied {
            identity = try texts(settings)
        }
        backend = (identity.first ?? nil) ?? ""
        cluster = identity.count > 2 ? identity[2] : nil
        longestSilence = nil
    }

    deinit { PQfinish(handle) }

    /// Lets a server that can, which depends on its system, end a statement whose program is gone: otherwise it notices at the end of it.
    private static let noticingLoss =
        "SELECT set_config('client_connection_check_interval', '10s', false) WHERE version() ~* 'linux|darwin|bsd' "
        + "AND current_setting('client_connection_check_interval') = '0'"

    /// What commits wait for. A role or a database whose commits wait for nothing does not weaken ours; what else it has is kept.
    private static func waiting(_ durability: Durability) -> String {
        let setting = "current_setting('synchronous_commit')"
        return durability == .relaxed ? "'off'" : "CASE \(setting) WHEN 'off' THEN 'on' ELSE \(setting) END"
    }

    /// The major and minor version, such as 150018.
    var serverVersion: Int { Int(PQserverVersion(handle)) }

    /// The encoding of the database, such as UTF8.
    var serverEncoding: String { parameter("server_encoding") }

    /// Whether the server only follows another one.
    var isStandby: Bool { parameter("in_hot_standby") == "on" }

    private func parameter(_ name: String) -> String { PQparameterStatus(handle, name).map { String(cString: $0) } ?? "" }

    /// Whether the connection can be used for another session.
    var isUsable: Bool { PQstatus(handle) == CONNECTION_OK && PQtransactionStatus(handle) == PQTRANS_IDLE && !wasInterrupted }

    /// Whether the server is gone.
    var isLost: Bool { PQstatus(handle) != CONNECTION_OK }

    // MARK: Sessions

    /// Begins a session, which a limit may end in the middle of a statement.
    ///
    /// - Parameter queue: Where requests to cancel are sent from.
    func begin(_ limit: WorkLimit?, _ queue: DispatchQueue) { interrupt = limit.map { PostgreSQLInterrupt($0, handle, queue) } }

    /// Lets nothing end what follows. A session with a time limit waits a while longer than that for the server to answer.
    ///
    /// - Throws: What has ended the session before.
    func beginCommit() throws(StorageError) {
        guard let interrupt else { return }
        uninterrupt()
        if let error = interrupt.error() { throw error }
        if interrupt.limit.deadline != nil { longestSilence = .seconds(interrupt.limit.secondsLeft + 30) }
    }

    private func uninterrupt() {
        interrupt?.stop()
        if interrupt?.ended != nil { wasInterrupted = true }
        interrupt = nil
    }

    /// Ends a session; whether the connection is as it was before.
    func end(_ ending: (PostgreSQLConnection) throws(StorageError) -> Bool) -> Bool {
        uninterrupt()
        longestSilence = Self.shortSilence
        defer { longestSilence = nil }
        guard !wasInterrupted, !isLost, (try? ending(self)) == true else { return false }
        return isUsable
    }

    // MARK: Statements

    /// Runs statements without bindings.
    func execute(_ sql: String) throws(StorageError) { _ = try texts(sql) }

    /// Runs statements without bindings; the first text of the last one's first row, nil when there is none.
    func text(_ sql: String) throws(StorageError) -> String? { try texts(sql).first ?? nil }

    /// Runs statements without bindings; the texts of the last one's first row.
    func texts(_ sql: String) throws(StorageError) -> [String?] {
        try prepareToSend()
        let result = try answer(PQsendQuery(handle, sql))
        defer { PQclear(result) }
        if PQntuples(result) == 0 { return [] }
        return (0..<PQnfields(result)).map { column in
            PQgetisnull(result, 0, column) == 1 ? nil : PQgetvalue(result, 0, column).map { String(cString: $0) }
        }
    }

    func rows(_ text: SQLText, _ types: [ValueType]) throws(StorageError) -> [[Value]] { try query(text).rows(types) }

    /// Runs a statement with bindings; the result is binary.
    func query(_ text: SQLText) throws(StorageError) -> PostgreSQLResult {
        let (sql, bindings) = text.rendered(.postgreSQL)
        return try query(sql, bindings.map(PostgreSQLParameter.init))
    }

    /// Runs a statement with parameters; the result is binary.
    func query(_ sql: String, _ parameters: [PostgreSQLParameter]) throws(StorageError) -> PostgreSQLResult {
        let step = PostgreSQLStep(sql, parameters)
        try step.check()
        try prepareToSend()
        try makeRoom(for: [ExactText(sql)])
        let (name, isNew) = statements.name(sql)
        if isNew {
            do throws(StorageError) {
                PQclear(try answer(PQsendPrepare(handle, name, sql, 0, nil)))
            } catch {
                statements.forget(sql)
                throw error
            }
        }
        return PostgreSQLResult(try answer(step.send(handle, name)))
    }

    /// Ends the copy that goes on, and refuses what a session that has ended still asks for.
    func prepareToSend() throws(StorageError) {
        if let error = interrupt?.error() { throw error }
        try endCopy()
    }

    /// The last result of what was sent, or the error that it is.
    private func answer(_ sent: Int32) throws(StorageError) -> OpaquePointer? {
        roundTrips += 1
        guard sent == 1 else { throw explained(lost) }
        var last: OpaquePointer?
        while let result = next() {
            PQclear(last)
            last = result
            if [PGRES_COPY_IN, PGRES_COPY_OUT, PGRES_COPY_BOTH].contains(PQresultStatus(result)) {
                giveUp()
                PQclear(result)
                throw StorageError(.unsupported, "a COPY between the program and the server is no statement that can be run here")
            }
        }
        return try checked(last)
    }

    /// Makes room for statements that are about to be sent; those stay.
    private func makeRoom(for wanted: Set<ExactText>) throws(StorageError) {
        let old = statements.superfluous(for: wanted)
        if old.isEmpty { return }
        try execute(old.map { "DEALLOCATE \($0.name)" }.joined(separator: "; "))
        for statement in old { statements.forget(statement.sql) }
    }

    /// Forgets all prepared statements: the server refuses those whose columns have another type now.
    func forgetStatements() throws(StorageError) {
        try execute("DEALLOCATE ALL")
        statements.forgetAll()
    }

    // MARK: Pipelines

    /// Runs statements one after the other in one round trip: none waits for the answer to the one before it.
    ///
    /// - Throws: The error of the first that failed; those behind it were not run.
    func pipeline(_ steps: [PostgreSQLStep]) throws(StorageError) -> [PostgreSQLResult] {
        let (results, failure) = try answers(steps)
        if let failure { throw failure }
        return results
    }

    /// The results of statements that are run in one round trip, and the error of the first that failed.
    ///
    /// - Throws: Before anything is sent.
    func answers(_ steps: [PostgreSQLStep]) throws(StorageError) -> (results: [PostgreSQLResult], failure: StorageError?) {
        for step in steps { try step.check() }
        try prepareToSend()
        if steps.isEmpty { return ([], nil) }
        try makeRoom(for: Set(steps.map { ExactText($0.sql) }))
        roundTrips += 1
        guard PQenterPipelineMode(handle) == 1 else { throw explained(lost) }
        // Statements are prepared on the way; those that are known cost nothing.
        var isNew: [Bool] = []
        for step in steps {
            let statement = statements.name(step.sql)
            isNew.append(statement.isNew)
            if statement.isNew { PQsendPrepare(handle, statement.name, step.sql, 0, nil) }
            _ = step.send(handle, statement.name)
        }
        PQpipelineSync(handle)
        var results: [PostgreSQLResult] = [], failure: StorageError?
        for (index, step) in steps.enumerated() {
            if isNew[index] {
                let answer = nextOfPipeline()
                if failed(answer, &failure) { statements.forget(step.sql) } else { PQclear(answer) }
            }
            let result = nextOfPipeline()
            if failed(result, &failure) { continue }
            results.append(PostgreSQLResult(result))
        }
        // The answer to the synchronisation ends the pipeline.
        PQclear(next())
        if PQexitPipelineMode(handle) == 0 { giveUp() }
        return (results, failure)
    }

    /// The next result of a pipeline, and past the mark behind it.
    private func nextOfPipeline() -> OpaquePointer? {
        guard let result = next() else { return nil }
        if PQresultStatus(result) != PGRES_PIPELINE_SYNC, let extra = next() { PQclear(extra) }
        return result
    }

    /// Whether a result is an error, which is kept if it is the first.
    private func failed(_ result: OpaquePointer?, _ failure: inout StorageError?) -> Bool {
        if let result, [PGRES_COMMAND_OK, PGRES_TUPLES_OK].contains(PQresultStatus(result)) { return false }
        failure = failure ?? explained(result == nil ? lost : PostgreSQLError(result).error(tables))
        PQclear(result)
        return true
    }

    /// Commits the transaction that runs.
    ///
    /// - Parameter doubt: What is said where the connection is lost before the answer comes: `commitOutcomeUnknown`.
    func commit(orSaying doubt: String) throws(StorageError) {
        let (results, failure) = try answers([PostgreSQLStep("COMMIT")])
        if let answer = results.first { return try answer.checkCommit() }
        let error = failure ?? lost
        guard error.code == .connectionLost || isLost else { throw error }
        throw StorageError(.commitOutcomeUnknown, doubt, cause: error)
    }

    // MARK: Errors

    var lost: StorageError { StorageError(.connectionLost, "the connection to the server was lost") }

    /// The result, or the error that it is.
    func checked(_ result: OpaquePointer?) throws(StorageError) -> OpaquePointer? {
        switch PQresultStatus(result) {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_COPY_IN, PGRES_EMPTY_QUERY: return result
        default:
            let error = PostgreSQLError(result).error(tables)
            PQclear(result)
            throw explained(error)
        }
    }

    /// An error of the server, or what ended the session where that is what it comes from.
    func explained(_ error: StorageError) -> StorageError { interrupt?.error(error) ?? error }
}
#endif
