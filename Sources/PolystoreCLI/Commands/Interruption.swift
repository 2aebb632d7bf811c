internal import Foundation
internal import PolystoreStorage

/// The end of a command's work by SIGINT or SIGTERM: the first ends it in order, the second at once.
enum Interruption {
    /// Ends with the first signal; sessions that get it end in the middle of a statement.
    static let limit = WorkLimit()

    nonisolated(unsafe) private static var received: sig_atomic_t = 0
    nonisolated(unsafe) private static var output: Int32 = -1

    /// Watches for the signals; a program that does not ends with the first.
    static func watch() {
        if output >= 0 { return }
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return }
        output = ends[1]
        let input = ends[0], limit = limit
        // What a signal handler may do is little: another thread ends the work.
        Thread.detachNewThread {
            var byte: UInt8 = 0
            while read(input, &byte, 1) < 0, errno == EINTR {}
            limit.cancel()
        }
        for number in [SIGINT, SIGTERM] { signal(number) { Interruption.take($0) } }
        // Whoever started the program from a thread that takes no signals has passed that on.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGINT)
        sigaddset(&signals, SIGTERM)
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    }

    /// Called by the handler.
    private static func take(_ number: Int32) {
        if received != 0 {
            signal(number, SIG_DFL)
            raise(number)
            return
        }
        let before = errno
        received = sig_atomic_t(number)
        var byte: UInt8 = 0
        _ = Foundation.write(output, &byte, 1)
        errno = before
    }

    static var isAsked: Bool { received != 0 }

    /// The exit code of a command that a signal has ended.
    static var exitCode: Int32 { received == SIGTERM ? 143 : 130 }
}
