internal import Foundation
internal import PolystoreStorage
internal import Synchronization

/// The streams of the command: results go to the standard output, everything else to the standard error stream.
enum Console {
    /// Writes a line. Ends the program if the output cannot be written.
    static func print(_ text: String) {
        do throws(StorageError) { try write(Data((text + "\n").utf8)) } catch { Failure.end(error) }
    }

    /// Writes a line about work that is done. An output that cannot be written does not make the work a failure.
    static func report(_ text: String) {
        do throws(StorageError) { try write(Data((text + "\n").utf8)) } catch {
            self.error("polystore: \(text); \(error.message)")
        }
    }

    /// Writes bytes to the output, in place of a line that shows progress.
    static func write(_ data: Data) throws(StorageError) {
        clearStatus()
        do { try FileHandle.standardOutput.write(contentsOf: data) } catch {
            throw StorageError(.inputOutput, unwritable, cause: error)
        }
    }

    /// The message of an output that cannot be written.
    static let unwritable = "the output cannot be written; check whether the disk is full or the reading program has ended"

    /// Returns a number of objects as text.
    static func counted(_ count: Int) -> String { "\(count) object\(count == 1 ? "" : "s")" }

    /// Writes a line to the error stream, in place of a line that shows progress. A failure to do so cannot be reported anywhere.
    static func error(_ text: String) {
        clearStatus()
        try? FileHandle.standardError.write(contentsOf: Data((text + "\n").utf8))
    }

    /// Whether the current line of the terminal shows progress.
    private static let hasStatus = Mutex(false)

    /// Replaces the current line of a terminal.
    static func status(_ text: String) {
        hasStatus.withLock { $0 = !text.isEmpty }
        try? FileHandle.standardError.write(contentsOf: Data(("\r\u{1b}[K" + text).utf8))
    }

    /// Removes the line that shows progress, if there is one.
    static func clearStatus() { if hasStatus.withLock({ $0 }) { status("") } }

    /// Whether the error stream is a terminal that can replace a line.
    static var errorIsTerminal: Bool {
        isatty(FileHandle.standardError.fileDescriptor) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"
    }
}
