#if PostgreSQL
internal import CLibPQ
internal import PolystoreFoundation
internal import PolystoreStorage
internal import Synchronization

/// A thread that waits for notifications on a connection of its own. It reconnects when the connection is lost.
final class PostgreSQLListener: Sendable {
    private static let longestPause = 5.0
    private static let longestWait = 3600.0
    /// The interval in seconds at which the listener renews its request for notifications, which also detects a lost server.
    private static let renewal = 15.0
    /// The time in seconds within which a test notification has to return.
    private static let echoTime = 5.0
    private static let closed = StorageError(.storeClosed, "the store was closed")

    /// A caller that waits for the first answer of the server.
    private final class Question: Sendable {
        private let answer = Mutex<Result<Void, StorageError>?>(nil)
        private let isAnswered = DispatchSemaphore(value: 0)

        func answer(_ result: Result<Void, StorageError>) {
            answer.withLock { $0 = result }
            isAnswered.signal()
        }

        func wait() throws(StorageError) {
            guard isAnswered.wait(timeout: .now() + 30) == .success, let answer = answer.withLock({ $0 }) else {
                throw StorageError(.timeout, "the server did not confirm in time that it sends change notifications")
            }
            try answer.get()
        }
    }

    private struct State: Sendable {
        var isStopped = false
        var isWatching = false
        /// Whether notifications were requested since the first watch began: from then on all changes are reported, or the loss of some is.
        var hasAsked = false
        var questions: [Question] = []
        var thread: Threads.ID?
    }

    private let state = Mutex(State())
    private let wakeUp = WakeUp()
    private let ended = DispatchGroup()
    private let schema: String
    private let connect: @Sendable () throws -> PostgreSQLConnection
    private let onEvent: @Sendable (PostgreSQLEvent) -> Void
    /// The name of this program among its peers. A lost connection is reported as this program's leaving.
    private let own: String

    init(
        schema: String, own: String, connect: @escaping @Sendable () throws -> PostgreSQLConnection,
        onEvent: @escaping @Sendable (PostgreSQLEvent) -> Void
    ) {
        self.schema = schema
        self.own = own
        self.connect = connect
        self.onEvent = onEvent
        ended.enter()
        if !Threads.start(named: "polystore-notes", { self.run() }) { ended.leave() }
    }

    /// Ends the thread, and waits briefly for its connection to be closed.
    func stop() {
        let thread = state.withLock { state in
            state.isStopped = true
            return state.thread
        }
        wakeUp.call()
        if thread != Threads.ID.current { _ = ended.wait(timeout: .now() + 2) }
    }

    /// Requests change notifications from the server. They are active when the call returns.
    func watch() throws(StorageError) {
        let question = Question()
        try state.withLock { state throws(StorageError) in
            // The thread answers the questions of before, and no other.
            if state.isStopped { throw Self.closed }
            state.isWatching = true
            state.questions.append(question)
        }
        wakeUp.call()
        try question.wait()
    }

    /// Stops requesting change notifications.
    func rest() {
        state.withLock { state in
            state.isWatching = false
            state.hasAsked = false
        }
    }

    private var isRunning: Bool { state.withLock { !$0.isStopped } }
    private var isWatching: Bool { state.withLock { $0.isWatching } }

    private func answer(_ result: Result<Void, StorageError>) {
        let questions = state.withLock { state in
            defer { state.questions = [] }
            return state.questions
        }
        for question in questions { question.answer(result) }
    }

    private func run() {
        state.withLock { $0.thread = Threads.ID.current }
        defer {
            answer(.failure(Self.closed))
            ended.leave()
        }
        var pause = 0.1, wasLost = false, settling: Set<String> = []
        while isRunning {
            do {
                let connection = try connect()
                if connection.isStandby {
                    throw StorageError(
                        .unsupported, "the server is a standby, which sends no notifications; watch the store on the primary server")
                }
                connection.longestSilence = .seconds(Self.renewal)
                try connection.execute("LISTEN \(PostgreSQLEvent.channel(schema))")
                pause = 0.1
                if wasLost { for event in [PostgreSQLEvent.joining(own), .joined(own), .unknown("")] { onEvent(event) } }
                wasLost = !listen(connection, &settling)
                if wasLost, isRunning { for event in [PostgreSQLEvent.leaving(own), .left(own)] { onEvent(event) } }
            } catch {
                answer(
                    .failure(
                        error as? StorageError
                            ?? StorageError(.connectionLost, "the server does not answer; check that it is running", cause: error)))
                wakeUp.wait(orFor: -1, milliseconds: Int32(pause * 1000))
                wakeUp.clear()
                pause = min(pause * 2, Self.longestPause)
            }
        }
    }

