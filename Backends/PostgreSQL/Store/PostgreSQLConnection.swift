#if PostgreSQL
internal import CLibPQ
internal import PolystoreFoundation
internal import PolystoreSQL
internal import PolystoreStorage

/// A connection to the server, with its prepared statements. It is used by one thread at a time.
final class PostgreSQLConnection: SQLConnection {
    /// The time without an answer after which the connection counts as lost while it is opened or returned to its pool, where no request
    /// takes long.
    static let shortSilence = Duration.seconds(10)

    let handle: OpaquePointer
    /// The encoder of a copy that continues until the connection is used for another purpose.
    var copying: PostgreSQLCopyEncoder?
    /// Whether the pools of a store have prepared the connection for sessions.
    var isPrepared = false
    /// The tables that error messages refer to.
    var tables: SQLTables?
    /// The time without an answer of the server after which the connection counts as lost; nil for never.
    var longestSilence: Duration?
    /// The time that the server may take to end a statement after a request to cancel it, before the connection is given up.
    private(set) var grace = Duration.seconds(3)
    /// The interrupt that can end the current session early.
    private(set) var interrupt: PostgreSQLInterrupt?
    /// The server process of the connection, and its cluster, which is known only where the role may read it.
    private(set) var backend = ""
    private(set) var cluster: String?
    private var wasInterrupted = false
    private var statements = PostgreSQLStatements()
    /// The answer that is received in parts and whose end was not received yet.
    var answer: PostgreSQLAnswer?
    /// The error of an answer that is received in parts, or of a copy. It has ended the transaction, so every later request of the session
    /// reports it.
    var answerFailure: StorageError?
    /// Whether the most recent answer was received row by row. libpq would apply that to the first statement of a pipeline too.
    var isByRow = false
    /// The server-side cursors that are not needed any more, and the number of rollbacks to savepoints, which remove cursors.
    var released: [String] = []
    var rollbacks = 0
    /// The size of the longest row that was received. libpq never releases the buffer that had to hold it.
    private var longestRow = 0
    private static let mostBufferedBytes = 32 << 20
    /// The number of times that a request waited for its answer, for tests.
    var roundTrips = 0

