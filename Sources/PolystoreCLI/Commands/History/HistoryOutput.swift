internal import Foundation
internal import PolystoreStorage

/// The output as a stream that somebody may stop reading.
enum HistoryOutput {
    /// Writes a line at once; false when nobody reads it.
    ///
    /// - Throws: `inputOutput` where it cannot be written though somebody reads.
    static func write(_ line: String) throws(StorageError) -> Bool {
        do throws(StorageError) {
            try Console.write(Data((line + "\n").utf8))
            return true
        } catch {
            if isRead { throw error }
            return false
        }
    }

    /// Whether somebody may still read the output.
    static var isRead: Bool {
        var output = pollfd(fd: FileHandle.standardOutput.fileDescriptor, events: 0, revents: 0)
        return poll(&output, 1, 0) <= 0 || output.revents & Int16(POLLERR | POLLNVAL) == 0
    }
}