    /// Delivers notifications until the listener is stopped. Returns false when the connection is lost.
    ///
    /// - Parameter settling: The transactions whose end is awaited, because their changes are not reported.
    private func listen(_ connection: PostgreSQLConnection, _ settling: inout Set<String>) -> Bool {
        let telling = PostgreSQLTelling(connection, schema)
        var next = ContinuousClock.now, patience = 0.01
        while isRunning {
            do throws(StorageError) {
                if isWatching, next <= ContinuousClock.now || state.withLock({ !$0.questions.isEmpty }) {
                    settling.formUnion(try renew(connection, telling))
                    next = ContinuousClock.now.advanced(by: .seconds(Self.renewal))
                }
                if !settling.isEmpty {
                    settling.formIntersection(try telling.writers())
                    if settling.isEmpty {
                        patience = 0.01
                        onEvent(.unknown(""))
                    }
                }
            } catch {
                if connection.isLost { return false }
                answer(.failure(error))
                next = ContinuousClock.now.advanced(by: .seconds(Self.renewal))
            }
            // Before waiting: notifications that arrived with an answer of the server have already been read from the socket.
            guard let payloads = connection.notifications() else { return false }
            hand(payloads)
            var seconds = isWatching ? Self.seconds(until: next) : Self.longestWait
            if !settling.isEmpty {
                seconds = min(seconds, patience)
                patience = min(patience * 2, 1)
            }
            wakeUp.wait(orFor: connection.socket, milliseconds: Int32(seconds * 1000) + 1)
            wakeUp.clear()
        }
        return true
    }

    private static func seconds(until moment: ContinuousClock.Instant) -> Double {
        min(max(ContinuousClock.now.duration(to: moment) / Duration.seconds(1), 0), longestWait)
    }

    private func hand(_ payloads: [String]) {
        // Several changes are reported as one signal.
        var told: Set<PostgreSQLEvent> = []
        for payload in payloads {
            guard let event = PostgreSQLEvent(payload: payload), !event.isOf(own) else { continue }
            switch event {
            case .history, .unknown: if told.insert(event).inserted { onEvent(event) }
            case .joining, .joined, .leaving, .left, .erasing, .erased: onEvent(event)
            }
        }
    }

    /// Requests change notifications, and answers the callers that wait for it.
    ///
    /// - Returns: The transactions that may have written something while notifications were not requested, and have not ended.
    private func renew(_ connection: PostgreSQLConnection, _ telling: PostgreSQLTelling) throws(StorageError) -> Set<String> {
        if state.withLock({ !$0.questions.isEmpty }) {
            if try !telling.isMade() { try telling.makeWhereMissing() }
            try hear(connection)
        }
        let isFirst = state.withLock { !$0.hasAsked }, wasTold = try telling.watch()
        // Another listener may have requested notifications, but not for long enough.
        let writers: Set<String> = wasTold && !isFirst ? [] : try telling.writers()
        state.withLock { $0.hasAsked = $0.isWatching }
        // The request had expired, for example because this thread was delayed or the clock was changed.
        if !wasTold, !isFirst { onEvent(.unknown("")) }
        answer(.success(()))
        return writers
    }

    /// Verifies that notifications arrive: a connection pooler between the program and the server may drop the LISTEN state.
    private func hear(_ connection: PostgreSQLConnection) throws(StorageError) {
        let probe = "probe \(own)", deadline = ContinuousClock.now.advanced(by: .seconds(Self.echoTime))
        try connection.execute("NOTIFY \(PostgreSQLEvent.channel(schema)), '\(probe)'")
        while let payloads = connection.notifications() {
            hand(payloads)
            if payloads.contains(probe) { return }
            guard ContinuousClock.now < deadline, isRunning else {
                throw StorageError(
                    .unsupported,
                    "the notifications of the server do not arrive, as with a pool that assigns another connection to each transaction: "
                        + "connect to the server directly")
            }
            wakeUp.wait(orFor: connection.socket, milliseconds: 100)
        }
        throw StorageError(.connectionLost, "the server closed the connection")
    }
}

extension PostgreSQLConnection {
    /// The file descriptor that becomes readable when the server has sent something.
    var socket: Int32 { PQsocket(handle) }

    /// Returns the notifications on the connection's channels, or nil when the connection is lost.
    func notifications() -> [String]? {
        if PQsocket(handle) < 0 || PQconsumeInput(handle) == 0 || PQstatus(handle) != CONNECTION_OK { return nil }
        var payloads: [String] = []
        while let notification = PQnotifies(handle) {
            if let text = notification.pointee.extra { payloads.append(String(cString: text)) }
            PQfreemem(notification)
        }
        return payloads
    }
}
#endif
