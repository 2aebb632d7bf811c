#if PostgreSQL
internal import CLibPQ
internal import PolystoreFoundation
internal import PolystoreStorage

// libpq's own waits have no time limit, so the connection is non-blocking, and all waits are in this file.
extension PostgreSQLConnection {
    /// The interval at which a waiting session checks whether its limit has ended and whether TLS has buffered data.
    private static let tick = Duration.milliseconds(250)

    /// Returns the next result of the requests that were sent, or nil after the last one.
    ///
    /// A connection that was given up returns an error, like a broken one.
    func next() -> OpaquePointer? {
        flush()
        while PQisBusy(handle) == 1 {
            wait()
            if PQconsumeInput(handle) == 0 { break }
        }
        return PQgetResult(handle)
    }

    /// Sends the buffered requests, and meanwhile reads the server's answers: the server may not read before its own buffer is empty.
    func flush() {
        while PQflush(handle) == 1 {
            wait(writing: true)
            if PQconsumeInput(handle) == 0 { return }
        }
    }

    /// Waits for the server, or until the connection has to be given up.
    private func wait(writing: Bool = false) {
        let start = ContinuousClock.now
        while true {
            var socket = pollfd(fd: PQsocket(handle), events: Int16(writing ? POLLIN | POLLOUT : POLLIN), revents: 0)
            let end = end(of: start)
            if socket.fd < 0 || poll(&socket, 1, Self.milliseconds(until: end, isTicking: isEncrypted || interrupt != nil)) > 0 { return }
            // Data that TLS has already read does not make the socket readable.
            if isEncrypted, PQconsumeInput(handle) == 0 || PQisBusy(handle) == 0 { return }
            if let end, end <= .now { return giveUp() }
        }
    }

    private var isEncrypted: Bool { PQsslInUse(handle) == 1 }

    /// Returns the time at which a wait that began at `start` has to end, or nil for never.
    private func end(of start: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        [longestSilence.map { start + $0 }, interrupt?.ended.map { $0 + grace }].compactMap { $0 }.min()
    }

    private static func milliseconds(until end: ContinuousClock.Instant?, isTicking: Bool) -> Int32 {
        var time = end.map { max(ContinuousClock.now.duration(to: $0), .zero) }
        if isTicking { time = min(time ?? tick, tick) }
        return time.map { Int32(min($0 / .milliseconds(1), 1_000_000)) + 1 } ?? -1
    }

    /// Closes the socket for libpq and the server. A thread that reads from it then finds the connection broken.
    func giveUp() { shutdown(PQsocket(handle), Int32(SHUT_RDWR)) }
}
#endif