    /// Connects to a server. The text is passed to libpq unchanged.
    ///
    /// - Parameters:
    ///   - durability: Whether commits wait for the server's disk.
    ///   - marking: A statement by which the session identifies its program (`PostgreSQLTelling.marking`).
    init(conninfo: String, schema: String, durability: Durability = .full, marking: String? = nil) throws(StorageError) {
        handle = try PostgreSQLAddress(conninfo).connect()
        // By default libpq prints warnings to the program's standard error.
        PQsetNoticeReceiver(handle, { _, _ in }, nil)
        PQsetnonblocking(handle, 1)
        longestSilence = Self.shortSilence
        let path = SQLText.quoted(schema), marking = marking.map { "; \($0)" } ?? ""
        let settings =
            "SET search_path = \(path); SET TimeZone = 'UTC'; SET client_min_messages = warning; SET bytea_output = hex\(marking); "
            // The text form of values and the meaning of texts in statements must not depend on settings of the role or the database.
            + "SET DateStyle = 'ISO, MDY'; SET IntervalStyle = postgres; SET extra_float_digits = 1; SET lc_monetary = 'C'; "
            + "SET standard_conforming_strings = on; "
            // What precedes a transaction of a writer is read after the wait for its lock. Transactions name their own level.
            + "SET default_transaction_isolation = 'read committed'; \(Self.noticingLoss); "
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

    /// Enables the server, on systems that support it, to end a statement whose client is gone. Otherwise it notices this only at the end
    /// of the statement.
    private static let noticingLoss =
        "SELECT set_config('client_connection_check_interval', '10s', false) WHERE version() ~* 'linux|darwin|bsd' "
        + "AND current_setting('client_connection_check_interval') = '0'"

    /// Returns the setting that determines what commits wait for. It overrides a role or a database whose commits wait for nothing, and
    /// keeps any other setting.
    private static func waiting(_ durability: Durability) -> String {
        let setting = "current_setting('synchronous_commit')"
        return durability == .relaxed ? "'off'" : "CASE \(setting) WHEN 'off' THEN 'on' ELSE \(setting) END"
    }

    /// The major and minor version, such as 150018.
    var serverVersion: Int { Int(PQserverVersion(handle)) }

    /// The encoding of the database, such as UTF8.
    var serverEncoding: String { parameter("server_encoding") }

    /// Whether the server is a standby of another one.
    var isStandby: Bool { parameter("in_hot_standby") == "on" }

    private func parameter(_ name: String) -> String { PQparameterStatus(handle, name).map { String(cString: $0) } ?? "" }

    /// Whether the connection can be used for another session.
    var isUsable: Bool { PQstatus(handle) == CONNECTION_OK && PQtransactionStatus(handle) == PQTRANS_IDLE && !wasInterrupted }

    /// Whether the server is gone.
    var isLost: Bool { PQstatus(handle) != CONNECTION_OK }

    // MARK: Sessions

    /// Begins a session, which a limit may interrupt in the middle of a statement.
    ///
    /// - Parameters:
    ///   - queue: The queue that sends requests to cancel.
    ///   - patience: The times that the session waits for the server.
    func begin(_ limit: WorkLimit?, _ queue: DispatchQueue, _ patience: PostgreSQLPool.Patience = PostgreSQLPool.Patience()) {
        grace = patience.grace
        longestSilence = patience.silence
        interrupt = limit.map { PostgreSQLInterrupt($0, handle, queue) }
    }

    /// Disables the interrupt for the following COMMIT. A session with a time limit waits 30 seconds longer than its limit for the server's
    /// answer.
    ///
    /// - Throws: The error that ended the session before.
    func beginCommit() throws(StorageError) {
        released.removeAll()
        guard let interrupt else { return }
        uninterrupt()
        if let error = interrupt.error() { throw error }
        if interrupt.limit.deadline != nil { longestSilence = .seconds(interrupt.limit.secondsLeft + 30) }
    }

    /// Records the size of a row. A connection that has received a very long one is not used for another session.
    func noteSize(of result: PostgreSQLResult) { if result.count == 1 { longestRow = max(longestRow, result.bytes) } }

    private func uninterrupt() {
        interrupt?.stop()
        if interrupt?.ended != nil { wasInterrupted = true }
        interrupt = nil
    }

    /// Ends a session. Returns whether the connection is as it was before.
    func end(_ ending: (PostgreSQLConnection) throws(StorageError) -> Bool) -> Bool {
        uninterrupt()
        longestSilence = Self.shortSilence
        defer { longestSilence = nil }
        guard !wasInterrupted, !isLost else { return false }
        discardAnswer()
        guard (try? ending(self)) == true else { return false }
        return isUsable && longestRow <= Self.mostBufferedBytes
    }

    // MARK: Statements

    /// Runs statements without bindings.
    func execute(_ sql: String) throws(StorageError) { _ = try texts(sql) }

    /// Runs statements without bindings. Returns the first text of the last statement's first row, or nil when there is none.
    func text(_ sql: String) throws(StorageError) -> String? { try texts(sql).first ?? nil }

    /// Runs statements without bindings. Returns the texts of the last statement's first row.
    func texts(_ sql: String) throws(StorageError) -> [String?] {
        try prepareToSend()
        let result = try lastResult(PQsendQuery(handle, sql))
        defer { PQclear(result) }
        if PQntuples(result) == 0 { return [] }
        return (0..<PQnfields(result)).map { column in
            PQgetisnull(result, 0, column) == 1 ? nil : PQgetvalue(result, 0, column).map { String(cString: $0) }
        }
    }

    func rows(_ text: SQLText, _ types: [ValueType]) throws(StorageError) -> [[Value]] { try query(text).rows(types) }

    /// Runs a statement with bindings. The result is binary.
    func query(_ text: SQLText) throws(StorageError) -> PostgreSQLResult {
        let (sql, bindings) = text.rendered(.postgreSQL)
        return try query(sql, bindings.map(PostgreSQLParameter.init))
    }

    /// Runs a statement with parameters. The result is binary.
    func query(_ sql: String, _ parameters: [PostgreSQLParameter]) throws(StorageError) -> PostgreSQLResult {
        let result = PostgreSQLResult(try lastResult(try send(PostgreSQLStep(sql, parameters))))
        noteSize(of: result)
        return result
    }

    /// Sends a statement, which is prepared first where it is new.
    func send(_ step: PostgreSQLStep) throws(StorageError) -> Int32 {
        let sql = step.sql
        try step.check()
        try prepareToSend()
        if let name = statements.knownName(sql) { return step.send(handle, name) }
        try makeRoom(for: [ExactText(sql)])
        let name = statements.name(sql).name
        do throws(StorageError) {
            PQclear(try lastResult(PQsendPrepare(handle, name, sql, 0, nil)))
        } catch {
            statements.forget(sql)
            throw error
        }
        return step.send(handle, name)
    }

    /// Receives the answer that is on its way, and ends the current copy.
    ///
    /// - Throws: The error that has ended the session or its transaction.
    func prepareToSend() throws(StorageError) {
        keepAnswer()
        if let error = interrupt?.error() { throw error }
        if let answerFailure { throw answerFailure }
        try endCopy()
        try closeReleased()
    }

    /// Returns the last result of the requests that were sent, or throws its error.
    private func lastResult(_ sent: Int32) throws(StorageError) -> OpaquePointer? {
        roundTrips += 1
        guard sent == 1 else { throw explained(lost) }
        var last: OpaquePointer?
        while let result = next() {
            PQclear(last)
            last = result
            if [PGRES_COPY_IN, PGRES_COPY_OUT, PGRES_COPY_BOTH].contains(PQresultStatus(result)) {
                giveUp()
                PQclear(result)
                throw StorageError(.unsupported, "a COPY between the program and the server is not supported")
            }
        }
        return try checked(last)
    }

    /// Makes room for statements that are about to be sent, without removing any of these.
    private func makeRoom(for wanted: Set<ExactText>) throws(StorageError) {
        let old = statements.superfluous(for: wanted)
        if old.isEmpty { return }
        try execute(old.map { "DEALLOCATE \($0.name)" }.joined(separator: "; "))
        for statement in old { statements.forget(statement.sql) }
    }

    /// Discards all prepared statements, because the server refuses those whose columns have changed their types.
    func forgetStatements() throws(StorageError) {
        try execute("DEALLOCATE ALL")
        statements.forgetAll()
    }

    // MARK: Pipelines

    /// Runs statements one after the other in one round trip, without waiting for each answer.
    ///
    /// - Throws: The error of the first statement that failed. The statements after it were not run.
    func pipeline(_ steps: [PostgreSQLStep]) throws(StorageError) -> [PostgreSQLResult] {
        let (results, failure) = try answers(steps)
        if let failure { throw failure }
        return results
    }

    /// Runs statements in one round trip. Returns their results, and the error of the first one that failed.
    ///
    /// - Throws: An error that occurs before anything is sent.
    func answers(_ steps: [PostgreSQLStep]) throws(StorageError) -> (results: [PostgreSQLResult], failure: StorageError?) {
        for step in steps { try step.check() }
        try prepareToSend()
        if steps.isEmpty { return ([], nil) }
        try makeRoom(for: Set(steps.map { ExactText($0.sql) }))
        roundTrips += 1
        guard PQenterPipelineMode(handle) == 1 else { throw explained(lost) }
        // A statement without rows, after which libpq receives whole answers again (`PQenterPipelineMode` does not end the single-row mode).
        let endsByRow = isByRow
        if endsByRow { PQsendPrepare(handle, "", "", 0, nil) }
        isByRow = false
        // The same round trip prepares new statements; known statements cost nothing.
        var isNew: [Bool] = []
        for step in steps {
            let statement = statements.name(step.sql)
            isNew.append(statement.isNew)
            if statement.isNew { PQsendPrepare(handle, statement.name, step.sql, 0, nil) }
            _ = step.send(handle, statement.name)
        }
        PQpipelineSync(handle)
        var results: [PostgreSQLResult] = [], failure: StorageError?
        if endsByRow {
            let answer = nextOfPipeline()
            if !failed(answer, &failure) { PQclear(answer) }
        }
        for (index, step) in steps.enumerated() {
            if isNew[index] {
                let answer = nextOfPipeline()
                if failed(answer, &failure) { statements.forget(step.sql) } else { PQclear(answer) }
            }
            let result = nextOfPipeline()
            if failed(result, &failure) { continue }
            results.append(PostgreSQLResult(result))
        }
        // The answer to the synchronization ends the pipeline.
        PQclear(next())
        if PQexitPipelineMode(handle) == 0 { giveUp() }
        return (results, failure)
    }

    /// Returns the next result of a pipeline and skips the end mark after it.
    private func nextOfPipeline() -> OpaquePointer? {
        guard let result = next() else { return nil }
        if PQresultStatus(result) != PGRES_PIPELINE_SYNC, let extra = next() { PQclear(extra) }
        return result
    }

    /// Whether a result is an error. The first error is stored in `failure`.
    private func failed(_ result: OpaquePointer?, _ failure: inout StorageError?) -> Bool {
        if let result, [PGRES_COMMAND_OK, PGRES_TUPLES_OK].contains(PQresultStatus(result)) { return false }
        failure = failure ?? explained(result == nil ? lost : PostgreSQLError(result).error(tables))
        PQclear(result)
        return true
    }

    /// Commits the current transaction.
    ///
    /// - Parameter doubt: The message of `commitOutcomeUnknown`, for a connection that is lost before the answer arrives.
    func commit(orSaying doubt: String) throws(StorageError) {
        let (results, failure) = try answers([PostgreSQLStep("COMMIT")])
        if let answer = results.first { return try answer.checkCommit() }
        let error = failure ?? lost
        guard error.code == .connectionLost || isLost else { throw error }
        throw StorageError(.commitOutcomeUnknown, doubt, cause: error)
    }

    // MARK: Errors

    var lost: StorageError { StorageError(.connectionLost, "the connection to the server was lost; try again") }

    /// Returns the result, or throws its error.
    func checked(_ result: OpaquePointer?) throws(StorageError) -> OpaquePointer? {
        switch PQresultStatus(result) {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_SINGLE_TUPLE, PGRES_COPY_IN, PGRES_EMPTY_QUERY: return result
        default:
            let error = PostgreSQLError(result).error(tables)
            PQclear(result)
            throw explained(error)
        }
    }

    /// Returns an error of the server, or the error that ended the session where that is its cause.
    func explained(_ error: StorageError) -> StorageError { interrupt?.error(error) ?? error }
}
#endif
