internal import Foundation
internal import PolystoreStorage

/// The standard output as a stream whose reader may exit.
enum HistoryOutput {
    /// Writes a line without buffering. Returns false if the output is no longer read.
    ///
    /// - Throws: `inputOutput` if the line cannot be written although the output is still read.
    static func write(_ line: String) throws(StorageError) -> Bool {
        do throws(StorageError) {
            try Console.write(Data((line + "\n").utf8))
            return true
        } catch {
            if isRead { throw error }
            return false
        }
    }

    /// Whether the output may still be read.
    static var isRead: Bool {
        var output = pollfd(fd: FileHandle.standardOutput.fileDescriptor, events: 0, revents: 0)
        return poll(&output, 1, 0) <= 0 || output.revents & Int16(POLLERR | POLLNVAL) == 0
    }
}
