internal import Foundation
internal import PolystoreStorage
internal import Synchronization

/// Handles SIGINT and SIGTERM. The first signal ends the command's work in an orderly way, the second one ends the process immediately.
enum Interruption {
    private static let current = Mutex(WorkLimit())

    /// A limit that ends with the first signal. Sessions with this limit end in the middle of a statement.
    static var limit: WorkLimit { current.withLock { $0 } }

    /// Work that a signal ends by the removal of its folder.
    private enum Unfinished {
        case none
        case folder(String)
        /// A signal is ending the process.
        case ending
    }

    private static let unfinished = Mutex(Unfinished.none)

    nonisolated(unsafe) private static var received: sig_atomic_t = 0
    nonisolated(unsafe) private static var output: Int32 = -1

    /// Installs the signal handlers. Without them the first signal ends the process.
    static func watch() {
        if output >= 0 { return }
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return }
        output = ends[1]
        let input = ends[0]
        // A signal handler may do very little, so another thread ends the work.
        Thread.detachNewThread {
            var byte: UInt8 = 0
            while true {
                let count = read(input, &byte, 1)
                if count == 1 { end() } else if count == 0 || errno != EINTR { return }
            }
        }
        for number in [SIGINT, SIGTERM] { signal(number) { Interruption.take($0) } }
        // A program started from a thread that blocks these signals inherits the blocked signals.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGINT)
        sigaddset(&signals, SIGTERM)
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    }

    /// Lets the first signal end the process, for work that has no limit.
    ///
    /// - Parameter folder: The folder that is removed then; nil when the work is done.
    static func end(removing folder: String?) {
        waitForEnd { $0 = folder.map(Unfinished.folder) ?? .none }
        watch()
    }

    /// Waits for the end of the process if a signal is ending it, because the work may have failed by the removal of its folder.
    static func waitForEnd() { waitForEnd { _ in } }

    private static func waitForEnd(otherwise change: (inout Unfinished) -> Void) {
        let isEnding = unfinished.withLock { unfinished in
            if case .ending = unfinished { return true }
            change(&unfinished)
            return false
        }
        while isEnding { sleep(1) }
    }

    private static func end() {
        limit.cancel()
        let begun = unfinished.withLock { unfinished -> String? in
            guard case .folder(let folder) = unfinished else { return nil }
            unfinished = .ending
            return folder
        }
        guard let folder = begun else { return }
        // Under another name, because the command may still create files under the first one while they are removed.
        let removed = folder + ".removed"
        if rename(folder, removed) == 0 { try? FileManager.default.removeItem(atPath: removed) }
        Console.error("polystore: interrupted")
        _exit(exitCode)
    }

    /// Makes the next signal the first one again, for work that follows an interrupted statement.
    static func renew() {
        if received == 0 { return }
        received = 0
        current.withLock { $0 = WorkLimit() }
    }

    /// Handles a signal. Called by the signal handler.
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

    /// The exit code of a command that a signal ended.
    static var exitCode: Int32 { received == SIGTERM ? 143 : 130 }
}
