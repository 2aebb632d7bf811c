#if PostgreSQL
internal import CLibPQ
internal import Foundation
internal import PolystoreStorage

// libpq's own waiting has no end, so the connection does not block: what waits is here.
extension PostgreSQLConnection {
    /// So long the server may take to end a statement that it was asked to cancel.
    private static let grace = Duration.seconds(3)
    /// How often a waiting session looks whether its limit has ended long ago, and TLS has something for it.
    private static let tick = Duration.milliseconds(250)

    /// The next result of what was sent; nil behind the last one.
    ///
    /// A connection that is given up answers with an error, as one that breaks.
    func next() -> OpaquePointer? {
        flush()
        while PQisBusy(handle) == 1 {
            wait()
            if PQconsumeInput(handle) == 0 { break }
        }
        return PQgetResult(handle)
    }

    /// Sends what is buffered, and reads meanwhile what the server says: it may not read before its own buffer is empty.
    func flush() {
        while PQflush(handle) == 1 {
            wait(writing: true)
            if PQconsumeInput(handle) == 0 { return }
        }
    }

    /// Waits for the server, until the connection has to be given up.
    private func wait(writing: Bool = false) {
        let start = ContinuousClock.now
        while true {
            var socket = pollfd(fd: PQsocket(handle), events: Int16(writing ? POLLIN | POLLOUT : POLLIN), revents: 0)
            let end = end(of: start)
            if socket.fd < 0 || poll(&socket, 1, Self.milliseconds(until: end, isTicking: isEncrypted || interrupt != nil)) > 0 { return }
            // What TLS has read already does not make the socket readable.
            if isEncrypted, PQconsumeInput(handle) == 0 || PQisBusy(handle) == 0 { return }
            if let end, end <= .now { return giveUp() }
        }
    }

    private var isEncrypted: Bool { PQsslInUse(handle) == 1 }

    /// When a wait that began at a moment has to end; nil for never.
    private func end(of start: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        [longestSilence.map { start + $0 }, interrupt?.ended.map { $0 + Self.grace }].compactMap { $0 }.min()
    }

    private static func milliseconds(until end: ContinuousClock.Instant?, isTicking: Bool) -> Int32 {
        var time = end.map { max(ContinuousClock.now.duration(to: $0), .zero) }
        if isTicking { time = min(time ?? tick, tick) }
        return time.map { Int32(min($0 / .milliseconds(1), 1_000_000)) + 1 } ?? -1
    }

    /// Closes the socket for libpq and the server: whoever reads from it then finds the connection broken.
    func giveUp() { shutdown(PQsocket(handle), Int32(SHUT_RDWR)) }
}
#endif
