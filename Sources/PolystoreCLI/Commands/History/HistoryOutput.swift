internal import Foundation

/// The output as a stream that somebody may stop reading.
enum HistoryOutput {
    /// A reader that goes away ends the output, not the program.
    static func ignoreBrokenPipes() { signal(SIGPIPE, SIG_IGN) }

    /// Writes a line at once; false when nobody reads it.
    static func write(_ line: String) -> Bool {
        do {
            try FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))
            return true
        } catch {
            return false
        }
    }

    /// Whether somebody may still read the output.
    static var isRead: Bool {
        var output = pollfd(fd: FileHandle.standardOutput.fileDescriptor, events: 0, revents: 0)
        return poll(&output, 1, 0) <= 0 || output.revents & Int16(POLLERR | POLLNVAL) == 0
    }
}
